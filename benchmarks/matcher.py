"""Speed of finding all (overlapping) lexicon words, compared with pygtrie, PhraseMatcher, daachorse and a trie of
dicts; time to open a lexicon of 2,000,000 words, and the private memory of a worker that has opened it.

    python benchmarks/matcher.py --data ../shared/data

Lexicons: jieba's dictionary (349,045 words), and the same with titles of the Chinese Wikipedia, 2,000,000 words in
total. Text: a sample of sentences from the NER sets and lines from the raw texts, in batches of 1,000 (as `nlp.pipe`
makes them). The others return Python tuples (start, end, word) in any order, this project sorted arrays; that all find
the same spans is checked first. CPU time, medians of five rounds in which the matchers alternate; ratios are medians
of the rounds' ratios.
"""

import argparse
import gc
import gzip
import json
import random
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, Callable, Dict, Iterator, List, Set, Tuple

import daachorse
import numpy as np
import pygtrie
import spacy
from real_text import DATA
from spacy.matcher import PhraseMatcher
from spacy.tokens import Doc

from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher

ROUNDS = 5
BATCH = 1000
N_LARGE = 2_000_000
Spans = Set[Tuple[int, int, int]]
WORKER = """
import json, sys, time
import spacy_lexner.lexicon.storage  # imported by Lexicon.open, but not to be timed
from spacy_lexner.lexicon import Lexicon, Matcher

def private_kb():
    with open("/proc/self/smaps_rollup") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Private_"))

texts = json.load(sys.stdin)
before = private_kb()
begin = time.perf_counter()
lexicon = Lexicon.open(sys.argv[1])
seconds = time.perf_counter() - begin
Matcher(lexicon).match(texts)
print(json.dumps({"open_ms": 1e3 * seconds, "private_mb": (private_kb() - before) / 1024}))
"""


class Ours:
    """This project: the lexicon in flat arrays, one batch at a time."""

    name = "spacy-lexner"

    def __init__(self, words: List[str]) -> None:
        self.matcher = Matcher(Lexicon.from_entries(map(LexiconEntry, words)))

    def prepare(self, texts: List[str]) -> List[List[str]]:
        return [texts[low : low + BATCH] for low in range(0, len(texts), BATCH)]

    def find(self, batches: List[List[str]]) -> List[Any]:
        return [self.matcher.match(batch) for batch in batches]

    def spans(self, found: List[Any]) -> Spans:
        spans: Spans = set()
        for i, (words, borders) in enumerate(found):
            texts = i * BATCH + np.repeat(np.arange(len(borders) - 1), np.diff(borders))
            spans.update(zip(texts.tolist(), words.starts.tolist(), words.ends.tolist()))
        return spans


class Peer:
    """Another matcher, one text at a time."""

    name = ""

    def prepare(self, texts: List[str]) -> List[Any]:
        return list(texts)

    def find_in(self, text: Any) -> List[Tuple[int, int, Any]]:
        raise NotImplementedError

    def find(self, texts: List[Any]) -> List[Any]:
        find_in = self.find_in
        return [find_in(text) for text in texts]

    def spans(self, found: List[Any]) -> Spans:
        return {(i, start, end) for i, spans in enumerate(found) for start, end, _ in spans}


class Pygtrie(Peer):
    """pygtrie's CharTrie: all prefixes of the text from each position, up to the longest word."""

    name = "pygtrie"

    def __init__(self, words: List[str]) -> None:
        self.trie = pygtrie.CharTrie((word, i) for i, word in enumerate(words))
        self.longest = max(map(len, words))

    def find_in(self, text: str) -> List[Tuple[int, int, int]]:
        prefixes, longest = self.trie.prefixes, self.longest
        return [
            (start, start + len(step.key), step.value)
            for start in range(len(text))
            for step in prefixes(text[start : start + longest])
        ]


class SpacyPhraseMatcher(Peer):
    """spaCy's PhraseMatcher, on Docs of one token per character, which are not timed."""

    name = "PhraseMatcher"

    def __init__(self, words: List[str]) -> None:
        self.vocab = spacy.blank("zh").vocab
        self.matcher = PhraseMatcher(self.vocab, attr="ORTH")
        self.matcher.add("lexicon", [self.doc(word) for word in words])

    def doc(self, text: str) -> Doc:
        return Doc(self.vocab, words=list(text), spaces=[False] * len(text))

    def prepare(self, texts: List[str]) -> List[Doc]:
        return [self.doc(text) for text in texts]

    def find_in(self, text: Doc) -> List[Tuple[int, int, int]]:
        return self.matcher(text)

    def spans(self, found: List[Any]) -> Spans:
        return {(i, start, end) for i, spans in enumerate(found) for _, start, end in spans}


class Daachorse(Peer):
    """daachorse: an Aho-Corasick automaton in Rust."""

    name = "daachorse"

    def __init__(self, words: List[str]) -> None:
        self.automaton = daachorse.CharwiseDoubleArrayAhoCorasick(words)

    def find_in(self, text: str) -> List[Tuple[int, int, int]]:
        return self.automaton.find_overlapping(text)


