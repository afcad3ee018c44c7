import numpy as np
import spacy
from spacy.tokens import Doc

from spacy_lexner.pipeline.ner.alternatives import Alternative, ReadEntity, Reading, get_alternatives, set_alternatives
from spacy_lexner.pipeline.segmenter.retokenize import merge_tokens


def test_they_survive_bytes_and_merging():
    nlp = spacy.blank("zh")
    doc = nlp("张三在北京")
    assert get_alternatives(doc) == []
    set_alternatives(doc, [Reading(0.75, -0.29, [(0, 2, "PER"), (3, 5, "LOC")]), Reading(0.25, -1.39, [])])
    first = Alternative(0.75, -0.29, (ReadEntity(0, 2, "PER", "张三"), ReadEntity(3, 5, "LOC", "北京")))
    assert get_alternatives(doc) == [first, Alternative(0.25, -1.39, ())]
    assert get_alternatives(Doc(nlp.vocab).from_bytes(doc.to_bytes())) == get_alternatives(doc)
    assert get_alternatives(merge_tokens(doc, np.array([0, 2, 3])).doc) == get_alternatives(doc)
