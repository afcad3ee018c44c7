import pytest
from small_ner import TEXTS, blank, train
from spacy.tokens import Doc

from spacy_lexner.pipeline.ner.place_scores import score_places


def test_scores_of_spans_by_characters():
    nlp = blank()
    train(nlp)
    text, ner = TEXTS[0][0], nlp.get_pipe("lex_ner")
    places = [(0, 2, "PER"), (0, 2, "COLOUR"), (0, len(text) + 1, "PER"), (0, 3, "PER")]
    places += [(2, 2, "PER"), (3, 2, "PER"), (-2, 2, "PER")]
    scores = score_places(nlp, ner, text, places)
    exact = ner.score_spans([nlp.make_doc(text)], [[(0, 2, "PER"), (0, 3, "PER")]])[0]
    assert scores == [pytest.approx(exact[0]), 0.0, 0.0, pytest.approx(exact[1]), 0.0, 0.0, 0.0]


def test_tokens_of_several_characters():
    nlp = blank()
    train(nlp)
    text, places = TEXTS[0][0], [(0, 2, "PER"), (1, 3, "PER")]
    expected = score_places(nlp, nlp.get_pipe("lex_ner"), text, places)
    parts = [text[i : i + 3] for i in range(0, len(text), 3)]
    nlp.tokenizer = lambda text: Doc(nlp.vocab, parts, [False] * len(parts))
    assert score_places(nlp, nlp.get_pipe("lex_ner"), text, places) == pytest.approx(expected)
    assert expected[0] > 0
