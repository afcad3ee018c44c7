import copy
import json

import h5py
import numpy as np
import pytest

from spacy_lexner.checkpoints.elmo import import_elmo
from spacy_lexner.checkpoints.elmo_options import read_options

CELL = "RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell"


@pytest.fixture
def official(fixtures_dir):
    return json.loads((fixtures_dir / "elmo" / "options.json").read_text("utf8"))


@pytest.fixture
def run(fixtures_dir, official, tmp_path):
    """Import with changed options and a changed copy of the weights."""
    weights = tmp_path / "weights.hdf5"
    weights.write_bytes((fixtures_dir / "elmo" / "weights.hdf5").read_bytes())

    def import_changed(options=None, change=None):
        (tmp_path / "options.json").write_text(json.dumps(official if options is None else options), "utf8")
        if change is not None:
            with h5py.File(weights, "r+") as file:
                change(file)
        return import_elmo(tmp_path / "options.json", weights, tmp_path / "out")

    yield import_changed
    if not (tmp_path / "out").exists():  # an import that failed leaves nothing behind
        assert sorted(path.name for path in tmp_path.iterdir()) == ["options.json", "weights.hdf5"]


def test_files_of_a_checkpoint(run, tmp_path):
    config = run()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["config.json", "model.safetensors"]
    assert json.loads((tmp_path / "out" / "config.json").read_text("utf8")) == config
    assert config["bilm"] == {
        "projection_dim": 16,
        "cell_dim": 24,
        "n_layers": 2,
        "cell_clip": 3,
        "projection_clip": 3,
        "skip_connections": True,
    }
    with pytest.raises(ValueError, match="already exists"):
        run()


@pytest.mark.parametrize("n_characters", [261, 262])
def test_options_of_the_trainer(official, tmp_path, n_characters):
    """bilm-tf writes how it trained beside the sizes, and counts 261 characters."""
    official["char_cnn"]["n_characters"] = n_characters
    official.update(bidirectional=True, dropout=0.1, unroll_steps=20, n_tokens_vocab=793471, batch_size=128)
    official["lstm"].update(cell_clip=0, proj_clip=None)
    (tmp_path / "options.json").write_text(json.dumps(official), "utf8")
    config = read_options(tmp_path / "options.json")
    assert config["bilm"]["cell_clip"] is None and config["bilm"]["projection_clip"] is None


def delete(section, key):
    return lambda options: options[section].pop(key)


def put(section, key, value):
    return lambda options: options[section].update({key: value})


@pytest.mark.parametrize(
    "change, message",
    [
        (delete("lstm", "dim"), "missing key 'lstm.dim'"),
        (delete("lstm", "cell_clip"), "missing key 'lstm.cell_clip'"),
        (delete("char_cnn", "filters"), "missing key 'char_cnn.filters'"),
        (lambda options: options.pop("char_cnn"), "missing section 'char_cnn'"),
        (put("lstm", "dims", 3), "unknown key 'lstm.dims'"),
        (lambda options: options.update(charcnn={}), "unknown key 'charcnn'"),
        (put("lstm", "dim", "4096"), "'lstm.dim' has the invalid value '4096'"),
        (put("lstm", "n_layers", 0), "'lstm.n_layers' has the invalid value 0"),
        (put("lstm", "cell_clip", -3), "'lstm.cell_clip' has the invalid value -3"),
        (put("char_cnn", "activation", "gelu"), "'char_cnn.activation' has the invalid value 'gelu'"),
        (put("char_cnn", "filters", [[1]]), r"'char_cnn.filters' has the invalid value \[\[1\]\]"),
        (put("char_cnn", "n_characters", 500), "'char_cnn.n_characters' has the invalid value 500"),
        (put("char_cnn", "embedding", {}), "'char_cnn.embedding' has the invalid value"),
        (put("char_cnn", "max_characters_per_token", 2), "max_characters_per_token is 2"),
    ],
)
def test_wrong_options(run, official, change, message):
    options = copy.deepcopy(official)
    change(options)
    with pytest.raises(ValueError, match=message):
        run(options)


@pytest.mark.parametrize("content", ["", "{", "[1]", "null"])
def test_options_that_are_no_object(tmp_path, content):
    (tmp_path / "options.json").write_text(content)
    with pytest.raises(ValueError, match=r"options\.json"):
        read_options(tmp_path / "options.json")


def replace(name, shape):
    def change(file):
        del file[name]
        file[name] = [[0.0] * shape[1]] * shape[0] if len(shape) == 2 else [0.0] * shape[0]

    return change


@pytest.mark.parametrize(
    "change, message",
    [
        (replace(f"{CELL}/W_0", (32, 100)), r"W_0 has shape \[32, 100\] instead of \[32, 96\]"),
        (replace("char_embed", (262, 8)), r"char_embed has shape \[262, 8\] instead of \[261, 8\]"),
        (lambda file: file.pop("CNN_proj/b_proj"), "CNN_proj/b_proj is missing"),
        (lambda file: file.create_dataset("extra", data=[1.0]), "extra is not known"),
    ],
)
def test_weights_that_do_not_fit_the_options(run, change, message):
    with pytest.raises(ValueError, match=rf"weights\.hdf5 does not fit the options file: .*{message}"):
        run(change=change)


def give(name, value):
    def change(file):
        kept = file[name].shape
        del file[name]
        file[name] = np.full(kept, value)

    return change


@pytest.mark.parametrize(
    "change, message",
    [
        (give("char_embed", np.nan), "/char_embed has values that are not finite"),
        (give(f"{CELL}/B", np.inf), f"{CELL}/B has values that are not finite"),
        (give(f"{CELL}/B", b"1.5"), rf"{CELL}/B is made of \|S3; expected numbers"),
    ],
)
def test_weights_that_are_no_numbers(run, change, message):
    with pytest.raises(ValueError, match=message):
        run(change=change)


def test_weights_of_another_size(run, official):
    official["lstm"]["n_layers"] = 1
    with pytest.raises(ValueError, match=r"Cell1/LSTMCell/B is not known; .* more"):
        run(official)
    official["lstm"]["n_layers"] = 3
    with pytest.raises(ValueError, match="Cell2/LSTMCell/W_0 is missing"):
        run(official)


def test_a_projection_is_made_only_where_widths_differ(run, official):
    official["lstm"]["projection_dim"] = 32
    with pytest.raises(ValueError, match="CNN_proj/W_proj is not known"):
        run(official)


@pytest.mark.parametrize("kept", [0, 100, 2000, 50_000, -1])
def test_truncated_hdf5(fixtures_dir, tmp_path, kept):
    content = (fixtures_dir / "elmo" / "weights.hdf5").read_bytes()
    (tmp_path / "weights.hdf5").write_bytes(content[:kept])
    with pytest.raises(ValueError, match=r"weights\.hdf5 cannot be read as HDF5"):
        import_elmo(fixtures_dir / "elmo" / "options.json", tmp_path / "weights.hdf5", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_no_file(fixtures_dir, tmp_path):
    with pytest.raises(ValueError, match="does not exist; expected the HDF5"):
        import_elmo(fixtures_dir / "elmo" / "options.json", tmp_path / "weights.hdf5", tmp_path / "out")


def test_h5py_is_needed_for_the_import_alone(fixtures_dir, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ImportError, match=r"spacy-lexner\[elmo\]"):
        import_elmo(fixtures_dir / "elmo" / "options.json", fixtures_dir / "elmo" / "weights.hdf5", tmp_path / "out")
