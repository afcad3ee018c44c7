"""The papers' tables beside ours: figures match systems; the parts; and the whole workflow."""

import io
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
import reproduce
import spacy
import srsly
import study_inputs
import study_runs
from fetch_assets import md5
from reproduce import PAPERS, STUDY, choose_device, compare
from spacy.cli._util import parse_config_overrides
from spacy.cli.train import train
from spacy.tokens import DocBin
from study_file import read_study
from study_inputs import describe
from study_results import Run

from spacy_lexner.lexicon import Lexicon
from spacy_lexner.lexicon.readers import read_word_vectors

PAPER = {"paper": "A 2020", "url": "u", "note": "n", "rows": {"flat": {"weibo": 60.0, "msra": 94.0}}}


def line(f, seed=0, dataset="weibo", system="flat"):
    return {"dataset": dataset, "system": system, "seed": seed, "test": {"ents_f": f}}


def test_every_figure_has_a_system_and_a_citation():
    study = read_study(STUDY)
    papers = srsly.read_yaml(PAPERS)
    rows = [(system, dataset) for paper in papers for system, row in paper["rows"].items() for dataset in row]
    assert {system for system, _ in rows} == set(study.systems)
    assert {dataset for _, dataset in rows} == {"weibo", "resume", "msra", "ontonotes"}
    assert all(50 < f < 100 for paper in papers for row in paper["rows"].values() for f in row.values())
    assert all(paper["url"].startswith("https://aclanthology.org/") for paper in papers)


