import study_rehearse
from small_ner import blank, train
from small_training import make_texts, save_docs
from spacy.training import Example
from study_rehearse import learn_label, split_corpus

from spacy_lexner.formats.spacy_file import read_docs


def test_all_of_it(tmp_path, capsys):
    corpus = save_docs(tmp_path / "corpus.spacy", make_texts(60))
    test = save_docs(tmp_path / "test.spacy", make_texts(20, seed=1))
    split_corpus(corpus, "LOC", tmp_path / "split", 0)
    old, new = (list(read_docs(tmp_path / "split" / f"{name}.spacy")) for name in ("old", "new"))
    assert {ent.label_ for doc in old for ent in doc.ents} == {"PER"} and len(old) == len(new) == 30
    assert {ent.label_ for doc in new for ent in doc.ents} == {"LOC"}
    nlp = blank()
    train(nlp, [Example(nlp.make_doc(doc.text), doc) for doc in old], steps=15)
    nlp.to_disk(tmp_path / "model")
    arguments = (tmp_path / "model", "LOC", tmp_path / "split", test)
    with_, without = (learn_label(*arguments, rehearse, 12, 8, 0.01, 0) for rehearse in (True, False))
    assert with_["before"] == without["before"] and "LOC" not in {k for k, v in with_["before"].items() if v["f"]}
    assert "LOC: F1 0.0 before" in capsys.readouterr().out


def test_texts_with_many_entities_are_left_out(tmp_path, monkeypatch):
    texts = make_texts(20)
    test = save_docs(tmp_path / "test.spacy", texts)
    nlp = blank()
    train(nlp, [Example(nlp.make_doc(doc.text), doc) for doc in read_docs(test)], steps=1)
    nlp.to_disk(tmp_path / "model")
    split_corpus(test, "LOC", tmp_path / "split", 0)
    most = max(len(ents) for _, ents in texts) - 1
    evaluated = []

    def evaluate(nlp, examples, seen):
        evaluated.append([example.reference.text for example in examples])
        return {"ents_per_type": {}}

    monkeypatch.setattr(study_rehearse, "evaluate", evaluate)
    learn_label(tmp_path / "model", "LOC", tmp_path / "split", test, False, 1, 8, 0.01, 0, most)
    assert evaluated == 2 * [[text for text, ents in texts if len(ents) <= most]]
    assert 0 < len(evaluated[0]) < len(texts)
