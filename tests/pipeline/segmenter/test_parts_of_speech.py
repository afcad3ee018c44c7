import numpy as np
import pytest
import spacy
from spacy.tokens import Doc

from spacy_lexner.pipeline.segmenter.parts_of_speech import PARTS_OF_SPEECH

VOCAB = spacy.blank("zh").vocab


@pytest.mark.parametrize("name, labels, space", [("pos", ["NOUN", "ADJ"], "SPACE"), ("tag", ["NN", "''"], "_SP")])
def test_written_and_read(name, labels, space):
    part = PARTS_OF_SPEECH[name]
    doc = Doc(VOCAB, ["北京", " ", "好"], spaces=[False] * 3)
    assert part.read(doc).tolist() == [0, 0, 0]
    part.write(doc, labels, np.array([1, -1, 0]))
    written = [getattr(token, f"{name}_") for token in doc]
    assert written == [labels[1], space, labels[0]]
    assert [part.label(number, VOCAB.strings) for number in part.read(doc)] == written
    part.write(Doc(VOCAB), labels, np.zeros(0, dtype=np.int64))


def test_only_universal_parts_of_speech():
    PARTS_OF_SPEECH["pos"].check("CONJ")
    PARTS_OF_SPEECH["tag"].check("NR")
    with pytest.raises(ValueError, match=r"'NR' is not a universal part of speech.*ADJ, ADP.*pos = .tag"):
        PARTS_OF_SPEECH["pos"].check("NR")
