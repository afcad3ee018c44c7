import json

import pytest
import spacy
from small_ner import TEXTS, blank, examples, found, train
from typer.testing import CliRunner

from spacy_lexner.checkpoints.int8 import quantize
from spacy_lexner.cli.app import lexner

pytest.importorskip("torchao")
SIZES = {"hidden_width": 32, "depth": 2, "heads": 2, "intermediate_width": 64}
LEBERT = {"@architectures": "spacy-lexner.LEBERT.v1", **SIZES, "adapter_layers": [0]}
FLAT = {"@architectures": "spacy-lexner.FLAT.v1"}


def pipeline(tok2vec, steps=30):
    nlp = blank(tok2vec=tok2vec)
    nlp.add_pipe("lex_matcher", first=True).add_words(["北京大学", "复旦大学", "上海", "南京"])
    train(nlp, examples(nlp), steps=steps)
    return nlp


@pytest.fixture(scope="module")
def trained():
    return pipeline(LEBERT)


@pytest.fixture(scope="module")
def saved(trained, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    trained.to_disk(folder / "floats")
    result = CliRunner().invoke(lexner, ["quantize", str(folder / "floats"), str(folder / "int8")])
    assert result.exit_code == 0, result.output
    return folder


def test_a_quantised_pipeline_finds_the_same(trained, saved):
    texts = [text for text, _ in TEXTS]
    expected = [found(doc) for doc in trained.pipe(texts)]
    assert any(expected)
    nlp = spacy.load(saved / "int8")
    assert [found(doc) for doc in nlp.pipe(texts)] == expected
    assert [found(doc) for doc in nlp.pipe(texts * 4, n_process=2, batch_size=5)] == expected * 4
    sizes = [(saved / name / "lex_ner" / "model").stat().st_size for name in ("floats", "int8")]
    assert sizes[1] < sizes[0] / 2  # in such a small model most bytes are not weights


def test_it_cannot_be_quantised_again_or_trained(saved):
    nlp = spacy.load(saved / "int8")
    with pytest.raises(ValueError, match="already quantised to 8 bits"):
        quantize(nlp)
    with pytest.raises(ValueError, match="cannot be trained"):
        nlp.update(examples(nlp), sgd=nlp.resume_training())


def test_a_component_in_8_bits_leaves_the_others_as_they_are(saved):
    nlp = spacy.load(saved / "floats")
    nlp.add_pipe("lex_ner", name="second", source=spacy.load(saved / "int8"))
    with pytest.raises(ValueError, match="already quantised to 8 bits: second"):
        quantize(nlp)
    assert not any(shim.in_int8 for node in nlp.get_pipe("lex_ner").model.walk() for shim in node.shims)


def test_what_cannot_be_quantised_is_named():
    nlp = pipeline(FLAT, steps=1)
    with pytest.raises(ValueError, match=r"'lex_ner' \(flat: FLAT computes its positions"):
        quantize(nlp)
    with pytest.raises(ValueError, match=r"No component has an encoder that can be quantised.*: lex_ner"):
        quantize(blank())


def test_a_failed_command_writes_nothing(tmp_path):
    pipeline(FLAT, steps=1).to_disk(tmp_path / "flat")
    result = CliRunner().invoke(lexner, ["quantize", str(tmp_path / "flat"), str(tmp_path / "int8")])
    assert result.exit_code == 1 and "Nothing was written" in result.output and not (tmp_path / "int8").exists()
    result = CliRunner().invoke(lexner, ["quantize", *[str(tmp_path / "flat")] * 2, "--force"])
    assert result.exit_code == 1 and "which is read" in " ".join(result.output.split())
    assert json.loads((tmp_path / "flat" / "meta.json").read_text())