@pytest.mark.parametrize("name", ["bert", "bert-word", "lebert", "flat", "flat-bert"])
def test_settings_follow_from_the_number_of_texts(name):
    """Evaluation once per epoch; training and warm-up take the same number of epochs on all data sets."""
    system = read_study(STUDY).systems[name]
    texts = {"resume": 3821, "msra": 40500, "ontonotes": 15724}
    for dataset, n_texts in texts.items():
        found = dict(argument.removeprefix("--").split("=", 1) for argument in system.on(dataset).arguments)
        batch = int(found.get("training.batcher.size", 10 if "flat" in name else 4))
        epoch = -(-n_texts // batch)
        assert abs(int(found["training.eval_frequency"]) - epoch) <= 1
        steps = {key: int(value) / epoch for key, value in found.items() if key.endswith("_steps")}
        if "flat" not in name:
            assert steps["training.optimizer.learn_rate.total_steps"] == pytest.approx(20, abs=0.1)
        elif dataset != "resume" or name == "flat-bert":
            assert steps["training.optimizer.learn_rate.warmup_steps"] == pytest.approx(10, abs=0.1)
        if name == "flat-bert":
            assert steps["components.lex_ner.model.tok2vec.freeze_steps"] == pytest.approx(20, abs=0.1)
            assert int(found["training.patience"]) / epoch == pytest.approx(25, abs=0.1)


def test_the_table():
    lines = list(compare(read_study(STUDY), [PAPER], [line(0.61), line(0.63, seed=1), line(0.9, system="bert")]))
    assert "| FLAT | weibo | 60.00 | 62.0 ± 1.4 | +2.0 | 2 |" in lines
    assert "| FLAT | msra | 94.00 | – | – | 0 |" in lines
    assert "| FLAT | weibo | 60.00 | – | – | 0 |" in compare(read_study(STUDY), [PAPER], [{**line(0.6), "test": {}}])


def test_a_gpu_is_taken_if_there_is_one(monkeypatch, capsys):
    assert choose_device(1) == 1
    for torch, cupy, device, message in [(True, True, 0, ""), (True, False, -1, "CuPy"), (False, False, -1, "CPU")]:
        monkeypatch.setattr(reproduce, "has_torch_cuda_gpu", torch)
        monkeypatch.setattr(reproduce, "has_cupy_gpu", cupy)
        assert choose_device(-1) == device
        assert message in capsys.readouterr().out


def test_results_of_other_settings_are_not_mixed(tmp_path, capsys):
    srsly.write_jsonl(tmp_path / "bert.jsonl", [{**line(0.5), "arguments": ["--training.max_steps=1"]}])
    with pytest.raises(SystemExit):
        reproduce.main("weibo", tmp_path, "bert")
    assert "other settings" in capsys.readouterr().out


def test_results_with_other_words_are_not_mixed(small, tmp_path, monkeypatch, capsys):
    """As when LEBERT's lexicon is built again with another number of words. All lines count: all are in the tables."""
    for module in (reproduce, study_inputs):
        monkeypatch.setattr(module, "PROJECT", tmp_path)
    monkeypatch.setattr(reproduce.subprocess, "run", lambda command: subprocess.CompletedProcess(command, 0))
    shutil.copytree(small / "lexicon", tmp_path / "lexicon")
    settings = describe(Run("weibo", "lebert", 0), read_study(STUDY).systems, ["--paths.checkpoint=bert"])
    srsly.write_jsonl(tmp_path / "bert.jsonl", [{**line(0.5, system="lebert"), **settings}])
    with pytest.raises(SystemExit):
        reproduce.main("resume", tmp_path, "bert")
    assert "| LEBERT | weibo | 70.75 | 50.0 |" in capsys.readouterr().out
    Lexicon.from_entries([]).save(tmp_path / "lexicon" / "tencent", overwrite=True)
    with pytest.raises(SystemExit):
        reproduce.main("resume", tmp_path, "bert")
    shown = capsys.readouterr().out
    assert "lexicon/tencent: " in shown and "weibo-lebert-0" in shown and "| LEBERT |" not in shown


def test_without_any_run_there_are_no_tables(tmp_path, monkeypatch, capsys):
    """The message of the failed study is the last one."""
    monkeypatch.setattr(reproduce.subprocess, "run", lambda command: subprocess.CompletedProcess(command, 1))
    with pytest.raises(SystemExit) as end:
        reproduce.main("weibo", tmp_path / "reproduce", "bert")
    assert end.value.code == 1 and "| LEBERT |" not in capsys.readouterr().out


SENTENCES = [
    "南 B-GPE.NAM\n京 E-GPE.NAM\n大 O\n桥 O",
    "我 O\n在 O\n北 B-GPE.NAM\n京 E-GPE.NAM",
    "张 B-PER.NAM\n三 E-PER.NAM\n去 O\n了 O",
] * 4
ONTONOTES = (
    '<DOC DOCNO="x">\n<ENAMEX TYPE="GPE">南京</ENAMEX> 很 美\n<ENAMEX TYPE="PERSON">张 三</ENAMEX> 去 了\n</DOC>\n'
)
VECTORS = [f"{word} {' '.join(['0.1'] * 4)}" for word in ("南", "京", "南京", "北京", "大桥", "张三", "京大")]


def make_data(folder):
    """Tiny versions of the files that the papers use, in the folder `data_dir`."""
    bmes = "\n\n".join(SENTENCES) + "\n\n"
    bio = bmes.replace("E-", "I-")
    for dataset in ("weibo", "resume"):
        (folder / dataset).mkdir(parents=True)
        for split in ("train", "dev", "test"):
            (folder / dataset / f"{split}.char.bmes").write_text(bmes, "utf8")
    (folder / "msra").mkdir()
    with zipfile.ZipFile(folder / "msra" / "MSRA.zip", "w") as archive:
        archive.writestr("msra_train_bio", bio.replace(" ", "\t"))
        archive.writestr("msra_test_bio", bio.replace(" ", "\t"))
    (folder / "vectors").mkdir()
    text = "\n".join(VECTORS) + "\n"
    for name in ("gigaword_chn.all.a2b.uni.ite50.vec", "gigaword_chn.all.a2b.bi.ite50.vec", "ctb.50d.vec"):
        (folder / "vectors" / name).write_text(text, "utf8")
    name = "tencent-ailab-embedding-zh-d200-v0.2.0-s"
    with tarfile.open(folder / "vectors" / f"{name}.tar.gz", "w:gz") as archive:
        for member, content in (("readme.txt", "about"), (f"{name}.txt", f"{len(VECTORS)} 4\n{text}")):
            info = tarfile.TarInfo(f"{name}/{member}")
            info.size = len(content.encode("utf8"))
            archive.addfile(info, io.BytesIO(content.encode("utf8")))
    release = folder / "ontonotes" / "data" / "files" / "data" / "chinese" / "annotations" / "nw" / "xinhua" / "00"
    release.mkdir(parents=True)
    for number in (1, 2, 400):
        (release / f"chtb_{number:04}.name").write_text(ONTONOTES, "utf8")


def make_checkpoint(folder):
    from transformers import BertConfig, BertModel

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(set("南京大桥我在北张三去了很美"))]
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=len(pieces), max_position_embeddings=64, **sizes)).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", "utf8")


