import spacy
from spacy.training import Example
from transformers import AutoModel
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner


def run(*arguments):
    return CliRunner().invoke(lexner, ["export-hf", *map(str, arguments)])


def test_a_saved_pipeline_becomes_a_hugging_face_folder(tmp_path):
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n南\n京\n", "utf8")
    nlp = spacy.blank("zh")
    model = {
        "@architectures": "spacy-lexner.LEBERT.v1",
        "vocab": str(tmp_path / "vocab.txt"),
        "hidden_width": 8,
        "depth": 1,
        "heads": 2,
        "intermediate_width": 16,
        "adapter_layers": [],
    }
    nlp.add_pipe("tok2vec", config={"model": model})
    nlp.initialize(lambda: [Example(nlp.make_doc("南京"), nlp.make_doc("南京"))])
    nlp.to_disk(tmp_path / "saved")
    result = run(tmp_path / "saved", tmp_path / "hf")
    assert result.exit_code == 0
    assert "bert, 1 layers of 8, 7 wordpieces" in " ".join(result.output.split())
    assert AutoModel.from_pretrained(tmp_path / "hf", add_pooling_layer=False).config.hidden_size == 8
    assert run(tmp_path / "saved", tmp_path / "hf").exit_code == 1
    assert run(tmp_path / "saved", tmp_path / "hf", "--force").exit_code == 0


def test_what_is_no_model_is_an_error_without_a_traceback(tmp_path):
    result = run(tmp_path, tmp_path / "hf")
    assert result.exit_code == 1
    assert "Nothing was written" in result.output and not (tmp_path / "hf").exists()
