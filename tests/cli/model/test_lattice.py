import re

import numpy as np
import pytest
import spacy
from spacy.training import Example
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.lexicon import Lexicon, LexiconEntry


def run(*arguments):
    result = CliRunner().invoke(lexner, ["lattice", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(re.sub("\x1b.*?m", "", result.output).split())


@pytest.fixture
def model(tmp_path):
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["南京市", "长江大桥"])
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "GPE", "pattern": "南京市"}])
    nlp.to_disk(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def lexicon(tmp_path):
    Lexicon.from_entries([LexiconEntry("大桥")]).save(tmp_path / "lexicon")
    return tmp_path / "lexicon"


def bars(path):
    return re.findall('class="lx-word"[^>]*>(.*?)<', path.read_text("utf8"))


def test_a_model(model, tmp_path):
    code, output = run("南京市长江大桥", "--model", model, "--output", tmp_path / "out.html")
    assert code == 0 and output.endswith("out.html: 1 texts, 2 candidate words, 1 entities")
    assert bars(tmp_path / "out.html") == ["长江大桥", "南京市"]


def test_another_lexicon(model, lexicon, tmp_path):
    for source in (["--lexicon", lexicon], ["--lexicon", lexicon, "--model", model]):
        code, output = run("南京市长江大桥", *source, "-o", tmp_path / "out.svg", "--theme", "dark")
        assert code == 0 and "1 candidate words" in output
        assert bars(tmp_path / "out.svg") == ["大桥"] and "lx-dark" in (tmp_path / "out.svg").read_text("utf8")


def test_explained(model, tmp_path):
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["南京", "南京市"])
    nlp.add_pipe("lex_ner")
    example = Example.from_dict(nlp.make_doc("在南京市"), {"entities": [(1, 4, "GPE")]})
    optimizer = nlp.initialize(lambda: [example])
    for _ in range(40):
        nlp.update([example], sgd=optimizer)
    nlp.to_disk(tmp_path / "ner")
    code, _ = run("在南京市", "--model", tmp_path / "ner", "-o", tmp_path / "plain.html")
    assert code == 0 and "attention 0." in (tmp_path / "plain.html").read_text("utf8")
    code, _ = run("在南京市", "--model", tmp_path / "ner", "-o", tmp_path / "out.html", "--explain")
    assert code == 0 and "without it 南京市 GPE" in (tmp_path / "out.html").read_text("utf8")
    code, output = run("在南京市", "--model", model, "-o", tmp_path / "none.html", "--explain")
    assert code == 1 and "expected the name of a lex_ner" in output


def test_files_and_styles(model, tmp_path):
    (tmp_path / "texts.txt").write_text("南京市\n\n<b>长江大桥\n", "utf8")
    output = tmp_path / "new" / "out.html"
    arguments = ["你好", "--file", tmp_path / "texts.txt", "-m", model, "-o", output, "--style", "arcs"]
    assert run(*arguments)[0] == 0
    code, said = run("你好", "--file", tmp_path / "texts.txt", "-m", model, "-o", tmp_path / "out.svg")
    assert code == 0 and "out-1.svg to out-3.svg: 3 texts" in said and (tmp_path / "out-3.svg").exists()
    page = output.read_text("utf8")
    assert page.count("<svg ") == 3 and "&lt;b&gt;" in page and 'class="lx-arc"' in page and bars(output) == []


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--model", "blank:zh"], "Give a text to draw"),
        (["南京"], "Give a pipeline (--model)"),
        (["南京", "--model", "no_such_model"], "no_such_model"),
        (["南京", "--lexicon", "no_such_lexicon"], "no lexicon here"),
        (["南京", "--model", "blank:zh", "--style", "pie"], "style is 'pie'"),
        (["南京", "--model", "blank:zh", "--width", "9"], "width is 9"),
        (["南京", "--model", "blank:zh", "--spans-key", "sc"], "No text has spans 'sc'"),
        (["南京", "--model", "blank:zh", "--output", "out.png"], "expected .svg or .html"),
    ],
)
def test_errors(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, output = run(*arguments)
    assert code == 1 and message in output and not list(tmp_path.iterdir())


def test_a_lexicon_that_does_not_fit(tmp_path):
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words([LexiconEntry("南京", np.ones(3, "f4"))])
    nlp.add_pipe("lex_ner").add_label("GPE")
    nlp.initialize()
    nlp.to_disk(tmp_path / "model")
    Lexicon.from_entries([LexiconEntry("大桥", np.ones(4, "f4"))]).save(tmp_path / "lexicon")
    code, output = run("南京", "-m", tmp_path / "model", "-l", tmp_path / "lexicon", "-o", tmp_path / "out.svg")
    assert code == 1 and "vectors of 4 dimensions, but lex_ner was trained with 3" in output


def test_help():
    code, output = run("--help")
    assert code == 0 and "python -m spacy lexner lattice 南京市长江大桥 --model" in output
