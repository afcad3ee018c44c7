import json

import pytest
import spacy
import srsly
import torch
from spacy.training import Example
from tolerance import assert_close
from transformers import AutoModel, AutoTokenizer, logging

from spacy_lexner.checkpoints.huggingface import export_huggingface, read_encoder
from spacy_lexner.checkpoints.int8 import quantize
from spacy_lexner.encoders.shared.wordpieces import load_wordpieces, read_vocab, vocab_settings

TEXT = "南京市长江大桥, ABC。"
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "\u2028", *"南京市长江大桥,。", "a", "##b", "##c"]


@pytest.fixture
def nlp(tmp_path):
    return make_pipeline(tmp_path)


def make_pipeline(folder, checkpoint=None, pieces=PIECES, **settings):
    (folder / "vocab.txt").write_bytes("\n".join(pieces).encode())
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["长江", "大桥"])
    sizes = {"hidden_width": 16, "depth": 2, "heads": 2, "intermediate_width": 32, "vocab": str(folder / "vocab.txt")}
    model = {"@architectures": "spacy-lexner.LEBERT.v1", **(sizes if checkpoint is None else {}), **settings}
    nlp.add_pipe("tok2vec", config={"model": {**model, "checkpoint": checkpoint}})
    nlp.initialize(lambda: [Example(nlp.make_doc(TEXT), nlp.make_doc(TEXT))])
    return nlp


def encode_with_transformers(folder, text):
    """Vectors of all wordpieces, and the pieces."""
    logging.set_verbosity_error()
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    inputs = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        output = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
    return output.last_hidden_state[0].numpy(), tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])


def test_transformers_reads_the_folder_with_equal_outputs(tmp_path):
    nlp = make_pipeline(tmp_path, adapter_layers=[])
    nlp.to_disk(tmp_path / "saved")
    export_huggingface(tmp_path / "saved", tmp_path / "hf")
    vectors, pieces = encode_with_transformers(tmp_path / "hf", "南京市长江大桥")
    assert pieces == ["[CLS]", *"南京市长江大桥", "[SEP]"]
    (expected,) = nlp.get_pipe("tok2vec").model.predict([nlp.make_doc("南京市长江大桥")])
    assert_close(vectors[1:-1], expected, 2 * 32)  # layers, and their longest sum
    assert {"config.json", "model.safetensors", "vocab.txt"} <= {file_.name for file_ in (tmp_path / "hf").iterdir()}
    assert json.loads((tmp_path / "hf" / "config.json").read_text())["architectures"] == ["BertModel"]
    assert (tmp_path / "hf" / "vocab.txt").read_bytes().decode().split("\n")[:-1] == PIECES


def test_a_pipeline_in_8_bits_is_refused(tmp_path, nlp):
    pytest.importorskip("torchao")
    quantize(nlp)
    nlp.to_disk(tmp_path / "saved")
    with pytest.raises(ValueError, match="in 8 bits cannot be exported"):
        export_huggingface(tmp_path / "saved", tmp_path / "hf")
    assert not (tmp_path / "hf").exists()


def test_the_tokenizer_keeps_its_normalisation(tmp_path, nlp):
    nlp.to_disk(tmp_path / "saved")
    export_huggingface(tmp_path / "saved", tmp_path / "hf")
    assert AutoTokenizer.from_pretrained(tmp_path / "hf").tokenize("ABC 桥") == ["a", "##b", "##c", "桥"]
    settings = json.loads((tmp_path / "hf" / "tokenizer_config.json").read_text())
    assert settings["tokenizer_class"] == "PreTrainedTokenizerFast", "a name that all versions of transformers know"


def test_the_folder_is_a_checkpoint_for_lebert(tmp_path, nlp):
    nlp.to_disk(tmp_path / "saved")
    export_huggingface(tmp_path / "saved", tmp_path / "hf")
    again = make_pipeline(tmp_path, checkpoint=str(tmp_path / "hf"), adapter_layers=[0])
    state, expected = (pipe.get_pipe("tok2vec").model.shims[0].module.encoder.state_dict() for pipe in (again, nlp))
    assert set(state) == set(expected)
    assert all(torch.equal(state[name], expected[name]) for name in state)
    ids = [pipe.get_pipe("tok2vec").model.shims[0].settings["wordpieces"]["mask"] for pipe in (again, nlp)]
    assert ids == [4, 4]


