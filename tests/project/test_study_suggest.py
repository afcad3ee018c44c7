import spacy
from small_training import make_docs, make_texts
from spacy.tokens import DocBin
from spacy.training import Example
from study_suggest import main


def test_all_of_it(tmp_path, capsys):
    docs = make_docs(make_texts(30))
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(sorted({ent.text for doc in docs for ent in doc.ents}))
    nlp.add_pipe("lex_ner")
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(3):
        nlp.update(examples, sgd=optimizer)
    nlp.to_disk(tmp_path / "model")
    DocBin(docs=docs).to_disk(tmp_path / "test.spacy")
    ranks = main(tmp_path / "model", tmp_path / "test.spacy", 5, 10, 0)
    assert len(ranks) == 5
    assert "5 words hidden" in capsys.readouterr().out
