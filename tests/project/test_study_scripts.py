import json

import pytest
import spacy
import study_scripts
import typer
from spacy.tokens import Doc, DocBin, Span
from typer.testing import CliRunner

TEXTS = [("头发在台湾,皇后在里面", (3, 5, "GPE")), ("干杯 台湾", (3, 5, "GPE"))]


@pytest.mark.parametrize(
    "how, expected",
    [("original", "头发 里面皇后"), ("characters", "頭發 裏面皇後"), ("phrases", "頭髮 裏面皇后")],
)
def test_a_text_keeps_its_length(how, expected):
    assert study_scripts.convert("头发 里面皇后", how).replace("裡", "裏") == expected


def test_gold_docs_keep_tokens_and_entities():
    nlp = spacy.blank("zh")
    doc = Doc(nlp.vocab, words=["头发", "在", "台湾", "!"], spaces=[True, False, False, False])
    doc.set_ents([Span(doc, 2, 3, "GPE")])
    again = study_scripts.rewritten(doc, "phrases")
    assert again.text == "頭髮 在臺灣!" and len(again) == len(doc)
    assert [(ent.start_char, ent.end_char, ent.label_) for ent in again.ents] == [(4, 6, "GPE")]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with two pipelines that know one place name, one of them only in simplified characters."""
    monkeypatch.setattr(study_scripts, "PROJECT", tmp_path)
    nlp = spacy.blank("zh")
    docs = []
    for text, (start, end, label) in TEXTS:
        doc = nlp.make_doc(text)
        doc.set_ents([doc.char_span(start, end, label)])
        docs.append(doc)
    corpus = tmp_path / "corpus" / "small"
    corpus.mkdir(parents=True)
    for split in ("train", "test"):
        DocBin(docs=docs).to_disk(corpus / f"{split}.spacy")
    for system, names in (("one", ["台湾"]), ("both", ["台湾", "臺灣"])):
        pipeline = spacy.blank("zh")
        ruler = pipeline.add_pipe("entity_ruler")
        ruler.add_patterns([{"label": "GPE", "pattern": [{"ORTH": c} for c in name]} for name in names])
        folder = tmp_path / "training" / "scripts" / f"small-{system}-0"
        folder.mkdir(parents=True)
        pipeline.to_disk(folder / "model-best")
    return tmp_path


def run(*arguments):
    app = typer.Typer()
    app.command()(study_scripts.main)
    return CliRunner().invoke(app, [*arguments, "--dataset", "small", "--seeds", "1"])


def test_who_knows_one_script_loses_in_the_other(project):
    out = project / "metrics" / "scripts.jsonl"
    done = run(str(out), "--system", "one", "--system", "both")
    assert done.exit_code == 0, done.output
    one, both = (json.loads(line)["scripts"] for line in out.read_text("utf8").splitlines())
    assert [one[how]["ents_f"] for how in study_scripts.CONVERSIONS] == [1, 0, 0]
    assert [both[how]["ents_f"] for how in study_scripts.CONVERSIONS] == [1, 1, 1]
    assert one["original"]["changed"] == 0 < one["characters"]["changed"] < 1
    assert "| small | one | 100.0 | 0.0 | 0.0 | -100.0 | -100.0 | 1 |" in done.output
    assert "| small | both | 100.0 | 100.0 | 100.0 | +0.0 | +0.0 | 1 |" in done.output


def test_a_pipeline_that_was_not_kept_is_named(project):
    done = run(str(project / "x.jsonl"), "--system", "other")
    assert done.exit_code == 1 and "small-other-0" in done.output and "--keep" in done.output