def test_numbers_that_no_piece_has_keep_their_lines(tmp_path):
    nlp = make_pipeline(tmp_path, pieces=["大", *PIECES, "桥"])  # the last line of a piece counts
    nlp.to_disk(tmp_path / "saved")
    export_huggingface(tmp_path / "saved", tmp_path / "hf")
    wordpieces = load_wordpieces(read_encoder(tmp_path / "saved").wordpieces)
    written = load_wordpieces(vocab_settings(read_vocab(tmp_path / "hf" / "vocab.txt")))
    assert [written.pieces(character) for character in TEXT] == [wordpieces.pieces(character) for character in TEXT]


def test_what_a_tokenizer_does_not_do_is_said(tmp_path):
    nlp = make_pipeline(tmp_path, adapter_layers=[], read_as="simplified")
    nlp.to_disk(tmp_path / "saved")
    with pytest.warns(UserWarning, match="set `read_as` wherever the folder is used"):
        export_huggingface(tmp_path / "saved", tmp_path / "hf")


def test_a_file_of_pretraining_serves_too(tmp_path, nlp):
    model = nlp.get_pipe("tok2vec").model
    saved = {**model.to_dict(), "lexner_pretraining": b"state"}
    (tmp_path / "model-last.bin").write_bytes(srsly.msgpack_dumps(saved))
    export_huggingface(tmp_path / "model-last.bin", tmp_path / "hf")
    with pytest.raises(ValueError, match="is a file, which has no component 'tok2vec': leave the component out"):
        read_encoder(tmp_path / "model-last.bin", "tok2vec")
    exported = read_encoder(tmp_path / "model-last.bin").model.state_dict()
    for name, tensor in AutoModel.from_pretrained(tmp_path / "hf", add_pooling_layer=False).state_dict().items():
        assert torch.equal(tensor, exported[name])


def test_several_encoders_want_a_name(tmp_path, nlp):
    nlp.to_disk(tmp_path / "saved")
    (tmp_path / "saved" / "second").mkdir()
    (tmp_path / "saved" / "second" / "model").write_bytes((tmp_path / "saved" / "tok2vec" / "model").read_bytes())
    with pytest.raises(ValueError, match=r"2 encoders that can be exported; expected one \(in second, tok2vec: name"):
        read_encoder(tmp_path / "saved")
    assert read_encoder(tmp_path / "saved", "second").model.config.hidden_size == 16
    with pytest.raises(ValueError, match="with a component 'third'"):
        read_encoder(tmp_path / "saved", "third")


def test_what_is_no_model_is_named(tmp_path, nlp):
    with pytest.raises(ValueError, match="neither a file of `spacy pretrain` nor a saved pipeline"):
        read_encoder(tmp_path)
    (tmp_path / "cut.bin").write_bytes(nlp.get_pipe("tok2vec").model.to_bytes()[:5000])
    with pytest.raises(ValueError, match=r"cut.bin is not a model file, or is incomplete"):
        read_encoder(tmp_path / "cut.bin")
    fresh = spacy.blank("zh").add_pipe("tok2vec").model
    (tmp_path / "other.bin").write_bytes(fresh.to_bytes())
    with pytest.raises(ValueError, match=r"other.bin holds 0 encoders"):
        read_encoder(tmp_path / "other.bin")


def test_a_folder_that_is_there_is_kept_unless_told_otherwise(tmp_path, nlp):
    nlp.to_disk(tmp_path / "saved")
    (tmp_path / "hf").mkdir()
    (tmp_path / "hf" / "mine.txt").write_text("kept")
    with pytest.raises(ValueError, match="already exists"):
        export_huggingface(tmp_path / "saved", tmp_path / "hf")
    assert (tmp_path / "hf" / "mine.txt").exists()
    export_huggingface(tmp_path / "saved", tmp_path / "hf", overwrite=True)
    assert not (tmp_path / "hf" / "mine.txt").exists()
    with pytest.raises(ValueError, match=r"would remove .*saved, which is read"):
        export_huggingface(tmp_path / "saved", tmp_path / "saved", overwrite=True)


def test_a_failed_export_leaves_nothing_behind(tmp_path, nlp, monkeypatch):
    nlp.to_disk(tmp_path / "saved")
    monkeypatch.setattr("spacy_lexner.checkpoints.huggingface.save_tokenizer", lambda *_: 1 / 0)
    before = set(tmp_path.iterdir())
    with pytest.raises(ZeroDivisionError):
        export_huggingface(tmp_path / "saved", tmp_path / "hf")
    assert set(tmp_path.iterdir()) == before
