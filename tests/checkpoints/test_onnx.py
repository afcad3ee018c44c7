import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from small_ner import blank, examples, train
from typer.testing import CliRunner

from spacy_lexner.checkpoints.onnx import export_onnx, tags_of
from spacy_lexner.cli.app import lexner
from spacy_lexner.encoders.lebert.layer import make_batches
from spacy_lexner.encoders.shared.wordpiece_encoder import wordpieces_of
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.tagging.ncrf.head import NCRFHead

pytest.importorskip("onnxscript")
onnxruntime = pytest.importorskip("onnxruntime")
SIZES = {"hidden_width": 32, "depth": 2, "heads": 2, "intermediate_width": 64}
LEBERT = {"@architectures": "spacy-lexner.LEBERT.v1", **SIZES}
WORDS = ["北京", "北京大学", "大学", "复旦大学", "上海", "南京"]


def pipeline(tok2vec):
    nlp = blank(tok2vec=tok2vec)
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 6)).astype("f4")
    nlp.add_pipe("lex_matcher", first=True).add_words(map(LexiconEntry, WORDS, vectors))
    train(nlp, examples(nlp), steps=3)
    return nlp


@pytest.mark.parametrize("adapter_layers", [[0], []])
def test_onnx_runtime_agrees(adapter_layers, tmp_path):
    nlp = pipeline({**LEBERT, "adapter_layers": adapter_layers})
    nlp.to_disk(tmp_path / "model")
    result = CliRunner().invoke(lexner, ["export-onnx", str(tmp_path / "model"), str(tmp_path / "onnx")])
    assert result.exit_code == 0, result.output
    again = CliRunner().invoke(lexner, ["export-onnx", *[str(tmp_path / "model")] * 2, "--force"])
    assert again.exit_code == 1 and "which is read" in " ".join(again.output.split())
    session = onnxruntime.InferenceSession(tmp_path / "onnx" / "model.onnx")
    said = json.loads((tmp_path / "onnx" / "model.json").read_text("utf8"))
    assert said["tags"] == list(nlp.get_pipe("lex_ner").scheme.tags) and said["tags"][0] == "O"
    assert said["labels"] == list(nlp.get_pipe("lex_ner").labels) and said["word_width"] == (6 if adapter_layers else 0)

    tagger = nlp.get_pipe("lex_ner").model
    encoder, output = tagger.get_ref("tok2vec"), tagger.get_ref("output_layer")
    for texts in (
        ["张三在北京大学工作", "去南京"],
        ["上海"],
        ["复旦大学在上海" * 9] * 3,
    ):
        docs = [nlp.get_pipe("lex_matcher")(nlp.make_doc(text)) for text in texts]
        module = encoder.shims[0].module.eval()
        for batch, _ in make_batches(encoder, docs, *wordpieces_of(encoder).encode(docs)):
            with torch.no_grad():
                expected = module([batch]).numpy() @ output.get_param("emission_W").T + output.get_param("emission_b")
                inputs = {"input_ids": batch.input_ids.numpy(), "attention_mask": batch.attention_mask.numpy()}
                if adapter_layers:
                    inputs |= {"slots": batch.slots.numpy(), "words": module.words(batch.words).numpy()}
            (emissions,) = session.run(["emissions"], inputs)
            found = emissions.reshape(-1, emissions.shape[-1])[batch.kept.numpy()]
            np.testing.assert_allclose(found, expected, atol=1e-4)


def test_the_tags_of_a_published_tagger_are_its_own():
    head = NCRFHead("sum", ("O", "M-X", "B-X"))
    tagger = SimpleNamespace(model=SimpleNamespace(attrs={"head": head}))
    assert tags_of(tagger) == ["O", "M-X", "B-X", "<START>", "<STOP>"]


@pytest.mark.parametrize(("tok2vec", "reason"), [("FLAT", "a graph has a fixed number of operations"), (None, "none")])
def test_what_cannot_be_exported_is_named(tok2vec, reason, tmp_path):
    nlp = pipeline({"@architectures": f"spacy-lexner.{tok2vec}.v1"} if tok2vec else None)
    with pytest.raises(ValueError, match=reason):
        export_onnx(nlp, tmp_path / "onnx")
    with pytest.raises(ValueError, match="no component 'ner'"):
        export_onnx(nlp, tmp_path / "onnx", component="ner")
    assert not list(tmp_path.iterdir())
