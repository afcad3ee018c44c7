import pytest
import spacy
import srsly
from small_training import PLACES, SURNAMES, make_texts, save_config, save_docs
from spacy.tokens import DocBin

from spacy_lexner.cli.model.make_config import complete, read_base
from spacy_lexner.lexicon.entry import LexiconEntry, hash_word
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.training.runs import set_values
from spacy_lexner.weak import rounds as rounds_module
from spacy_lexner.weak.correct import correct
from spacy_lexner.weak.dictionary import Dictionary
from spacy_lexner.weak.doubt import Judgement, Reading, Verdict
from spacy_lexner.weak.path import learn
from spacy_lexner.weak.report import find_new_names, make_page
from spacy_lexner.weak.rounds import best
from spacy_lexner.weak.settings import Settings
from spacy_lexner.weak.texts import hold_out, label_texts

# Half of the names; the rest have to be learned.
HALF = Dictionary(
    {**{f"{a}{b}": ("PER",) for a in SURNAMES for b in "伟芳娜敏静"}, **dict.fromkeys(PLACES[::2], ("LOC",))}, set()
)
TEXTS = [text for text, _ in make_texts(200)]


@pytest.fixture(scope="session")
def config(tmp_path_factory):
    return complete(
        read_base(str(save_config(tmp_path_factory.mktemp("config") / "config.cfg", training__max_steps=60)))
    )


@pytest.fixture(scope="session")
def short(tmp_path_factory):
    """The config of a training of a few steps."""
    steps = {"training__max_steps": 4, "training__eval_frequency": 2}
    return complete(read_base(str(save_config(tmp_path_factory.mktemp("short") / "config.cfg", **steps))))


@pytest.fixture(scope="module")
def learned(config, tmp_path_factory):
    folder = tmp_path_factory.mktemp("weak")
    dev = save_docs(folder / "dev.spacy", make_texts(60, seed=5))
    labelled = save_docs(folder / "labelled.spacy", make_texts(10, seed=6))
    settings = Settings(folds=2, rounds=2, skip_shared=True)
    rounds = learn(HALF, TEXTS, config, folder / "out", dev=dev, labelled=labelled, settings=settings)
    return folder, rounds


def read(path):
    files = sorted(path.rglob("*.spacy")) if path.is_dir() else [path]
    return [doc for file in files for doc in DocBin().from_disk(file).get_docs(spacy.blank("zh").vocab)]


def scores(nlp, texts):
    gold = [(text, {(a, b, label) for a, b, label in ents}) for text, ents in texts]
    found = [{(e.start_char, e.end_char, e.label_) for e in nlp(text).ents} for text, _ in gold]
    right = sum(len(own & ents) for own, (_, ents) in zip(found, gold))
    return right / max(1, sum(map(len, found))), right / sum(len(ents) for _, ents in gold)


def test_names_beyond_the_dictionary_are_learned(learned):
    folder, rounds = learned
    new = make_texts(100, seed=11)
    precision, recall = scores(spacy.load(folder / "out" / "model"), new)
    names = [text[start:end] for text, entities in new for start, end, _ in entities]
    matching = sum(name in HALF.labels for name in names) / len(names)
    assert precision > 0.9 and recall > matching + 0.2
    assert best(rounds).score == max(each.score for each in rounds)


def test_every_step_leaves_files(learned):
    folder, rounds = learned
    out = folder / "out"
    assert read(out / "labels" / "train") and len(rounds) >= 2
    n_labelled = len(read(out / "round-0" / "texts" / "labelled.spacy"))
    assert 0 < n_labelled < 10  # some texts are also in dev
    [first, second, *_] = [read(out / f"round-{each.number}" / "texts") for each in rounds]
    assert not any(t.ent_iob == 2 for doc in first[:-n_labelled] for t in doc)  # those are annotated
    assert any(t.ent_iob == 2 for doc in second for t in doc) and len(first) == len(second)
    assert spacy.load(out / "model").get_pipe("lex_ner").calibration is not None
    figures = srsly.read_json(out / "report.json")
    assert [row["number"] for row in figures["rounds"]] == [each.number for each in rounds]
    assert set(figures["new"]) <= {"PER", "LOC"} and figures["judged_by"] == "annotated texts"
    assert 0 < figures["matching"] < best(rounds).score
    new = {row["name"] for row in figures["new"]["LOC"]}
    assert new and not new & set(HALF.labels)
    page = (out / "report.html").read_text("utf8")
    assert next(iter(new)) in page and "<h2" in page


