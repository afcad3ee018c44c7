import json
import re

import pytest
from small_training import make_texts, save_config, save_docs
from typer.testing import CliRunner

from spacy_lexner.annotation import cross_fit
from spacy_lexner.annotation.errors import find_errors
from spacy_lexner.annotation.span_scores import ScoredText
from spacy_lexner.cli.app import lexner
from spacy_lexner.cli.data.errors import make_tasks
from spacy_lexner.formats.record import Entity
from spacy_lexner.report.gold import GoldText
from spacy_lexner.visualize.lattice import Mark

PEOPLE = [("王伟住在东山市", [(0, 2, "PER")]), ("今天李芳很忙", [(2, 4, "PER")])]


def run(*arguments):
    result = CliRunner().invoke(lexner, ["errors", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(re.sub("\x1b.*?m", "", result.output).split())


def corrupted():
    """Sentences, three of which are annotated wrongly."""
    texts = make_texts(150)
    numbers = [i for i, (_, entities) in enumerate(texts) if len(entities) == 2][:3]
    (first, (a, _)), (second, (c, d)), (third, (e, f)) = (texts[i] for i in numbers)
    texts[numbers[0]] = (first, [a])  # one is missing
    texts[numbers[1]] = (second, [(*c[:2], d[2]), d])  # the label of the other one
    texts[numbers[2]] = (third, [(e[0], e[1] - 1, e[2]), f])  # a border
    return texts, numbers


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("errors")
    texts, numbers = corrupted()
    config = save_config(folder / "config.cfg")
    corpus = save_docs(folder / "corpus.spacy", texts)
    code, printed = run(corpus, "-o", folder / "out", "-c", config, "-k", 2, "-n", 10)
    assert code == 0, printed
    return folder, numbers, printed


def test_wrong_annotation_comes_first(found):
    folder, numbers, printed = found
    lines = [json.loads(line) for line in (folder / "out" / "findings.jsonl").read_text("utf8").splitlines()]
    first = {line["number"]: line["kind"] for line in lines[:6]}
    assert set(numbers) <= set(first)
    assert [first[number] for number in numbers] == ["missing", "type", "boundary"]
    assert "probable errors" in printed and "of 150 texts" in printed


def test_drafts_have_the_errors_put_right(found):
    folder, numbers, _ = found
    drafts = [json.loads(line) for line in (folder / "out" / "drafts.jsonl").read_text("utf8").splitlines()]
    by_number = {draft["meta"]["number"]: draft for draft in drafts}
    right = make_texts(150)
    for number in numbers:
        spans = [(span["start"], span["end"], span["label"]) for span in by_number[number]["spans"]]
        assert spans == right[number][1]
    assert len(drafts) <= 10 and drafts[0]["meta"]["rank"] == 1 and drafts[0]["meta"]["errors"]


def test_what_is_done_is_not_done_again(found, monkeypatch):
    folder, *_ = found

    def refuse(*arguments, **settings):
        raise AssertionError("trained again")

    before = (folder / "out" / "findings.jsonl").read_bytes()
    monkeypatch.setattr(cross_fit, "train_once", refuse)
    code, _ = run(folder / "corpus.spacy", "-o", folder / "out", "-c", folder / "config.cfg", "-k", 2)
    assert code == 0 and (folder / "out" / "findings.jsonl").read_bytes() == before


def test_one_model_for_other_texts(found, tmp_path):
    folder, *_ = found
    model = folder / "out" / "fold-1" / "training" / "model-best"
    corpus = save_docs(tmp_path / "other.spacy", make_texts(20, seed=7))
    code, printed = run(corpus, "-o", tmp_path / "out", "-m", model, "--to", "label-studio")
    assert code == 0, printed
    assert (tmp_path / "out" / "drafts.json").is_file() and (tmp_path / "out" / "scores.jsonl").is_file()


def test_labels_that_the_model_does_not_know_are_not_judged(found, tmp_path):
    model = found[0] / "out" / "fold-1" / "training" / "model-best"
    texts = [(text, [(start, end, "PERSON") for start, end, label in ents if label == "PER"]) for text, ents in PEOPLE]
    corpus = save_docs(tmp_path / "people.spacy", texts)
    code, printed = run(corpus, "-o", tmp_path / "out", "-m", model)
    assert code == 0 and "2 entities were not judged: the model does not know their labels PERSON 2" in printed
    findings = [json.loads(line) for line in (tmp_path / "out" / "findings.jsonl").read_text("utf8").splitlines()]
    assert all(each["annotated"] is None and each["proposed"]["label"] != "PER" for each in findings)
    for draft in map(json.loads, (tmp_path / "out" / "drafts.jsonl").read_text("utf8").splitlines()):
        spans = [(span["start"], span["end"], span["label"]) for span in draft["spans"]]
        assert set(texts[draft["meta"]["number"]][1]) <= set(spans)


def test_a_label_in_one_part_only_is_not_judged(found, tmp_path):
    corpus = save_docs(tmp_path / "rare.spacy", [("红山市的天气好", [(0, 1, "COLOUR")]), *make_texts(30)])
    arguments = ["-c", found[0] / "config.cfg", "-k", 2, "--training.max_steps", 1]
    for _ in range(2):
        code, printed = run(corpus, "-o", tmp_path / "out", *arguments)
        assert code == 0 and "1 entities were not judged: the model does not know their labels COLOUR 1" in printed
        assert "COLOUR 红" not in printed


def test_notes_of_copies_that_differ_change_no_draft():
    text, mark = "南京市长江大桥很长", Mark(0, 3, "GPE")
    gold = [GoldText(text, [mark], [])] * 3 + [GoldText(text, [], [])]
    own = ScoredText([mark._replace(score=0.95)], [mark._replace(score=0.95)])
    tasks = sorted(make_tasks(gold, find_errors(gold, [own] * 4), 10), key=lambda task: task.notes["number"])
    assert [task.record.entities for task in tasks] == [[Entity(0, 3, "GPE")]] * 4
    assert [task.notes["errors"] for task in tasks] == [
        *[["copies differ: GPE 南京市 → nothing"]] * 3,
        ["missing: nothing → GPE 南京市"],
    ]


def test_parts_are_not_written_among_the_texts(tmp_path):
    """A later run, or a training, would read them again."""
    save_docs(tmp_path / "texts.spacy", make_texts(20))
    code, printed = run(tmp_path, "-o", tmp_path / "errors")
    assert code == 1 and "Choose a folder outside of it" in printed and not (tmp_path / "errors").exists()


def test_drafts_for_brat_are_never_overwritten(found):
    folder, _, _ = found
    arguments = ["-o", folder / "out", "-c", folder / "config.cfg", "-k", 2, "--to", "brat", "-n", 3]
    drafts = folder / "out" / "drafts"
    for _ in range(2):
        code, printed = run(folder / "corpus.spacy", *arguments)
        assert code == 0 and f"{drafts}: 3 texts" in printed and len(list(drafts.glob("*.ann"))) == 3
        code, printed = run(folder / "corpus.spacy", *arguments)
        assert code == 1 and f"{drafts} holds drafts that may have been corrected" in printed
        drafts.rename(folder / f"corrected-{len(list(folder.iterdir()))}")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["{corpus}", "-o", "{out}", "--to", "excel"], "Unknown format to write: 'excel'"),
        (["{corpus}", "-o", "{out}", "-k", "2", "--offsets", "bytes"], "offsets is 'bytes'"),
        (["{corpus}", "-o", "{out}", "-m", "x", "--training.max_steps", "3"], "leave out --training.max_steps 3, or"),
        (["{corpus}", "-o", "{out}", "-m", "x", "-c", "flat", "-k", "3", "--seed", "1"], "--config --folds --seed, or"),
        (["{corpus}", "-o", "{out}", "-k", "90"], "cannot be divided into 90 parts"),
        (["{empty}", "-o", "{out}"], "no text has an entity"),
        (["{corpus}", "-o", "{out}", "-m", "blank:zh"], "No component of the pipeline (empty) has labels"),
        (["{out}", "-o", "{out}"], "No .spacy file"),
    ],
)
def test_bad_input(found, tmp_path, arguments, message):
    empty = save_docs(tmp_path / "empty.spacy", [("没有人来", [])])
    places = {"corpus": found[0] / "corpus.spacy", "out": tmp_path / "out", "empty": empty}
    code, printed = run(*(argument.format(**places) for argument in arguments))
    assert code == 1 and message in printed
    assert not list(places["out"].glob("fold-*")), "before training"
