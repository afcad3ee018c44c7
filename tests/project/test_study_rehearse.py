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
