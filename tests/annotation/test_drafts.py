import math

import pytest
import spacy
from spacy.training import Example

from spacy_lexner.annotation.drafts import find_words, make_drafts, read_margin, two_best_paths
from spacy_lexner.formats.record import Entity


@pytest.fixture(scope="module")
def nlp():
    """A pipeline trained on four texts."""
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["南京", "南京市", "长江"])
    nlp.add_pipe("lex_ner")
    gold = [("我在南京市", [(2, 5, "GPE")]), ("长江很长", [(0, 2, "LOC")]), ("没有人", []), ("去南京", [(1, 3, "GPE")])]
    examples = [Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in gold]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    return nlp


def test_drafts(nlp):
    failed = {}
    texts = ["我在南京市", "", "x" * (nlp.max_length + 1), "银行"]
    first, empty, last = make_drafts(nlp, texts, failed)
    assert first.task.predicted and first.task.record.place == "text 1"
    assert first.task.record.entities == [Entity(2, 5, "GPE")] and 0 < first.task.scores[0] <= 1
    assert len(first.words) == 2 and not last.words
    for draft in (first, last):
        assert draft.margin > 0 and draft.candidate.uncertainty == math.exp(-draft.margin)
    assert list(failed) == [2]
    assert empty.margin == math.inf and empty.candidate.uncertainty == 0


def test_the_margin_is_that_of_the_two_best_paths(nlp):
    with two_best_paths(nlp):
        doc = nlp("我在长江市")
    best, second = doc._.lex_alternatives
    assert read_margin(doc) == pytest.approx(math.log(best.probability / second.probability))
    assert nlp.get_pipe("lex_ner").n_alternatives == 0


def test_a_pipeline_without_lex_ner():
    nlp = spacy.blank("zh")
    nlp.add_pipe("sentencizer")
    with pytest.raises(ValueError, match="no lex_ner, only sentencizer"):
        list(make_drafts(nlp, ["南京"], {}))


def test_words(nlp):
    assert len(find_words(nlp, ["我在南京市", "南京"])) == 2
    assert find_words(nlp, []) == set() == find_words(spacy.blank("zh"), ["南京"])
