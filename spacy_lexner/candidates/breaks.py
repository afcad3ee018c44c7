"""Where a text may be cut: after lines, sentences, clauses and white space."""

import numpy as np
from spacy.attrs import IS_SPACE, SPACY
from spacy.tokens import Doc

from ..lexicon.normalization import to_codes
from .storage import token_borders

LINE, SENTENCE, CLAUSE = 3, 2, 1  # strength of the break after a token
LINE_ENDS = frozenset("\n\r\v\f\x85\u2028\u2029")
SENTENCE_ENDS = to_codes("。！？!?；;…．")
CLAUSE_ENDS = to_codes("，,、：:")
CLOSING = to_codes("”’」』）)》】\"'")


def break_strengths(doc: Doc) -> np.ndarray:
    """How well a text may be cut after each token, int8[n_tokens]: LINE, SENTENCE, CLAUSE (and white space), or 0."""
    strengths = np.where(np.isin(last_codes(doc), CLAUSE_ENDS) | before_space(doc), CLAUSE, 0)
    strengths[end_signs(doc) > 0] = SENTENCE
    strengths[line_ends(doc)] = LINE
    return strengths.astype("i1")


def line_ends(doc: Doc) -> np.ndarray:
    """The white-space tokens that end a line, int64[n]."""
    spaces = np.flatnonzero(doc.to_array([IS_SPACE]))
    return np.array([i for i in spaces.tolist() if not LINE_ENDS.isdisjoint(doc[i].text)], "i8")


def before_space(doc: Doc) -> np.ndarray:
    """Whether a token is white space or has white space after it (`whitespace_`), bool[n_tokens]."""
    return np.asarray(doc.to_array([SPACY, IS_SPACE]).reshape(-1, 2).any(axis=1))


def end_signs(doc: Doc) -> np.ndarray:
    """The sign by which each token ends a sentence, as a code point, or 0: uint32[n_tokens]. Of several signs (？！) it
    is the last; closing quotation marks and brackets after it belong to the sentence."""
    codes = last_codes(doc)
    is_end = np.isin(codes, SENTENCE_ENDS)
    signs = np.where(is_end, codes, 0)
    for i in np.flatnonzero(is_end | np.isin(codes, CLOSING)).tolist():
        if i and signs[i - 1]:
            signs[i] = signs[i] or signs[i - 1]
            signs[i - 1] = 0
    return signs


def last_codes(doc: Doc) -> np.ndarray:
    """The last character of each token as a code point, uint32[n_tokens]."""
    return to_codes(doc.text)[token_borders(doc)[1] - 1]
