"""Derive a knowledge graph from a dictionary and raw text, for want of a better one.

Entities are the dictionary's words of a minimum length that occur in the text. Triples are

- (word, tag, T): its part of speech in the dictionary,
- (word, ends_with, s): its last one or two characters, which in Chinese often name its kind (市, 大学, 公司),
- (word, near, word): pairs that share a paragraph far more often than by chance (pointwise mutual information).
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import chain, combinations
from pathlib import Path
from typing import Annotated, Dict, Iterator, List, NamedTuple, Set, Tuple

import typer
from tqdm import tqdm
from wasabi import msg

from spacy_lexner.cli.shared import failing
from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.lexicon.matcher import Matcher, MatchOptions
from spacy_lexner.lexicon.readers import read_jieba_dictionary
from spacy_lexner.pretraining.text_index import find_text_files, read_lines

BATCH = 500
MAX_IN_PARAGRAPH = 40


def read_dictionary(path: Path, min_length: int, tags: str) -> Dict[str, str]:
    """RETURNS (Dict[str, str]): The words of a jieba-style dictionary that have one of the tags, with their tags."""
    words: Dict[str, str] = {}
    for entry in read_jieba_dictionary(path):
        if len(entry.word) >= min_length and entry.label.startswith(tuple(tags.split(","))):
            words.setdefault(entry.word, entry.label)
    return words


def find_words(texts: List[Path], matcher: Matcher) -> Iterator[Set[str]]:
    """YIELDS (Set[str]): The words of each paragraph, without those inside a longer word."""
    batch: List[str] = []
    lines = (line for path in find_text_files(texts) for line in read_lines(path))
    for line in tqdm(lines, unit=" lines", leave=False, disable=None):
        batch.append(line)
        if len(batch) == BATCH:
            yield from _find(batch, matcher)
            batch = []
    yield from _find(batch, matcher)


def _find(batch: List[str], matcher: Matcher) -> Iterator[Set[str]]:
    """YIELDS (Set[str]): The words of each text, without those inside a longer word."""
    words, borders = matcher.match(batch)
    for text, begin, stop in zip(batch, borders, borders[1:]):
        found, reach = set(), 0
        spans = zip(words.starts[begin:stop].tolist(), words.ends[begin:stop].tolist())
        for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            if end > reach:
                found.add(text[start:end])
                reach = end
        yield found


class Least(NamedTuple):
    """When two words are related: the minimum number of shared paragraphs, the minimum pointwise mutual information,
    and the number of all paragraphs."""

    pairs: int
    pmi: float
    n_paragraphs: int


def _describe(entities: List[str], tags: Dict[str, str], min_count: int) -> Iterator[Tuple[str, str, str]]:
    kinds: Counter[str] = Counter(word[-n:] for word in entities for n in (1, 2) if len(word) > n)
    for word in entities:
        yield word, "tag", f"tag:{tags[word]}"
        for n in (1, 2):
            if len(word) > n and kinds[word[-n:]] >= min_count:
                yield word, "ends_with", f"kind:{word[-n:]}"


def _relate(
    pairs: Counter[Tuple[str, str]], counts: Counter[str], known: Set[str], least: Least
) -> Iterator[Tuple[str, str, str]]:
    for (a, b), count in pairs.items():
        if count < least.pairs or a not in known or b not in known:
            continue
        if math.log(count * least.n_paragraphs / (counts[a] * counts[b])) >= least.pmi:
            yield a, "near", b


def main(
    dictionary: Annotated[Path, typer.Argument(help="Word, frequency and tag on each line, like jieba's.")],
    texts: Annotated[List[Path], typer.Argument(help="Raw text: files or folders, one paragraph per line.")],
    triples: Annotated[Path, typer.Option(help="File for the triples.")],
    names: Annotated[Path, typer.Option(help="File for the entities' names.")],
    tags: Annotated[str, typer.Option(help="Prefixes of the tags of words that count as entities.")] = "n,l,i,j",
    min_length: Annotated[int, typer.Option(help="Minimum length of a word, in characters.")] = 2,
    min_count: Annotated[int, typer.Option(help="Minimum number of paragraphs in which a word occurs.")] = 5,
    min_pairs: Annotated[int, typer.Option(help="Minimum number of paragraphs that a pair shares.")] = 3,
    min_pmi: Annotated[float, typer.Option(help="Minimum pointwise mutual information of a pair.")] = 3.0,
) -> None:
    """Write the triples, and a name for each entity, which is the word itself."""
    counts: Counter[str] = Counter()
    pairs: Counter[Tuple[str, str]] = Counter()
    n_paragraphs = 0
    with failing("No knowledge graph was derived"):
        words = read_dictionary(dictionary, min_length, tags)
        matcher = Matcher(Lexicon.from_entries(map(LexiconEntry, words)), MatchOptions(min_length=min_length))
        for found in find_words(texts, matcher):
            n_paragraphs += 1
            counts.update(found)
            if 1 < len(found) <= MAX_IN_PARAGRAPH:
                pairs.update(combinations(sorted(found), 2))
    entities = sorted(word for word, count in counts.items() if count >= min_count)
    if not entities:
        reason = f"No word of {dictionary} with a tag of {tags} occurs in {min_count} paragraphs"
        msg.fail(f"No knowledge graph was derived: {reason}", "Give more text, or lower --min-count.", exits=1)
    known = set(entities)
    least = Least(min_pairs, min_pmi, n_paragraphs)
    relations: Counter[str] = Counter()
    for path in (triples, names):
        path.parent.mkdir(parents=True, exist_ok=True)
    with triples.open("w", encoding="utf8") as file_:
        for head, relation, tail in chain(_describe(entities, words, min_count), _relate(pairs, counts, known, least)):
            file_.write(f"{head}\t{relation}\t{tail}\n")
            relations[relation] += 1
    names.write_text("".join(f"{word}\t{word}\n" for word in entities), "utf8")
    msg.good(f"{triples}: {len(entities)} entities; triples: " + ", ".join(f"{k} {n}" for k, n in relations.items()))


if __name__ == "__main__":
    typer.run(main)
