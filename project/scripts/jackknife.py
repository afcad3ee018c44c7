"""An augmenter for `spacy train --code scripts/jackknife.py` that matches each training text with a dictionary built
without it (see make_typed.py).

A dictionary of the names in the training texts covers all of them there, but few elsewhere, so a model trained with it
learns to trust it blindly. Instead, the training texts are divided into folds, and the texts of a fold see the
dictionary built from the others. Dev and test texts see the whole dictionary. The config needs
`annotating_components = []`, or `lex_matcher` would match the training texts again.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional, Union

import spacy
import srsly
from spacy.language import Language
from spacy.training import Example

from spacy_lexner.candidates.storage import find_candidates, set_candidates
from spacy_lexner.lexicon import Lexicon, Matcher
from spacy_lexner.lexicon.shared_matcher import SharedMatcher

# The words that differ in the dictionary of a fold, with their labels there; None if the fold lacks the word.
Changes = Dict[str, Optional[List[str]]]
MAX_FOLDS = 7  # a lex_matcher remembers eight states of its lexicon


def key_of(text: str) -> str:
    """RETURNS (str): The key of a text in the fold file."""
    return hashlib.md5(text.encode("utf8"), usedforsecurity=False).hexdigest()[:16]


def change(lexicon: Lexicon, changes: Changes) -> Lexicon:
    """RETURNS (Lexicon): The dictionary of a fold. A dictionary without labels gets none."""
    known = {word: lexicon.get(word) for word, labels in changes.items() if labels is not None}
    entries = [
        entry._replace(labels=tuple(changes[word] or ()) if lexicon.has_labels else ())
        for word, entry in known.items()
        if entry is not None
    ]
    return lexicon.without_words(changes).with_words(entries)


class FoldDictionaries:
    """Matches training texts with the dictionary of their fold.

    folds (List[Changes]): How the dictionary of each fold differs from the whole one.
    fold_of (Dict[str, int]): The fold of each text, by `key_of`.
    """

    def __init__(self, folds: List[Changes], fold_of: Dict[str, int]) -> None:
        if not 1 < len(folds) <= MAX_FOLDS:
            raise ValueError(f"There are {len(folds)} folds; expected 2 to {MAX_FOLDS}.")
        self._folds, self._fold_of = folds, fold_of
        self._made_of: Optional[int] = None  # version of the whole dictionary
        self._matchers: List[Matcher] = []

    def __call__(self, nlp: Language, example: Example) -> Iterator[Example]:
        source: SharedMatcher = nlp.get_pipe("lex_matcher").source  # type: ignore[attr-defined]
        if source.matcher is not None:  # there is none while the pipeline is initialized
            text = example.reference.text
            if key_of(text) not in self._fold_of:
                raise ValueError(f"{text[:40]!r} has no fold: make_typed.py saw other training texts. Run it again.")
            matcher = self.matchers(source)[self._fold_of[key_of(text)]]
            set_candidates(example.predicted, matcher.version, find_candidates(matcher, [example.predicted])[0])
        yield example

    def matchers(self, source: SharedMatcher) -> List[Matcher]:
        """RETURNS (List[Matcher]): One per fold. They are registered in the `lex_matcher`, which keeps using the whole
        dictionary."""
        whole = source.matcher
        assert whole is not None
        if self._made_of != whole.version:
            self._matchers = [Matcher(change(whole.lexicon, changes), whole.options) for changes in self._folds]
            for matcher in (*self._matchers, whole):
                source.set(matcher)
            self._made_of = whole.version
        return self._matchers


@spacy.registry.augmenters("fold_dictionaries.v1")
def create_fold_dictionaries(path: Union[str, Path]) -> Callable[[Language, Example], Iterator[Example]]:
    """Create the augmenter.

    path (Union[str, Path]): The fold file that make_typed.py wrote.
    """
    return FoldDictionaries(**srsly.read_json(path))