def test_a_page_without_doubtful_words(learned):
    figures = srsly.read_json(learned[0] / "out" / "report.json")
    figures["labels"].update(doubtful=dict.fromkeys(figures["labels"]["doubtful"], 0), doubtful_words=[])
    page = make_page(figures)
    assert "No occurrence is doubtful." in page and "<p>." not in page and "occur most often" not in page


def test_the_report_lists_what_the_saved_pipeline_finds(learned):
    out = learned[0] / "out"
    words = correct(HALF, read(out / "round-0" / "texts" / "labelled.spacy"))
    texts = [doc.text for doc in read(out / "labels" / "train")]
    listed, found = srsly.read_json(out / "report.json")["new"], find_new_names(spacy.load(out / "model"), texts, words)
    assert list(listed) == list(found)
    for label, rows in found.items():
        assert [row["name"] for row in listed[label]] == [row["name"] for row in rows]
        assert [row["score"] for row in listed[label]] == pytest.approx([row["score"] for row in rows], abs=1e-4)


def test_the_same_call_does_nothing_again(learned, config, monkeypatch):
    folder, rounds = learned

    def refuse(*arguments, **settings):
        raise AssertionError("learned again")

    monkeypatch.setattr(rounds_module, "teach_files", refuse)
    monkeypatch.setattr("spacy_lexner.training.runs.train", refuse)
    files = {"dev": folder / "dev.spacy", "labelled": folder / "labelled.spacy"}
    settings = Settings(folds=2, rounds=2, skip_shared=True)
    assert learn(HALF, TEXTS, config, folder / "out", settings=settings, **files) == rounds
    with pytest.raises(ValueError, match="holds a run with another dictionary or lexicon"):
        learn(HALF, TEXTS, config, folder / "out", settings=settings._replace(seed=1), **files)


STEPS = ["label_texts", "train", "teach_files", "finish", "write_report"]
QUICK = Settings(folds=2, rounds=1, held_out=0.3)


