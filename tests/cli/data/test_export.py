import json
import re

import pytest
import spacy
from spacy.tokens import DocBin, Span
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.formats.write import WRITERS


def run(command, *arguments):
    result = CliRunner().invoke(lexner, [command, *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(re.sub("\x1b.*?m", "", result.output).split())


@pytest.fixture
def corpus(tmp_path):
    """Two texts with emoji, one with overlapping spans."""
    nlp = spacy.blank("zh")
    first, second = nlp("😀在南京市"), nlp("没有😀")
    first.set_ents([Span(first, 2, 4, "GPE")])
    second.set_ents([])
    first.spans["sc"] = [Span(first, 2, 5, "GPE"), Span(first, 1, 3, "X<y>")]
    second.spans["sc"] = []
    DocBin(docs=[first, second]).to_disk(tmp_path / "in.spacy")
    return tmp_path / "in.spacy"


def load(path, key=None):
    docs = DocBin().from_disk(path).get_docs(spacy.blank("zh").vocab)
    return [(doc.text, sorted((s.text, s.label_) for s in (doc.spans[key] if key else doc.ents))) for doc in docs]


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("key", [None, "sc"])
def test_there_and_back(corpus, tmp_path, format, key):
    spans = ["--spans-key", key] if key else []
    out, back = tmp_path / "tool" / ("out.yml" if "llm" in format else "out"), tmp_path / "back.spacy"
    code, printed = run("export", corpus, out, "--format", format, *spans)
    assert code == 0 and f"{'2' if key else '1'} entities" in printed
    code, printed = run("convert", out, back, *spans)
    assert code == 0, printed
    assert load(back, key) == load(corpus, key)


def test_label_studio_gets_a_configuration(corpus, tmp_path):
    code, _ = run("export", corpus, tmp_path / "out.json", "--format", "label-studio", "--spans-key", "sc")
    assert code == 0 and len(json.loads((tmp_path / "out.json").read_text("utf8"))) == 2
    assert 'value="X&lt;y&gt;"' in (tmp_path / "out.xml").read_text("utf8")


def test_offsets(corpus, tmp_path):
    run("export", corpus, tmp_path / "out.jsonl", "--format", "doccano", "--offsets", "code-points")
    line = json.loads((tmp_path / "out.jsonl").read_text("utf8").split("\n")[0])
    assert line["label"] == [[2, 4, "GPE"]]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["{folder}/none.spacy", "out"], "No .spacy file at"),
        (["{corpus}", "out", "--format", "xml"], "Unknown format to write: 'xml'"),
        (["{corpus}", "{folder}", "--format", "brat"], "Give a new folder"),
        (["{corpus}", "out", "--offsets", "bytes"], "expected one of auto, code-points"),
        (
            ["{corpus}", "out", "--spans-key", "ruler"],
            "No text has spans 'ruler' (--spans-key). The keys of the spans in the texts: 'sc'.",
        ),
    ],
)
def test_errors(corpus, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, printed = run("export", *(argument.format(corpus=corpus, folder=tmp_path) for argument in arguments))
    assert code == 1 and message in printed and not (tmp_path / "out").exists()


@pytest.mark.parametrize("format", ["prodigy", "brat"])
def test_a_damaged_file_leaves_nothing(corpus, tmp_path, format):
    folder = tmp_path / "corpus"
    folder.mkdir()
    corpus.rename(folder / "a.spacy")
    (folder / "b.spacy").write_bytes(b"damaged")
    code, printed = run("export", folder, tmp_path / "out", "--format", format)
    assert code == 1 and "Nothing was written" in printed and [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_help():
    code, printed = run("export", "--help")
    assert code == 0 and "python -m spacy lexner export corpus/train.spacy train.jsonl --format prodigy" in printed


def test_what_is_read_is_not_replaced(corpus, tmp_path):
    before = corpus.read_bytes()
    for source in (corpus, tmp_path):
        code, printed = run("export", source, corpus)
        assert code == 1 and "in.spacy is read, so it cannot be written" in printed
    assert corpus.read_bytes() == before


def test_the_tasks_and_the_configuration_have_two_names(corpus, tmp_path):
    code, printed = run("export", corpus, tmp_path / "out.xml", "--format", "label-studio")
    assert code == 1 and "Give a .json file" in printed and not (tmp_path / "out.xml").exists()
