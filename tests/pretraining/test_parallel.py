"""Pretraining in two processes on this machine, over gloo."""

import os
import socket
from functools import partial

import pytest
import srsly
import torch
from kills import start, wait
from spacy.training.pretrain import pretrain as spacy_pretrain
from thinc.api import Model
from thinc.shims import PyTorchShim

from spacy_lexner.pretraining import parallel
from spacy_lexner.pretraining.parallel import pretrain_together, share_batches
from spacy_lexner.training.batchers import SharedBatcher

LINES = ["南京市长江大桥很长。", "北京大学在北京。", "河流在中国。", "长江是中国的河流。"]


@pytest.fixture
def config(pretraining_config):
    return pretraining_config()


def test_one_process_is_spacy_pretrain(config, tmp_path):
    (tmp_path / "spacy").mkdir()
    spacy_pretrain(config.copy(), tmp_path / "spacy", silent=True)
    pretrain_together(config.copy(), tmp_path / "ours")
    names = sorted(path.name for path in (tmp_path / "spacy").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "ours").iterdir())
    for name in names:
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "spacy" / name).read_bytes()


def test_shares():
    def batcher(items):
        return ([item] for item in items)

    shares = [list(SharedBatcher(batcher, 3, share)(range(8))) for share in range(3)]
    assert shares == [[[0], [3]], [[1], [4]], [[2], [5]]]
    with pytest.raises(ValueError, match="share is 3, n is 3"):
        SharedBatcher(batcher, 3, 3)


def test_only_the_first_process_logs(config):
    config["pretraining"]["objective"]["log_path"] = "log.jsonl"
    first, second = (share_batches(config, 2, share)["pretraining"] for share in (0, 1))
    assert (first["batcher"]["n"], second["batcher"]["share"]) == (2, 1)
    assert first["objective"]["log_path"] == "log.jsonl" and second["objective"]["log_path"] is None


def test_another_objective_is_refused(config, tmp_path, monkeypatch):
    config["pretraining"]["objective"] = {"@architectures": "spacy.PretrainCharacters.v1"}
    monkeypatch.setattr("spacy_lexner.pretraining.parallel._join", lambda gpu_id: (2, 0, 0))
    with pytest.raises(ValueError, match=r"PretrainCharacters\.v1 cannot be pretrained in 2 processes"):
        pretrain_together(config, tmp_path)


@pytest.fixture
def one_thread():
    """Use one thread, whose sums are the same in every process; two threads divide them unpredictably."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_two_processes_on_the_same_lines_do_what_one_does(config, tmp_path, one_thread):
    """The mean of two equal numbers is that number, to the bit."""
    pytest.importorskip("accelerate", reason='needs accelerate: pip install "spacy-lexner[accelerate]"')
    config["components"]["tok2vec"]["model"]["dropout"] = 0.0
    config["corpora"]["pretrain"].update(path=str(tmp_path / "text.txt"), sentences=False)
    config["pretraining"].update(dropout=0.0, max_epochs=2)
    config["pretraining"]["objective"].update(log_every=1, log_path=str(tmp_path / "log.jsonl"), resumable=False)
    config["pretraining"]["batcher"] = {"@batchers": "spacy.batch_by_sequence.v1", "size": 1, "get_length": None}
    (tmp_path / "text.txt").write_text("\n".join(LINES), "utf8")
    pretrain_together(config.copy(), tmp_path / "one")
    losses = read_losses(tmp_path / "log.jsonl")
    (tmp_path / "log.jsonl").unlink()
    (tmp_path / "text.txt").write_text("\n".join(line for line in LINES for _ in range(2)), "utf8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    launched = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}

    def one_of_two(rank):
        os.environ.update(launched, RANK=str(rank), LOCAL_RANK=str(rank))
        average_of_two()
        pretrain_together(config, tmp_path / "two")

    children = [start(partial(one_of_two, rank)) for rank in range(2)]
    assert [wait(child) for child in children] == [0, 0]
    assert len(losses) == 2 * len(LINES) and read_losses(tmp_path / "log.jsonl") == losses
    assert (tmp_path / "two" / "model-last.bin").read_bytes() == (tmp_path / "one" / "model-last.bin").read_bytes()


def average_of_two():
    """Checks the means of gradients that both processes have, one of them, and neither."""
    rank = parallel._join(-1)[1]
    module = torch.nn.ParameterDict({name: torch.nn.Parameter(torch.zeros(2)) for name in ("both", "one", "neither")})
    model = Model("layer", None, shims=[PyTorchShim(module)], params={"W": torch.zeros(2).numpy()})
    module["both"].grad = torch.full((2,), 1.0 + 2 * rank)
    if rank:
        module["one"].grad = torch.full((2,), 4.0)
        model.set_grad("W", torch.ones(2).numpy())
    parallel.average_gradients(model)
    assert module["both"].grad.tolist() == module["one"].grad.tolist() == [2.0, 2.0]
    assert module["neither"].grad is None and model.get_grad("W").tolist() == [0.5, 0.5]


def read_losses(path):
    return [{name: value for name, value in row.items() if "second" not in name} for row in srsly.read_jsonl(path)]