@pytest.fixture
def checkout(project_dir, tmp_path):
    """A checkout whose assets are tiny files, a folder that holds them, and a tiny BERT."""
    names = ("scripts", "studies", "reproduce", "project.yml")
    for name in names:
        copy = shutil.copytree if (project_dir / name).is_dir() else shutil.copy
        (tmp_path / "project").mkdir(exist_ok=True)
        copy(project_dir / name, tmp_path / "project" / name)
    shutil.copytree(project_dir.parent / "configs", tmp_path / "configs")
    make_data(tmp_path / "data")
    make_checkpoint(tmp_path / "tiny-bert")
    project = srsly.read_yaml(tmp_path / "project" / "project.yml")
    for asset in project["assets"]:
        file = tmp_path / "data" / asset["dest"].removeprefix("assets/")
        if file.is_file():
            asset["checksum"] = md5(file)
    srsly.write_yaml(tmp_path / "project" / "project.yml", project)
    return tmp_path


SHORT = " --training.max_steps=2 --training.eval_frequency=1 --training.optimizer.learn_rate.warmup_steps=1"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A project folder with tiny corpora and lexicons, a tiny BERT, and a file of vectors."""
    folder = tmp_path_factory.mktemp("small")
    make_checkpoint(folder / "tiny-bert")
    doc = spacy.blank("zh")("我在北京")
    doc.ents = [doc.char_span(2, 4, label="GPE")]
    for dataset in ("weibo", "resume", "msra", "ontonotes"):
        (folder / "corpus" / dataset).mkdir(parents=True)
        for split in ("train", "dev"):
            DocBin(docs=[doc] * 8).to_disk(folder / "corpus" / dataset / f"{split}.spacy")
    (folder / "chars.vec").write_text("\n".join(VECTORS) + "\n", "utf8")
    for name in ("tencent", "ctb"):
        Lexicon.from_entries(read_word_vectors(folder / "chars.vec")).save(folder / "lexicon" / name)
    Lexicon.from_entries([]).save(folder / "lexicon" / "empty")
    return folder


@pytest.mark.filterwarnings("ignore:The pattern")  # FLAT's BERT is not trained yet
@pytest.mark.parametrize(
    "name, dataset",
    [("bert", "weibo"), ("bert-word", "msra"), ("lebert", "resume"), ("flat", "ontonotes"), ("flat-bert", "ontonotes")],
)
def test_a_system_trains_at_its_settings(small, tmp_path, monkeypatch, name, dataset):
    """A few updates in this process, with the study's own arguments."""
    monkeypatch.setattr(study_runs, "PROJECT", small)
    vectors = [f"--paths.{which}_vectors={small / 'chars.vec'}" for which in ("character", "bigram")]
    settings = [f"--paths.checkpoint={small / 'tiny-bert'}", *vectors, *shlex.split(SHORT)]
    system = read_study(STUDY).systems[name].on(dataset)
    _, config, _, out, _, _, *rest = study_runs.training(Run(dataset, name, 0), system, tmp_path / name, settings, -1)
    train(config, out, overrides=parse_config_overrides(rest))
    nlp = spacy.load(tmp_path / name / "model-last")
    assert ("tiny-bert" in str(nlp.config.interpolate()["components"])) == (name != "flat")
    assert len(nlp("我在北京")) == 4


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_from_start_to_end(checkout):
    """As a user would run it: fetch everything, train five systems on four data sets, print the tables."""
    command = [sys.executable, "-m", "spacy", "project", "run", "reproduce", "project", "--vars.seeds", "1"]
    command += ["--vars.checkpoint", "tiny-bert", "--vars.data_dir", "data", "--vars.ontonotes", "data/ontonotes"]
    environment = {**os.environ, "COLUMNS": "200", "PWD": str(checkout), "CUDA_VISIBLE_DEVICES": ""}
    for _ in range(2):
        done = subprocess.run(
            [*command, "--vars.options", SHORT], cwd=checkout, capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        found = list(srsly.read_jsonl(checkout / "project/metrics/reproduce/tiny-bert.jsonl"))
        assert len(found) == 20 and all(row["test"]["n_seen"] for row in found)  # and not again the second time
    table = (checkout / "project/metrics/reproduce/tiny-bert.md").read_text("utf8")
    assert table.count("| 1 |\n") == 24 and "| LEBERT | ontonotes | 82.08 |" in table and table in done.stdout
