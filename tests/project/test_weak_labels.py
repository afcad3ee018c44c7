import spacy
import srsly
from spacy.tokens import DocBin
from weak_labels import main

from spacy_lexner.lexicon.entry import hash_word


def test_labels_are_compared_with_the_annotation(tmp_path, capsys):
    """Of three known occurrences in 北京大学的北京人在远山大学, one is an entity, one is none, one lies in one."""
    nlp = spacy.blank("zh")

    def save(folder, places):
        doc = nlp.make_doc("北京大学的北京人在远山大学")
        doc.set_ents([doc.char_span(*place, label="ORG") for place in places], default="missing")
        (tmp_path / folder).mkdir(parents=True)
        DocBin(docs=[doc]).to_disk(tmp_path / folder / "0000.spacy")
        return doc.text

    text = save("labels/train", [(0, 4), (5, 7), (11, 13)])
    save("words/labels/train", [(0, 4)])
    save("gold", [(0, 4), (9, 13)])
    srsly.write_jsonl(tmp_path / "words" / "parts.jsonl", [{"text": hash_word(text), "start": 11, "end": 13}])
    main(tmp_path, tmp_path / "gold" / "0000.spacy")
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| known | 3 | 1 | 1 | 1 |",
        "| improbable words | 1 | 0 | 0 | 1 |",
        "| parts of longer entities | 1 | 0 | 1 | 0 |",
        "| kept | 1 | 1 | 0 | 0 |",
    ]
