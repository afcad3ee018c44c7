import json
import re

import pytest
from small_ner import TEXTS, blank, train
from spacy.training import Example
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner


def run(*arguments):
    result = CliRunner().invoke(lexner, ["rules", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(re.sub("\x1b.*?m", "", result.output).split())


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    nlp = blank()
    nlp.add_pipe("lex_matcher", first=True).add_words(["南京", "上海"])
    train(nlp, [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in TEXTS])
    folder = tmp_path_factory.mktemp("cli") / "model"
    nlp.to_disk(folder)
    return folder


@pytest.fixture
def files(tmp_path):
    (tmp_path / "old.tsv").write_text("南京\tforce\tLOC\n", "utf8")
    (tmp_path / "new.tsv").write_text("南京\tforbid\n天气\tforce\tORG\n", "utf8")
    (tmp_path / "wrong.tsv").write_text("南京\tforce\tCOLOUR\n", "utf8")
    (tmp_path / "tests.txt").write_text("李四去南京\n+ 南京 LOC\n\n天气好\n- 天气\n", "utf8")
    (tmp_path / "texts.txt").write_text("李四去南京\n今天天气好\n", "utf8")
    return tmp_path


def test_tests(files):
    assert run("test", files / "old.tsv", files / "tests.txt") == (0, "✔ 2 of 2 tests passed")
    code, printed = run("test", files / "new.tsv", files / "tests.txt")
    assert code == 1 and "tests.txt:1: 南京 is not LOC, but: nothing is found" in printed
    assert "天气 is ORG" in printed and "0 of 2 tests passed" in printed


def test_tests_with_a_model(model, files):
    assert run("test", files / "old.tsv", files / "tests.txt", "--model", model)[0] == 0
    code, printed = run("test", files / "new.tsv", files / "tests.txt", "--model", model, "--json")
    found = json.loads(printed)
    assert code == 1 and (found["tests"], found["failed"]) == (2, 2)


def test_the_model_alone_against_rules(model, files):
    code, printed = run("diff", model, files / "new.tsv", files / "texts.txt", "-o", files / "out" / "changes.jsonl")
    assert code == 1 and "- LOC 李四去[南京]" in printed and "+ ORG 今天[天气]好" in printed
    lines = [json.loads(line) for line in (files / "out" / "changes.jsonl").read_text("utf8").splitlines()]
    assert [line["words"] for line in lines] == [["南京"], ["天气"]]
    code, printed = run("diff", model, files / "new.tsv", files / "texts.txt", "-o", files / "out" / "changes.jsonl")
    assert code == 2 and "already exists" in printed


def test_two_dictionaries(model, files):
    assert run("diff", model, files / "old.tsv", files / "old.tsv", files / "texts.txt")[0] == 0
    code, printed = run("diff", model, files / "old.tsv", files / "new.tsv", files / "texts.txt", "--json")
    [lost, added] = json.loads(printed)["changes"]
    assert code == 1 and (lost["added"], added["added"]) == (False, True) and lost["before"] > 0.999


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["test", "{files}/none.tsv", "{files}/tests.txt"], "none.tsv"),
        (["test", "{files}/old.tsv", "{files}/old.tsv"], "has no expectations"),
        (["test", "{files}/old.tsv", "{files}/tests.txt", "-m", "blank:zh"], "no lex_ner"),
        (["diff", "{model}", "{files}/texts.txt"], "1 paths after MODEL"),
        (["diff", "{model}", "{files}/wrong.tsv", "{files}/texts.txt"], "COLOUR"),
        (["diff", "{model}", "{files}/none.tsv", "{files}/texts.txt"], "none.tsv"),
        (["diff", "blank:zh", "{files}/old.tsv", "{files}/texts.txt"], "no lex_ner"),
    ],
)
def test_what_cannot_be_read(model, files, arguments, message):
    code, printed = run(*(argument.format(model=model, files=files) for argument in arguments))
    assert code == 2 and message in printed
