from shutil import copytree

import pytest
import spacy
import srsly
from small_ner import blank, train
from small_training import make_docs, make_texts, save_config, save_docs
from spacy.tokens import DocBin
from spacy.training import Example
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner
from spacy_lexner.cli.model.make_config import complete, read_base
from spacy_lexner.formats.spacy_file import read_all, read_docs
from spacy_lexner.training.runs import set_values
from spacy_lexner.weak import distil as distil_module
from spacy_lexner.weak.distil import distil

TEXTS = [text for text, _ in make_texts(120)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("distil")
    nlp = blank()
    train(nlp, [Example(nlp.make_doc(doc.text), doc) for doc in make_docs(make_texts(60))], steps=20)
    nlp.to_disk(folder / "teacher")
    save_config(folder / "config.cfg", training__max_steps=30, training__eval_frequency=15)
    (folder / "texts.txt").write_text("\n".join(TEXTS), "utf8")
    return folder


@pytest.fixture
def config(files):
    return complete(read_base(str(files / "config.cfg")))


def test_a_student_finds_what_its_teacher_finds(files, config, tmp_path, monkeypatch):
    student = spacy.load(distil(files / "teacher", TEXTS, config, tmp_path))
    teacher = spacy.load(files / "teacher")
    assert student.get_pipe("lex_ner").labels == teacher.get_pipe("lex_ner").labels
    assert student.config["training"]["before_update"] is None
    dev = list(read_docs(tmp_path / "texts" / "dev.spacy"))
    taught = list(read_docs(tmp_path / "texts" / "train" / "0000.spacy"))
    assert not any(doc.has_annotation("ENT_IOB") for doc in taught) and any(doc.ents for doc in dev)
    same = [
        [(ent.text, ent.label_) for ent in student(text).ents] == [(ent.text, ent.label_) for ent in teacher(text).ents]
        for text, _ in make_texts(40, seed=8)
    ]
    assert sum(same) / len(same) > 0.8

    def refuse(*arguments, **settings):
        raise AssertionError("learned again")

    monkeypatch.setattr("spacy_lexner.training.runs.train", refuse)
    monkeypatch.setattr(distil_module, "_write_texts", refuse)
    distil(files / "teacher", TEXTS, config, tmp_path)


def test_the_command(files, tmp_path):
    labelled = save_docs(tmp_path / "labelled.spacy", make_texts(10, seed=3))
    dev = save_docs(tmp_path / "dev.spacy", make_texts(40, seed=4))
    arguments = [files / "teacher", files / "texts.txt", tmp_path / "out", "-c", files / "config.cfg", "--dev", dev]
    options = ["--labelled", labelled, "--skip-shared"]
    options += ["--set", "training.max_steps=2", "--set", "training.eval_frequency=1"]
    result = CliRunner().invoke(lexner, ["distil", *map(str, [*arguments, *options])])
    assert result.exit_code == 0, result.output
    assert spacy.load(tmp_path / "out" / "model").get_pipe("lex_ner").labels == ("LOC", "PER")
    arguments[2:] = [tmp_path / "inside", "--labelled", tmp_path]  # a second run would learn from what this one writes
    result = CliRunner().invoke(lexner, ["distil", *map(str, arguments)])
    assert result.exit_code == 1 and "all files of which are read" in " ".join(result.output.split())


def test_a_teacher_that_is_a_package(files, tmp_path, monkeypatch):
    meta = srsly.read_json(files / "teacher" / "meta.json")
    place = tmp_path / "site" / "zh_teacher"
    copytree(files / "teacher", place / f"{meta['lang']}_{meta['name']}-{meta['version']}")
    srsly.write_json(place / "meta.json", meta)
    (place / "__init__.py").write_text(
        "from spacy.util import load_model_from_init_py\n\n"
        "def load(**options):\n    return load_model_from_init_py(__file__, **options)\n"
    )
    (tmp_path / "site" / "zh_teacher-0.0.0.dist-info").mkdir()
    (tmp_path / "site" / "zh_teacher-0.0.0.dist-info" / "METADATA").write_text("Name: zh_teacher\nVersion: 0.0.0\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    arguments = ["zh_teacher", files / "texts.txt", tmp_path / "out", "-c", files / "config.cfg"]
    options = ["--set", "training.max_steps=1", "--set", "training.eval_frequency=1"]
    result = CliRunner().invoke(lexner, ["distil", *map(str, [*arguments, *options])])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "model").is_dir()


@pytest.mark.parametrize("changed", ["texts", "limit", "labelled", "teacher"])
def test_changed_inputs_are_refused(files, tmp_path, changed):
    teacher, texts, out = tmp_path / "teacher", tmp_path / "texts.txt", tmp_path / "out"
    copytree(files / "teacher", teacher)
    texts.write_text("\n".join(TEXTS), "utf8")
    labelled = save_docs(tmp_path / "labelled.spacy", make_texts(10, seed=3))
    command = ["distil", teacher, texts, out, "-c", files / "config.cfg", "-l", labelled]
    command += ["--set", "training.max_steps=2", "--set", "training.eval_frequency=1"]

    def run(*options):
        result = CliRunner().invoke(lexner, [str(argument) for argument in [*command, *options]])
        return result.exit_code, " ".join(result.output.split())

    assert run() == run()
    if changed == "texts":
        texts.write_text("\n".join(TEXTS[:60]), "utf8")
    elif changed == "labelled":
        save_docs(labelled, make_texts(20, seed=4))
    elif changed == "teacher":
        nlp = spacy.load(teacher)
        nlp.get_pipe("lex_ner").cfg["threshold"] = 0.4
        nlp.to_disk(teacher)
    code, printed = run(*(["--limit", 60] if changed == "limit" else []))
    assert code == 1 and "holds a run with another teacher or lexicon, other texts or other settings" in printed


NOTHING = ["没有人来", "没有人去"]


@pytest.mark.parametrize(
    "texts, message",
    [
        ([], "no text to learn from"),
        (NOTHING, "finds no entity"),
        (NOTHING[:1], "The only text, '没有人来', would score the student.*--dev"),
    ],
)
def test_bad_texts(files, config, tmp_path, texts, message):
    with pytest.raises(ValueError, match=message):
        distil(files / "teacher", texts, config, tmp_path)
    with pytest.raises(ValueError, match="finds no entity"):  # other settings, as nothing is written yet
        distil(files / "teacher", NOTHING, config, tmp_path, seed=1)


@pytest.mark.parametrize("option", ["dev", "labelled"])
def test_labels_that_the_teacher_lacks(files, config, tmp_path, option):
    path = save_docs(tmp_path / "own.spacy", [("红的花", [(0, 1, "COLOUR"), (2, 3, "PLANT")])])
    with pytest.raises(ValueError, match=r"own\.spacy has the labels COLOUR, PLANT, which .* it has LOC, PER"):
        distil(files / "teacher", TEXTS, config, tmp_path / "out", **{option: path})
    assert not (tmp_path / "out").exists()


def test_texts_without_entities_cannot_score_the_student(files, config, tmp_path):
    dev = save_docs(tmp_path / "dev.spacy", [(text, []) for text in NOTHING])
    with pytest.raises(ValueError, match=r"dev\.spacy: no entities in the 2 texts to score models on"):
        distil(files / "teacher", TEXTS, config, tmp_path / "out", dev=dev)
    assert not (tmp_path / "out").exists()


def test_texts_that_score_the_student(files, config, tmp_path):
    texts = list({text: (text, ents) for text, ents in make_texts(60, seed=5) if ents}.values())
    shared, own = texts[:12], texts[12:24]
    dev = save_docs(tmp_path / "dev.spacy", shared)
    labelled = save_docs(tmp_path / "labelled.spacy", [*own, shared[0]])
    teacher, raw, out = files / "teacher", [text for text, _ in own], tmp_path / "out"
    with pytest.raises(ValueError, match=r"1 of the 13 texts of .*labelled\.spacy overlap .*dev\.spacy.*--skip-shared"):
        distil(teacher, raw, config, out, dev=dev, labelled=labelled)
    with pytest.raises(ValueError, match=f"The text '{shared[1][0]}' overlaps .*--skip-shared"):
        distil(teacher, [*raw, shared[1][0]], config, out, dev=dev)
    assert not (out / "training").exists()
    config = set_values(config, {"training.max_steps": 1, "training.eval_frequency": 1})
    distil(teacher, [*raw, shared[1][0]], config, out, dev=dev, labelled=labelled, skip_shared=True)
    assert sorted(doc.text for doc in read_all(out / "texts" / "train")) == sorted(2 * raw)


def test_annotated_texts_to_learn_from_do_not_score_the_student(files, config, tmp_path):
    texts = list({text: (text, ents) for text, ents in make_texts(60, seed=5) if ents}.values())[:20]
    raw, out = [text for text, _ in texts], tmp_path / "out"
    config = set_values(config, {"training.max_steps": 1, "training.eval_frequency": 1})
    labelled = save_docs(tmp_path / "labelled.spacy", texts[:15])
    distil(files / "teacher", raw, config, out, labelled=labelled)
    dev = {doc.text for doc in read_docs(out / "texts" / "dev.spacy")}
    taught = [doc.text for doc in read_all(out / "texts" / "train")]
    assert len(dev) == 2 and dev.isdisjoint(taught) and sorted({*dev, *taught}) == sorted(raw)
    with pytest.raises(ValueError, match=r"All texts overlap the annotated ones to learn from.*--dev"):
        distil(files / "teacher", raw[:15], config, tmp_path / "other", labelled=labelled)


def test_texts_that_no_run_has_written(files, config, tmp_path):
    (tmp_path / "texts").mkdir()
    with pytest.raises(ValueError, match=r"holds texts, but no settings\.json"):
        distil(files / "teacher", TEXTS, config, tmp_path)


def test_another_seed_in_the_config(files, config, tmp_path):
    config["training"]["seed"] = 7
    with pytest.raises(ValueError, match="--seed 7"):
        distil(files / "teacher", TEXTS, config, tmp_path / "out")


@pytest.mark.parametrize("option", ["dev", "labelled"])
def test_annotated_texts_need_annotation(files, config, tmp_path, option):
    path = tmp_path / "raw.spacy"
    DocBin(docs=[spacy.blank("zh").make_doc("南京")]).to_disk(path)
    with pytest.raises(ValueError, match="no text is annotated with entities"):
        distil(files / "teacher", TEXTS, config, tmp_path / "out", **{option: path})
