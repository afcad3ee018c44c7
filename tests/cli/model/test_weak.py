import re
from pathlib import Path

import pytest
import spacy
import srsly
from small_training import PLACES, make_texts, save_config, save_docs
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.cli.model.weak import print_labels
from spacy_lexner.formats.spacy_file import read_all
from spacy_lexner.weak.dictionary import Dictionary


def run(*arguments):
    result = CliRunner().invoke(lexner, ["weak", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(re.sub("\x1b.*?m", "", result.output).split())


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (folder / "words.tsv").write_text("".join(f"{place}\tforce\tLOC\n" for place in PLACES[::2]), "utf8")
    (folder / "plain.txt").write_text("".join(f"{place}\n" for place in PLACES), "utf8")
    (folder / "texts.txt").write_text("\n".join(text for text, _ in make_texts(60)), "utf8")
    (folder / "others.txt").write_text("今天\n没有人\n", "utf8")
    save_docs(
        folder / "dev.spacy", [(text, [e for e in ents if e[2] == "LOC"]) for text, ents in make_texts(30, seed=5)]
    )
    save_docs(folder / "people.spacy", make_texts(30, seed=5))
    save_config(folder / "config.cfg", training__max_steps=4, training__eval_frequency=2)
    return folder


def test_a_pipeline_of_words_and_texts(files, tmp_path):
    options = ["-c", files / "config.cfg", "--rounds", 1, "--other-words", files / "others.txt", "--negatives", 1.5]
    words = tmp_path / "words.tsv"
    words.write_text("".join(f"{place}\tLOC\n" for place in [*PLACES[::2], "二  十"]), "utf8")
    arguments = [words, files / "texts.txt", files / "texts.txt", tmp_path / "out", *options]
    code, printed = run(*arguments, "--held-out", 0.3, "--set", "training.max_steps=2")
    assert code == 0, printed
    assert "60 texts with" not in printed  # equal ones count once
    assert "judged by words of the dictionary" in printed and (tmp_path / "out" / "report.html").is_file()
    assert spacy.load(tmp_path / "out" / "model").get_pipe("lex_ner").labels == ("LOC",)
    assert f"words.tsv: {len(PLACES[::2])} words labelled LOC ({len(PLACES[::2])})" in printed
    assert f"words.tsv:{len(PLACES[::2]) + 1}" in printed  # the invalid word
    code, printed = run(*arguments, "--held-out", 0.4)
    assert code == 1 and "holds a run with another dictionary" in printed


def test_texts_like_given_ones(files, tmp_path):
    like, archive = tmp_path / "like.txt", tmp_path / "archive.txt"
    texts = [text for text, _ in make_texts(120, seed=1)]
    like.write_text("\n".join(texts[:60]), "utf8")
    archive.write_text("\n".join([*texts[60:], *["决定发展经济建设国家"] * 40]), "utf8")
    options = ["-c", files / "config.cfg", "--folds", 0, "--rounds", 0, "--held-out", 0.3, "--like", like]
    arguments = [files / "words.tsv", archive, tmp_path / "out", *options]
    code, printed = run(*arguments)
    assert code == 0, printed
    chosen = re.search(r"(\d+) of 100 texts are like the 60 of", printed)
    assert chosen and 0 < int(chosen[1]) < 60
    learned = {doc.text for doc in read_all(tmp_path / "out" / "labels" / "train")}
    assert set(texts[:60]) <= learned and "决定发展经济建设国家" not in learned
    assert run(*arguments)[0] == 0  # once more, without reading the texts
    like.write_text(texts[0], "utf8")
    code, printed = run(*arguments)
    assert code == 1 and "holds a run with another dictionary" in printed


def test_a_pipeline_that_is_worse_than_matching(files, tmp_path):
    options = ["-c", files / "config.cfg", "--folds", 0, "--rounds", 0, "--dev", files / "dev.spacy", "--skip-shared"]
    code, printed = run(files / "words.tsv", files / "texts.txt", tmp_path / "out", *options)
    matching = srsly.read_json(tmp_path / "out" / "report.json")["matching"]
    assert code == 0 and matching > 0.5 and f"matching {100 * matching:.1f}" in printed
    assert "The pipeline is no better than matching the dictionary" in printed


def test_changed_other_words_are_refused(files, tmp_path):
    others = tmp_path / "others.txt"
    others.write_text("今天\n没有人\n", "utf8")
    options = ["-c", files / "config.cfg", "--folds", 0, "--rounds", 0, "--held-out", 0.3, "--other-words", others]
    arguments = [files / "words.tsv", files / "texts.txt", tmp_path / "out", *options]
    assert [run(*arguments)[0] for _ in range(2)] == [0, 0]
    others.write_text("今天\n", "utf8")
    code, printed = run(*arguments)
    assert code == 1 and "holds a run with another dictionary" in printed


def test_only_the_most_frequent_labels_are_printed(capsys):
    labels = {**{f"词{i}": (f"L{i}",) for i in range(15)}, "南京市": ("L3", "GPE")}
    print_labels(Path("words.csv"), Dictionary(labels, set()))
    assert "words.csv: 16 words labelled L3 (2), L0 (1)" in (printed := capsys.readouterr().out)
    assert "and 6 other labels" in printed


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["{files}/plain.txt", "{files}/texts.txt", "{out}"], "no word has a label"),
        (["{files}/none.tsv", "{files}/texts.txt", "{out}"], "no such dictionary"),
        (["{files}/words.tsv", "{files}/none.txt", "{out}"], "none.txt"),
        (["{files}/words.tsv", "{files}/texts.txt", "{out}", "--upper", "0.01"], "expected 0 < lower < upper < 1"),
        (["{files}/words.tsv", "{files}/texts.txt", "{out}", "--set", "paths"], "expected NAME=VALUE"),
        (["{files}/words.tsv", "{files}/texts.txt", "{out}", "--dev", "{files}/people.spacy"], "the labels PER"),
        (["{files}/words.tsv", "{files}/texts.txt", "{out}", "-c", "no_such"], "There is no base no_such"),
        (["{files}/words.tsv", "{files}/texts.txt", "{out}", "--set", "paths.lexcon=x"], "Did you mean paths.lexicon?"),
        (["{files}/words.tsv", "{files}", "{files}/out"], "all files of which are read"),
        (["{files}/words.tsv", "{files}/texts.txt", "{files}/out", "--labelled", "{files}"], "files of which are read"),
    ],
)
def test_bad_input(files, tmp_path, arguments, message):
    code, printed = run(*(argument.format(files=files, out=tmp_path / "out") for argument in arguments))
    assert code == 1 and message in printed
