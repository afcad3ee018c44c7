import pytest
import spacy
from small_ner import TEXTS, blank, scores, train
from spacy.cli.find_threshold import find_threshold
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_lexner.cli.app import lexner


def run(*arguments):
    result = CliRunner().invoke(lexner, ["calibrate", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


def save(nlp, path, texts):
    docs = DocBin(store_user_data=False)
    for text, entities in texts:
        doc = nlp.make_doc(text)
        doc.set_ents([doc.char_span(*entity) for entity in entities])
        docs.add(doc)
    docs.to_disk(path)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    nlp = blank()
    train(nlp)
    nlp.to_disk(folder / "model")
    save(nlp, folder / "dev.spacy", [*TEXTS, ("张三和李四在上海", [(0, 2, "PER"), (6, 8, "LOC")])] * 6)
    return folder


def test_a_calibrated_pipeline(model, tmp_path):
    code, output = run(model / "model", model / "dev.spacy", "-o", tmp_path / "out", "--min-examples", 20)
    assert code == 0, output
    assert "temperature" in output and "(shared)" in output and "ECE before" in output and "by chance" in output
    before, after = spacy.load(model / "model"), spacy.load(tmp_path / "out")
    calibration = after.get_pipe("lex_ner").calibration
    assert "PER" in calibration.labels
    text = TEXTS[0][0]
    assert [ent.text for ent in after(text).ents] == [ent.text for ent in before(text).ents]
    expected = [calibration(ent._.lex_score, ent.label_) for ent in before(text).ents]
    assert scores(after(text)) == pytest.approx(expected)
    assert run(model / "model", model / "dev.spacy", "-o", tmp_path / "out")[0] == 1
    assert run(tmp_path / "out", model / "dev.spacy", "-o", tmp_path / "out", "--force")[0] == 0


def test_nothing_is_saved_without_an_output(model):
    before = sorted(path for path in model.rglob("*"))
    code, output = run(model / "model", model / "dev.spacy", "--folds", 3)
    assert code == 0 and "Nothing was saved" in output
    assert sorted(path for path in model.rglob("*")) == before


def test_thresholds_are_saved_and_find_threshold_works(model, tmp_path):
    options = ["-o", tmp_path / "out", "--thresholds", "--min-examples", 5]
    assert run(model / "model", model / "dev.spacy", *options)[0] == 0
    nlp = spacy.load(tmp_path / "out")
    thresholds = nlp.get_pipe("lex_ner").cfg["threshold"]
    assert set(thresholds) >= {"PER", "LOC"}
    assert nlp.config["components"]["lex_ner"]["threshold"] == pytest.approx(thresholds)
    for folder in (model / "model", tmp_path / "out"):
        best, score, tried = find_threshold(folder, model / "dev.spacy", "lex_ner", "threshold", "ents_f", n_trials=3)
        assert tried[1.0] == 0 and score == tried[best] > 0.5
    _, _, tried = find_threshold(
        tmp_path / "out", model / "dev.spacy", "lex_ner", "threshold.PER", "ents_f", n_trials=3
    )
    assert 0 < tried[1.0] < tried[0.0]


@pytest.mark.parametrize(("threshold", "kept"), [(0.5, 0.5), ({"PER": 0.9}, 0.0)])
def test_a_number_as_threshold_stays(model, tmp_path, threshold, kept):
    nlp = spacy.load(model / "model")
    nlp.get_pipe("lex_ner").set_confidence(None, threshold)
    nlp.to_disk(tmp_path / "in")
    code, output = run(tmp_path / "in", model / "dev.spacy", "-o", tmp_path / "out")
    assert code == 0 and ("--thresholds chooses new ones" in output) == (threshold != kept)
    after = spacy.load(tmp_path / "out")
    assert after.get_pipe("lex_ner").cfg["threshold"] == after.config["components"]["lex_ner"]["threshold"] == kept


def test_what_cannot_be_calibrated(model, tmp_path):
    nlp = spacy.load(model / "model")
    empty = save(nlp, tmp_path / "empty.spacy", [])
    code, output = run(model / "model", empty)
    assert code == 1 and "Nothing was calibrated" in output and "no text is annotated" in output
    nothing = save(nlp, tmp_path / "nothing.spacy", [("今天天气好", []), ("天气好", [])])
    code, output = run(model / "model", nothing)
    assert code == 1 and "nothing to learn from" in output
    spacy.blank("zh").to_disk(tmp_path / "blank")
    code, output = run(tmp_path / "blank", model / "dev.spacy")
    assert code == 1 and "has 0 lex_ner" in output
    code, output = run(model / "model", nothing, "-o", tmp_path, "--force")
    assert code == 1 and "nothing.spacy, which is read" in output and nothing.is_file()
    assert run(tmp_path / "none", model / "dev.spacy")[0] == 1
    assert run(model / "model", tmp_path / "none.spacy")[0] == 1
    code, output = run(model / "model", model / "dev.spacy", "-n", "ner")
    assert code == 1 and "no lex_ner called 'ner'" in output


def test_one_label(tmp_path):
    texts = [(text, [entity for entity in entities if entity[2] == "PER"]) for text, entities in TEXTS]
    nlp = blank()
    examples = [spacy.training.Example.from_dict(nlp.make_doc(t), {"entities": e}) for t, e in texts]
    train(nlp, examples)
    nlp.to_disk(tmp_path / "model")
    code, output = run(tmp_path / "model", save(nlp, tmp_path / "dev.spacy", texts * 15))
    assert code == 0 and "PER" in output


def test_help_has_an_example():
    code, output = run("--help")
    assert code == 0 and "python -m spacy lexner calibrate training/model-best" in output
