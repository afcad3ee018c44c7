"""Scores of a pipeline with predetermined predictions."""

import pytest
import small_spans
import spacy
import srsly
from evaluate import evaluate, main, mentions, percent, print_scores
from pipelines import read_examples
from spacy.tokens import DocBin
from spacy.training import Example

GOLD = [
    ("王明在南京", [(0, 2, "PER"), (3, 5, "GPE")]),
    ("李雷去南京市", [(0, 2, "PER"), (3, 6, "GPE")]),
    ("没有", []),
]


def make_doc(nlp, text, spans):
    doc = nlp.make_doc(text)
    doc.ents = [doc.char_span(start, end, label=label) for start, end, label in spans]
    return doc


@pytest.fixture
def nlp():
    nlp = spacy.blank("zh")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "PER", "pattern": "王明"}, {"label": "GPE", "pattern": "南京"}])
    return nlp


def examples(nlp):
    return [Example(nlp.make_doc(text), make_doc(nlp, text, spans)) for text, spans in GOLD]


def test_scores(nlp):
    scores = evaluate(nlp, examples(nlp), {"王明", "南京市"})
    assert (scores["ents_p"], scores["ents_r"]) == (2 / 3, 0.5)
    assert scores["ents_per_type"]["PER"]["p"] == 1.0
    assert (scores["recall_seen"], scores["recall_unseen"]) == (0.5, 0.5)
    assert (scores["n_seen"], scores["n_unseen"]) == (2, 2)


def test_suggestions():
    nlp = spacy.blank("zh")
    nlp.add_pipe("spancat", config={"suggester": {"@misc": "spacy.ngram_suggester.v1", "sizes": [1, 2]}})
    gold = examples(nlp)
    for example in gold:
        example.reference.spans["sc"] = example.reference.ents
    nlp.initialize(lambda: gold)
    scores = evaluate(nlp, gold, set())
    assert scores["suggested_r"] == 3 / 4  # all but the one of three characters
    assert scores["suggested_n"] == (2 * 5 - 1 + 2 * 6 - 1 + 2 * 2 - 1) / 13
    assert scores["spans_sc_f"] is not None


@pytest.fixture
def nested():
    nlp = small_spans.blank()
    small_spans.train(nlp)
    return nlp


def test_nested_entities(nested, capsys):
    gold = small_spans.examples(nested)
    scores = evaluate(nested, gold, {"南京", "上海"})
    assert (scores["n_seen"], scores["n_unseen"]) == (4, 5)
    found = scores["recall_seen"] * 4 + scores["recall_unseen"] * 5
    assert scores["spans_sc_r"] == pytest.approx(found / 9, rel=1e-9)
    assert mentions(gold) >= {"南京", "南京市", "长江大桥", "南京市长江大桥"}
    print_scores({"a": scores, "b": {**scores, "spans_sc_f": 0.123}})
    out = capsys.readouterr().out
    assert "9 entities, 5 of them unseen in training" in out and "12.3" in out and "suggested" in out
    assert out.count("GPE") == out.count("FAC") == out.count("ORG") == 2


def test_texts_without_annotated_spans(nested):
    text = "南京市长江大桥"
    scores = evaluate(nested, [Example(nested.make_doc(text), nested.make_doc(text))], set())
    assert scores["spans_sc_f"] is None and scores["suggested_r"] is None and scores["suggested_n"] > 0


def test_no_entity_of_a_kind_is_no_zero(nlp):
    scores = evaluate(nlp, examples(nlp), mentions(examples(nlp)))
    assert scores["recall_unseen"] is None
    assert percent(scores["recall_unseen"]) == "–"


def test_tables(nlp, capsys):
    scores = evaluate(nlp, examples(nlp), {"王明"})
    print_scores({"a": scores, "b": scores})
    out = capsys.readouterr().out
    assert "4 entities, 3 of them unseen in training" in out
    assert out.count("PER") == 2 and "66.7" in out


def test_corpus(nlp, tmp_path):
    DocBin(docs=[make_doc(nlp, text, spans) for text, spans in GOLD]).to_disk(tmp_path / "dev.spacy")
    read = read_examples(nlp, tmp_path / "dev.spacy")
    assert mentions(read) == {"王明", "南京", "李雷", "南京市"}
    assert not any(example.predicted.ents for example in read)


@pytest.mark.parametrize("made, message", [(False, "No trained pipeline"), (True, "No corpus")])
def test_missing_files(nlp, tmp_path, capsys, made, message):
    if made:
        nlp.to_disk(tmp_path / "model")
    with pytest.raises(SystemExit):
        main(tmp_path / "test.spacy", [f"m={tmp_path / 'model'}"], tmp_path / "train.spacy", tmp_path / "out.json")
    assert message in capsys.readouterr().out


def test_two_pipelines_with_the_same_name(nlp, tmp_path, capsys):
    models = [str(tmp_path / run / "model-best") for run in "ab"]
    with pytest.raises(SystemExit):
        main(tmp_path / "test.spacy", models, tmp_path / "train.spacy", tmp_path / "out.json")
    assert "Two pipelines have the name 'model-best'" in capsys.readouterr().out


def test_without_a_component(nlp, tmp_path):
    nlp.to_disk(tmp_path / "model")
    DocBin(docs=[make_doc(nlp, text, spans) for text, spans in GOLD]).to_disk(tmp_path / "test.spacy")
    corpus, out = tmp_path / "test.spacy", tmp_path / "out.json"
    main(corpus, [f"m={tmp_path / 'model'}"], corpus, out, disable=["entity_ruler", "no_such_pipe"])
    results = srsly.read_json(out)
    assert list(results) == ["m", "m, without entity_ruler"]
    assert [scores["ents_r"] for scores in results.values()] == [0.5, 0.0]
