import json
import re

import pytest
import spacy
from spacy.tokens import DocBin
from spacy.training import Example
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner


def run(*arguments):
    result = CliRunner().invoke(lexner, ["uncertain", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(re.sub("\x1b.*?m", "", result.output).split())


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["南京", "南京市", "长江"])
    nlp.add_pipe("lex_ner")
    gold = [("我在南京市", [(2, 5, "GPE")]), ("没有人", [])]
    examples = [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in gold]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(10):
        nlp.update(examples, sgd=optimizer)
    path = tmp_path_factory.mktemp("model") / "model"
    nlp.to_disk(path)
    return path


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "texts.txt").write_text("我在南京市\n\n😀在长江\n没有人\n我在南京市\n", "utf8")
    return tmp_path / "texts.txt"


def test_what_is_written(model, corpus, tmp_path):
    DocBin(docs=[spacy.blank("zh")("没有人")]).to_disk(tmp_path / "done.spacy")
    code, printed = run(model, corpus, "-n", 9, "-o", tmp_path / "next.jsonl", "--labelled", tmp_path / "done.spacy")
    assert code == 0 and "4 texts, 2 of them distinct and not labelled" in printed
    lines = [json.loads(line) for line in (tmp_path / "next.jsonl").read_text("utf8").splitlines()]
    assert sorted(line["text"] for line in lines) == ["我在南京市", "😀在长江"]
    assert [line["meta"]["rank"] for line in lines] == [1, 2] and all("answer" not in line for line in lines)
    assert all(set(line["meta"]) == {"rank", "novelty", "worth", "margin"} for line in lines)
    assert all({"start", "end", "label", "score"} <= set(span) for line in lines for span in line["spans"])


@pytest.mark.parametrize(
    "output, tool", [("x.json", "auto"), ("x", "auto"), ("x.jsonl", "doccano"), ("x.out", "label-studio")]
)
def test_every_tool(model, corpus, tmp_path, output, tool):
    code, printed = run(model, corpus, "-n", 2, "-o", tmp_path / output, "--to", tool)
    assert code == 0, printed
    assert (tmp_path / output).exists() and "2 texts" in printed


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["{model}", "{folder}/none.txt"], "No such file"),
        (["{model}", "{corpus}", "--labelled", "{corpus}"], "already labelled"),
        (["{model}", "{corpus}", "-o", "{folder}/x.csv"], "the suffix names no format"),
        (["{model}", "{corpus}", "--diversity", "2"], "diversity is 2.0"),
        (["blank:zh", "{corpus}"], "no lex_ner, only nothing"),
        (["no_such_model", "{corpus}"], "no_such_model"),
    ],
)
def test_errors(model, corpus, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, printed = run(*(argument.format(model=model, corpus=corpus, folder=tmp_path) for argument in arguments))
    assert code == 1 and message in printed and not list(tmp_path.glob("uncertain*"))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--diversity", "2"], "diversity is 2.0"),
        (["--offsets", "bytes"], "expected one of auto, code-points"),
        (["-o", "{folder}", "--to", "brat"], "exists and is not empty"),
        (["-o", "{folder}", "--to", "prodigy"], "is a folder. Give the file to write."),
        (["-o", "{folder}/x.txt", "--to", "spacy-llm"], "is '.txt'; expected .yml"),
    ],
)
def test_what_cannot_be_written_is_told_before_the_model_runs(corpus, tmp_path, arguments, message):
    code, printed = run("no_such_model", corpus, *(argument.format(folder=tmp_path) for argument in arguments))
    assert code == 1 and message in printed


def test_a_pipeline_without_a_lexicon(model, corpus, tmp_path):
    nlp = spacy.load(model)
    nlp.get_pipe("lex_matcher").remove_words(["南京", "南京市", "长江"])
    nlp.to_disk(tmp_path / "bare")
    code, printed = run(tmp_path / "bare", corpus, "-o", tmp_path / "next.jsonl")
    assert code == 0 and "No candidate words" in printed


def test_help():
    code, printed = run("--help")
    assert code == 0 and "python -m spacy lexner uncertain training/model-best news.txt -n 200" in printed


@pytest.mark.parametrize("option", [[], ["--labelled"]])
def test_what_is_read_is_not_replaced(model, corpus, tmp_path, option):
    before = corpus.read_text("utf8")
    other = tmp_path / "more.txt"
    other.write_text("他在长江\n", "utf8")
    texts = [corpus] if not option else [other, *option, corpus]
    code, printed = run(model, *texts, "-o", corpus, "--to", "prodigy")
    assert code == 1 and "is read, so it cannot be written" in printed and corpus.read_text("utf8") == before
