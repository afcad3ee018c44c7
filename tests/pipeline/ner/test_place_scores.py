import pytest
from small_ner import TEXTS, blank, train

from spacy_lexner.pipeline.ner.place_scores import score_places


def test_scores_of_spans_by_characters():
    nlp = blank()
    train(nlp)
    text, ner = TEXTS[0][0], nlp.get_pipe("lex_ner")
    places = [(0, 2, "PER"), (0, 2, "COLOUR"), (0, len(text) + 1, "PER"), (0, 3, "PER")]
    scores = score_places(nlp, ner, text, places)
    exact = ner.score_spans([nlp.make_doc(text)], [[(0, 2, "PER"), (0, 3, "PER")]])[0]
    assert scores == [pytest.approx(exact[0]), 0.0, 0.0, pytest.approx(exact[1])]
