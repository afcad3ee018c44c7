import pytest
import spacy
import torch

from spacy_lexner.candidates.training_texts import TrainingTexts
from spacy_lexner.checkpoints.elmo import import_elmo
from spacy_lexner.encoders.elmo.architecture import build_elmo_v1
from spacy_lexner.encoders.elmo.counted_words import write_counted_words
from spacy_lexner.encoders.elmo.setup import build_elmo
from spacy_lexner.encoders.shared.shim import ModuleShim

NLP = spacy.blank("zh")
SMALL = {"embedding_dim": 4, "filters": ((1, 4), (2, 4)), "projection_dim": 6, "cell_dim": 8}


def make_setup(**options):
    return build_elmo_v1(**options).attrs["setup"]


def build(texts=(), **options):
    shim = ModuleShim(build_elmo)
    seen = TrainingTexts(tokens=True, texts=False)
    seen.add([NLP.make_doc(text) for text in texts])
    return make_setup(**options).build(shim, [NLP.make_doc("长江")], seen), shim


@pytest.fixture(scope="module")
def checkpoint(fixtures_dir, tmp_path_factory):
    folder = tmp_path_factory.mktemp("elmo") / "checkpoint"
    import_elmo(fixtures_dir / "elmo" / "options.json", fixtures_dir / "elmo" / "weights.hdf5", folder)
    return str(folder)


def test_characters_of_the_training_texts():
    _, shim = build(["南京市", "市长"], **SMALL)
    assert shim.settings["characters"]["characters"] == "".join(sorted("南京市长"))


def test_characters_of_counted_words(tmp_path):
    write_counted_words([("长江", 3), ("大桥", 1)], tmp_path / "words.tsv")
    setup = make_setup(vocab=str(tmp_path / "words.tsv"), **SMALL)
    assert not setup.reads_tokens
    _, shim = build(vocab=str(tmp_path / "words.tsv"), **SMALL)
    assert shim.settings["characters"]["characters"] == "".join(sorted("长江大桥"))


def test_a_sample_is_no_vocabulary():
    with pytest.warns(UserWarning, match="collect_texts"):
        _, shim = build(**SMALL)
    assert shim.settings["characters"]["characters"] == "".join(sorted("长江"))


def test_sizes_are_those_of_the_checkpoint(checkpoint):
    module, shim = build(checkpoint=checkpoint)
    assert make_setup(checkpoint=checkpoint).width is None and module.width == 32
    assert shim.settings["bilm"]["cell_dim"] == 24 and shim.settings["characters"]["unit"] == "byte"
    given = {"projection_dim": 16, "unit": "byte", "cell_clip": 3.0, "filters": ((1, 8), (2, 8), (3, 16))}
    same, _ = build(checkpoint=checkpoint, **given)
    assert make_setup(checkpoint=checkpoint, **given).width == 32
    for parameter, other in zip(module.parameters(), same.parameters()):
        assert torch.equal(parameter, other)


@pytest.mark.parametrize(
    "name, value",
    [
        ("projection_dim", 17),
        ("n_layers", 3),
        ("unit", "unicode"),
        ("cell_clip", 0.0),
        ("filters", ((1, 8),)),
        ("max_characters", 40),
        ("skip_connections", False),
    ],
)
def test_a_size_that_is_not_the_checkpoint_s(checkpoint, name, value):
    with pytest.raises(ValueError, match=f"{name} = .* does not agree with the checkpoint"):
        build(checkpoint=checkpoint, **{name: value})


@pytest.mark.parametrize(
    "options, message",
    [
        ({"projection_dim": 0}, "projection_dim = 0 is out of range"),
        ({"unit": "bytes"}, "unit is 'bytes'; expected"),
        ({"unit": "byte", "activation": "gelu"}, "activation is 'gelu'; expected"),
        ({"filters": ()}, "filters = "),
        ({"filters": ((0, 3),)}, "filters = "),
        ({"filters": ((3,),)}, "filters = "),
        ({"n_mixes": 2, "mix_weights": (0.0, 0.0, 0.0)}, "n_mixes is 2; expected 1"),
        ({"unit": "byte", "vocab": "words.tsv"}, "vocab is only for unit = 'unicode'"),
        ({"unit": "byte", "mix_layers": (0, 3)}, r"mix_layers is \[0, 3\]; expected different layers from 0"),
        ({"unit": "byte", "mix_layers": ()}, r"mix_layers is \[\]; expected"),
        ({"unit": "byte", "mix_layers": (1, 1)}, r"mix_layers is \[1, 1\]; expected different"),
        ({"unit": "byte", "mix_weights": (0.0,)}, "1 weights for 3 layers"),
        ({"unit": "byte", "mix_norm": "layer"}, "norm of the scalar mix is 'layer'"),
        ({"unit": "byte", "max_characters": 3, "filters": ((4, 2),)}, "max_characters = 3 is too small"),
    ],
)
def test_wrong_settings(options, message):
    with pytest.raises(ValueError, match=message):
        build(**options)


def test_no_clipping_is_torch_s_own_lstm():
    module, _ = build(unit="byte", cell_clip=0, projection_clip=0, **SMALL)
    assert [type(layer).__name__ for layer in module.bilm.layers] == ["ProjectedLSTM"] * 2
    module, _ = build(unit="byte", **SMALL)
    assert [type(layer).__name__ for layer in module.bilm.layers] == ["ClippedLSTM"] * 2


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        *(("characters", "max_characters", value) for value in (2, 2**31, "9", 9.0, None)),
        *(("mix", "mix_layers", value) for value in ([], None, [3], [-1], ["0"], [0.0])),
        ("bilm", "cell_clip", "3"),
        ("bilm", "projection_clip", [3]),
    ],
)
def test_saved_settings_that_would_fail_later(part, name, value):
    settings = build(unit="byte", **SMALL)[1].settings
    with pytest.raises(ValueError, match=f"{name} is .*; expected"):
        build_elmo({**settings, part: {**settings[part], name: value}})