class DictTrie(Peer):
    """A trie of dicts, as in the published systems."""

    name = "trie of dicts"

    def __init__(self, words: List[str]) -> None:
        self.root: Dict[Any, Any] = {}
        for i, word in enumerate(words):
            node = self.root
            for char in word:
                node = node.setdefault(char, {})
            node[None] = i

    def find_in(self, text: str) -> List[Tuple[int, int, int]]:
        found = []
        for start in range(len(text)):
            node = self.root
            for end, char in enumerate(text[start:], start + 1):
                node = node.get(char)
                if node is None:
                    break
                if None in node:
                    found.append((start, end, node[None]))
        return found


def read_lines(path: Path) -> Iterator[str]:
    opener: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf8", newline="\n") as file:
        yield from (line.rstrip("\n") for line in file)


def read_words(data: Path) -> Dict[str, List[str]]:
    """RETURNS (Dict[str, List[str]]): jieba's words, and the same with Wikipedia titles."""
    jieba = list(dict.fromkeys(line.split("\t")[0] for line in read_lines(data / "lexicon" / "jieba_words.tsv.gz")))
    known = set(jieba)
    titles = read_lines(data / "lexicon" / "zhwiki_titles_2to10.txt.gz")
    new = dict.fromkeys(title for title in titles if title not in known and title.split() == [title])
    return {"349k": jieba, "2m": [*jieba, *islice(new, N_LARGE - len(jieba))]}


def read_texts(data: Path, n_characters: int) -> List[str]:
    """RETURNS (List[str]): A sample of sentences from the NER sets and lines from the raw texts."""
    texts = []
    for path in sorted((data / "ner").glob("*/*.conll*")):
        sentence: List[str] = []
        for line in [*read_lines(path), ""]:
            if line:
                sentence.append(line.split()[0])
            elif sentence:
                texts.append("".join(sentence).replace("␣", " "))
                sentence = []
    for path in sorted((data / "text").glob("*.txt.gz")):
        texts.extend(line for line in read_lines(path) if line)
    random.Random(0).shuffle(texts)
    total = 0
    for i, text in enumerate(texts):
        total += len(text)
        if total >= n_characters:
            return texts[: i + 1]
    return texts


def compare(words: List[str], texts: List[str], kinds: List[Any]) -> Dict[str, Tuple[float, float]]:
    """RETURNS (Dict[str, Tuple[float, float]]): For each matcher its speed, in characters per second, and how many
    times faster this project is."""
    matchers = [kind(words) for kind in kinds]
    inputs = [matcher.prepare(texts) for matcher in matchers]
    expected = matchers[0].spans(matchers[0].find(inputs[0]))
    for matcher, prepared in zip(matchers[1:], inputs[1:]):
        if matcher.spans(matcher.find(prepared)) != expected:
            raise SystemExit(f"{matcher.name} finds other words.")
    gc.collect()
    gc.freeze()
    seconds: List[List[float]] = [[] for _ in matchers]
    for _ in range(ROUNDS):
        for i, (matcher, prepared) in enumerate(zip(matchers, inputs)):
            begin = time.process_time()
            matcher.find(prepared)
            seconds[i].append(time.process_time() - begin)
    gc.unfreeze()
    n_characters = sum(map(len, texts))
    return {
        matcher.name: (n_characters / median(mine), median(theirs / own for theirs, own in zip(mine, seconds[0])))
        for matcher, mine in zip(matchers, seconds)
    }


def measure_worker(words: List[str], texts: List[str]) -> Dict[str, float]:
    """RETURNS (Dict[str, float]): Time to open a saved lexicon of these words in a new process, and its private memory
    after it has matched texts that another process has matched before."""
    with tempfile.TemporaryDirectory() as folder:
        Lexicon.from_entries(map(LexiconEntry, words)).save(folder)
        other = Matcher(Lexicon.open(folder))
        other.match(texts)
        command = [sys.executable, "-c", WORKER, folder]
        runs = [
            json.loads(
                subprocess.run(command, input=json.dumps(texts), text=True, capture_output=True, check=True).stdout
            )
            for _ in range(ROUNDS)
        ]
    return {key: median(run[key] for run in runs) for key in runs[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--characters", type=int, default=500_000, help="size of the text sample")
    arguments = parser.parse_args()
    words, texts = read_words(arguments.data), read_texts(arguments.data, arguments.characters)
    print(f"{len(texts):,} texts, {sum(map(len, texts)):,} characters")
    results = {}
    for size, kinds in (
        ("349k", [Ours, Pygtrie, SpacyPhraseMatcher, Daachorse, DictTrie]),
        ("2m", [Ours, Pygtrie, Daachorse, DictTrie]),
    ):
        results[size] = compare(words[size], texts, kinds)
        print(f"\n{len(words[size]):,} words    characters/s    speed of spacy-lexner, times")
        for name, (speed, ratio) in results[size].items():
            print(f"{name:<15}{speed:>15,.0f}{ratio:>12.1f}")
    worker = measure_worker(words["2m"], texts[:100])
    print(f"\n2,000,000 words: opened in {worker['open_ms']:.1f} ms, {worker['private_mb']:.1f} MB private")
    report = {
        "pygtrie_x_349k": results["349k"]["pygtrie"][1],
        "phrasematcher_x_349k": results["349k"]["PhraseMatcher"][1],
        "pygtrie_x_2m": results["2m"]["pygtrie"][1],
        "daachorse_x_349k": results["349k"]["daachorse"][1],
        "open_ms_2m": worker["open_ms"],
        "private_mb_2m": worker["private_mb"],
    }
    print(json.dumps({key: round(value, 2) for key, value in report.items()}))


if __name__ == "__main__":
    main()
