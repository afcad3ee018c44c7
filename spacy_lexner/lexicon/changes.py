"""Adding words to a lexicon, and removing some: the levels of the changed lexicon."""

from typing import Dict, Iterable, List, Optional, Sequence, Tuple

import numpy as np

from .entry import (
    REASONS,
    Labels,
    LexiconEntry,
    find_fault,
    hash_content,
    hash_word,
    join_labels,
    to_stored,
)
from .errors import LexiconError
from .level import Level, compile_level, merge_levels
from .levels import Levels
from .limits import quote
from .rules import find_rule_fault, normal_rules
from .table import TableBuilder, VectorSpool

GROWTH = 4  # a level of changes has at least this many times the words of the one above
Changed = Tuple[Sequence[Level], int, int]  # the arguments of Levels: levels, content, width of the vectors


def add_words(old: Levels, entries: Iterable[LexiconEntry]) -> Changed:
    """Add or change words, see `Lexicon.with_words`."""
    given, dim = _checked(old, entries)
    words, hashes, ranks = _ranks(old, [entry.word for entry in given])
    known, before = _known(old, words, ranks)
    labels: Dict[str, Labels] = {}
    for entry in given:
        labels[entry.word] = own = join_labels(labels.get(entry.word, ()), entry.labels)
        known[entry.word] = _update(known.get(entry.word), entry if own == entry.labels else entry._replace(labels=own))
    contents = [hash_content(known[word]) for word in words]
    changed = [i for i, word in enumerate(words) if contents[i] != before.get(word)]
    if not changed:
        return old.levels, old.content, old.dim
    with VectorSpool(old.base.table.vectors.dtype) as spool:
        builder = TableBuilder(spool)
        for i in changed:
            builder.append(known[words[i]], int(hashes[i]), contents[i])
        top = compile_level(builder.finish(), old.base.normalization, old.base.max_word_length)
    lower = [level.without(rank[changed]) for level, rank in zip(old.levels, ranks)]
    difference = sum(contents[i] - before.get(words[i], 0) for i in changed)
    return _merged([*lower, top]), old.content + difference, dim


def remove_words(old: Levels, words: Iterable[str]) -> Changed:
    """Remove words, see `Lexicon.without_words`."""
    levels, content = [], old.content
    _, _, places = _ranks(old, map(old.normalization.word, words))
    for level, ranks in zip(old.levels, places):
        known = ranks[ranks >= 0]
        content -= int(level.table.contents[level.rows[known]].sum(dtype="u8"))
        levels.append(level.without(known))
    return _merged(levels), content, old.dim


def _checked(old: Levels, entries: Iterable[LexiconEntry]) -> Tuple[List[LexiconEntry], int]:
    """Normalise entries, and find the width of the vectors. Raises LexiconError for an invalid entry."""
    dim, dtype = old.dim, old.base.table.vectors.dtype
    given: List[LexiconEntry] = []
    for entry in entries:
        entry = to_stored(entry, dtype, old.normalization)
        fault = find_fault(entry, dim, old.max_word_length)
        if fault is not None:
            raise LexiconError(_explain(fault, entry, dim, old.max_word_length))
        dim = dim if entry.vector is None else len(entry.vector)
        if entry.weight != 1.0:
            entry = entry._replace(weight=float(np.float32(entry.weight)))
        given.append(entry)
    return given, dim


def _ranks(old: Levels, words: Iterable[str]) -> Tuple[List[str], np.ndarray, List[np.ndarray]]:
    """The distinct words, their hashes, and their ranks in each level; -1 where a level lacks a word."""
    distinct = list(dict.fromkeys(words))
    hashes = np.fromiter(map(hash_word, distinct), "u8", len(distinct))
    return distinct, hashes, [level.ranks(hashes) for level in old.levels]


def _known(
    old: Levels, words: Sequence[str], ranks: Sequence[np.ndarray]
) -> Tuple[Dict[str, LexiconEntry], Dict[str, int]]:
    """The entries of the words that are known, and the hashes of their content."""
    known: Dict[str, LexiconEntry] = {}
    contents: Dict[str, int] = {}
    for level, rank in zip(old.levels, ranks):
        place = np.flatnonzero(rank >= 0)
        rows = level.rows[rank[place]]
        here = [words[i] for i in place.tolist()]
        known.update(zip(here, map(level.table.entry, rows.tolist())))
        contents.update(zip(here, level.table.contents[rows].tolist()))
    return known, contents


def _merged(levels: List[Level]) -> List[Level]:
    """Merge levels above the lexicon until each is much larger than the one above it."""
    levels = [levels[0], *(level for level in levels[1:] if level.size)]
    while len(levels) > 2 and levels[-2].size < GROWTH * levels[-1].size:
        levels[-2:] = [merge_levels(levels[-2:])]
    return levels


def _update(known: Optional[LexiconEntry], new: LexiconEntry) -> LexiconEntry:
    rules = normal_rules(new.rules) if new.rules else ()
    if known is None:
        return new._replace(rules=rules) if rules != new.rules else new
    return LexiconEntry(
        new.word,
        known.vector if new.vector is None else new.vector,
        known.weight if new.weight == 1.0 else new.weight,
        new.labels or known.labels,
        new.entity_id or known.entity_id,
        rules if new.rules else known.rules,
    )


def _explain(fault: str, entry: LexiconEntry, dim: int, max_word_length: int) -> str:
    shape = None if entry.vector is None else list(entry.vector.shape)
    details = {
        "bad_vector": f"expected {dim or 'any number of'} dimensions, got the shape {shape}",
        "too_long": f"{len(entry.word)} characters, expected at most {max_word_length}",
        "bad_weight": f"the weight is {quote(entry.weight)}",
        "bad_entity_id": f"the entity id is {quote(entry.entity_id)}",
        "bad_label": f"the labels are {entry.labels}",
        "bad_rule": "; ".join(filter(None, map(find_rule_fault, entry.rules))),
    }
    detail = f" ({details[fault]})" if fault in details else ""
    return f"The entry {quote(entry.word)} cannot be added: {REASONS[fault]}{detail}."