@pytest.fixture(scope="module")
def whole(short, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return folder, learn(HALF, TEXTS[:60], short, folder, settings=QUICK)


@pytest.mark.parametrize("step", STEPS)
def test_an_interruption_in_any_step(whole, short, tmp_path, step):
    """Interrupted after a step has done its work, and restarted: the same pipeline as without interruption."""
    folder, rounds = whole
    places = {"train": "spacy_lexner.training.runs", "teach_files": "spacy_lexner.weak.rounds"}
    name = f"{places.get(step, 'spacy_lexner.weak.path')}.{step}"
    module, attribute = name.rsplit(".", 1)
    original = getattr(__import__(module, fromlist=[attribute]), attribute)

    def interrupted(*arguments, **values):
        done = original(*arguments, **values)
        if step == "teach_files":
            next(done)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            learn(HALF, TEXTS[:60], short, tmp_path, settings=QUICK)
    cut = learn(HALF, TEXTS[:60], short, tmp_path, settings=QUICK)
    assert [each.score for each in cut] == [each.score for each in rounds]
    models = [(run / "model" / "lex_ner" / "model").read_bytes() for run in (folder, tmp_path)]
    assert models[0] == models[1]


def test_held_out_words_judge_where_nothing_is_annotated(short, tmp_path):
    rounds = learn(HALF, TEXTS, short, tmp_path / "out", settings=Settings(folds=0, rounds=0, held_out=0.2))
    assert len(rounds) == 1
    held = {ent.text for doc in read(tmp_path / "out" / "labels" / "held.spacy") for ent in doc.ents}
    shown = {ent.text for doc in read(tmp_path / "out" / "round-0" / "texts") for ent in doc.ents}
    assert held and not held & shown
    assert spacy.load(tmp_path / "out" / "model").get_pipe("lex_ner").calibration is None


def test_a_fifth_of_the_labelled_texts_judges(short, tmp_path):
    labelled = save_docs(tmp_path / "labelled.spacy", [(f"{text}啊", ents) for text, ents in make_texts(50, seed=6)])
    out, settings = tmp_path / "out", Settings(folds=0, rounds=0, skip_shared=True)
    learn(HALF, TEXTS, short, out, labelled=labelled, settings=settings)
    judges, others = read(out / "dev.spacy"), read(out / "round-0" / "texts" / "labelled.spacy")
    assert len(others) > len(judges) and len(judges) + len(others) == 50
    assert not {doc.text for doc in judges} & {doc.text for doc in others}


def test_averaged_teachers(short, tmp_path):
    settings = Settings(folds=0, rounds=2, average=True)
    rounds = learn(HALF, TEXTS[:100], short, tmp_path / "out", settings=settings)
    assert len(rounds) >= 2


def test_a_single_label(short, tmp_path):
    places = Dictionary(dict.fromkeys(PLACES[::2], ("LOC",)), set())
    learn(places, TEXTS[:100], short, tmp_path / "out", settings=Settings(folds=0, rounds=0, held_out=0.3))
    assert spacy.load(tmp_path / "out" / "model").get_pipe("lex_ner").labels == ("LOC",)


@pytest.mark.parametrize(
    "dev, message",
    [
        ([("没有人", [])], "no entities in the 1 texts to score models on"),
        ([("王伟来了", [(0, 2, "COLOUR")])], "have the labels COLOUR, which no training data has"),
        ([(TEXTS[0] * 5, [(0, 2, "PER")])], "overlaps the annotated texts that score models"),
        ([(TEXTS[0], [(0, 2, "PER")])], "overlaps the annotated texts that score models"),
    ],
)
def test_bad_texts_to_judge_by(short, tmp_path, dev, message):
    file = save_docs(tmp_path / "dev.spacy", dev)
    with pytest.raises(ValueError, match=message):
        learn(HALF, [*TEXTS, TEXTS[0] * 5], short, tmp_path / "out", dev=file, settings=Settings())
    assert not (tmp_path / "out" / "labels").exists()


def test_labelled_texts_cannot_score_models(short, tmp_path):
    file = save_docs(tmp_path / "dev.spacy", make_texts(10))
    with pytest.raises(ValueError, match=r"10 of the 10 texts of .*dev\.spacy overlap"):
        learn(HALF, TEXTS, short, tmp_path / "out", dev=file, labelled=file)


@pytest.mark.parametrize("settings", [Settings(negatives=0.0), Settings(ratio=0.0)])
def test_a_wrong_guard_is_refused_before_anything_is_written(short, tmp_path, settings):
    with pytest.raises(ValueError, match="expected"):
        learn(HALF, TEXTS[:30], short, tmp_path / "out", settings=settings)
    assert not (tmp_path / "out").exists()


NO_ROUNDS = Settings(folds=0, rounds=0, held_out=0.3)


def test_no_held_out_word_occurs(short, tmp_path):
    with pytest.raises(ValueError, match="None of the held-out words occurs"):
        learn(HALF, TEXTS[:30], short, tmp_path / "out", settings=Settings(held_out=0.0))
    assert not (tmp_path / "out" / "words").exists()  # no model was trained
    assert learn(HALF, TEXTS[:30], short, tmp_path / "out", settings=NO_ROUNDS)


def test_all_held_out_words_are_improbable(short, tmp_path, monkeypatch):
    verdicts = [Verdict(word, 10, 0.0) for word in HALF.labels if word in hold_out(HALF, 0.3, 0)]
    monkeypatch.setattr("spacy_lexner.weak.path.WordTrial.run", lambda *arguments: Judgement(verdicts, []))
    with pytest.raises(ValueError, match="No held-out word in the texts is a probable entity"):
        learn(HALF, TEXTS[:60], short, tmp_path, settings=Settings(held_out=0.3))


def test_all_known_words_are_held_out(short, tmp_path, monkeypatch):
    few = Dictionary(dict.fromkeys(PLACES[:2], ("LOC",)))
    monkeypatch.setattr("spacy_lexner.weak.path.hold_out", lambda *arguments: frozenset(few.labels))
    with pytest.raises(ValueError, match="so there is nothing to learn from"):
        learn(few, TEXTS[:60], short, tmp_path, settings=NO_ROUNDS)
    assert not (tmp_path / "round-0").exists()  # no model was trained
    monkeypatch.undo()
    assert learn(HALF, TEXTS[:60], short, tmp_path, settings=NO_ROUNDS)  # in the same folder


def test_only_held_out_words_are_probable(short, tmp_path, monkeypatch):
    verdicts = [Verdict(word, 10, 0.0) for word in HALF.labels if word not in hold_out(HALF, 0.3, 0)]
    monkeypatch.setattr("spacy_lexner.weak.path.WordTrial.run", lambda *arguments: Judgement(verdicts, []))
    with pytest.raises(ValueError, match="No known word in the texts is a probable entity"):
        learn(HALF, TEXTS[:60], short, tmp_path, settings=Settings(held_out=0.3))


def test_parts_of_longer_entities_are_not_learned_and_not_judged(short, tmp_path, monkeypatch):
    held = hold_out(HALF, 0.3, 0)
    places = [(text, text.index(word), word) for text in TEXTS[:60] for word in HALF.labels if word in text]
    parts = [Reading(hash_word(text), at, at + len(word), word, 0.1, 0.8, text) for text, at, word in places[::2]]
    assert len({each.word in held for each in parts}) == 2
    monkeypatch.setattr("spacy_lexner.weak.path.WordTrial.run", lambda *arguments: Judgement([], parts))
    learn(HALF, TEXTS[:60], short, tmp_path, settings=Settings(rounds=0, held_out=0.3))
    before, found = (
        {
            (doc.text, ent.start_char)
            for file in ("train", "held.spacy")
            for doc in read(folder / file)
            for ent in doc.ents
        }
        for folder in (tmp_path / "labels", tmp_path / "words" / "labels")
    )
    assert before - found == {(text, at) for text, at, _ in places[::2]} & before and found < before
    assert read(tmp_path / "round-0/texts")
    page = (tmp_path / "report.html").read_text("utf8")
    assert "Words inside longer entities" in page and TEXTS[0] in page


@pytest.mark.parametrize("changed", ["dictionary", "lexicon"])
def test_another_dictionary_or_lexicon_is_refused(short, tmp_path, monkeypatch, changed):
    def interrupted(*arguments, **values):
        label_texts(*arguments, **values)
        raise KeyboardInterrupt

    folder, other = str(tmp_path / "lexicon"), HALF
    Lexicon.from_entries([LexiconEntry("北京")]).save(folder)
    reader = {"@readers": "spacy-lexner.LexiconFolder.v1", "path": folder}
    config = set_values(short, {"initialize.components.lex_matcher.lexicon": reader})
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("spacy_lexner.weak.path.label_texts", interrupted)
        learn(HALF, TEXTS[:30], config, tmp_path / "out", settings=NO_ROUNDS)
    if changed == "dictionary":
        other = Dictionary(dict.fromkeys(PLACES[1::2], ("LOC",)))
    else:
        Lexicon.from_entries([LexiconEntry("上海")]).save(folder, overwrite=True)
    with pytest.raises(ValueError, match="holds a run with another dictionary or lexicon"):
        learn(other, TEXTS[:30], config, tmp_path / "out", settings=NO_ROUNDS)


def test_labels_that_no_run_has_written(short, tmp_path):
    (tmp_path / "labels").mkdir()
    with pytest.raises(ValueError, match=r"holds labels, but no settings\.json"):
        learn(HALF, TEXTS[:30], short, tmp_path, settings=NO_ROUNDS)


def test_a_config_without_lex_ner(config, tmp_path):
    other = config.copy()
    other["nlp"]["pipeline"] = []
    with pytest.raises(ValueError, match="The config has 0 lex_ner"):
        learn(HALF, TEXTS[:30], other, tmp_path / "out", settings=Settings(held_out=0.5))
