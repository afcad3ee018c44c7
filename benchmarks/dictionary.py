"""Time until a change of 1,000 words takes effect on a lexicon of 2,000,000, and time to load 1,000,000 rules.

    python benchmarks/dictionary.py [--lexicon FOLDER]

Without a folder, the lexicon has random words of two to five characters with 50-dimensional vectors, and is saved to a
temporary folder, so that it is memory-mapped as in use. A change adds rules to 500 lexicon words and 500 new ones, with
`add_rules` of a `lex_matcher` to which a `lex_ner` is linked. It has taken effect once the words of the next Doc, and
the rules there that concern `lex_ner`, are found. 40 changes, one on top of the other; then a dictionary file of
1,000,000 lines is loaded and another 40 changes are made. Times are CPU time, which does not depend on other work on
the machine (nothing here waits, and all runs in one thread), with the wall clock beside it.
"""

import argparse
import json
import random
import tempfile
import time
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Iterator, List, NamedTuple, Tuple

import numpy as np
import spacy
from spacy.language import Language

from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.pipeline.matcher.lex_matcher import LexMatcher

N_WORDS, N_RULES, N_CHANGES, CHANGE = 2_000_000, 1_000_000, 40, 1000
CHARACTERS = [chr(code) for code in range(0x4E00, 0x5E00)]
TEXT = "张三在北京大学工作，李四去南京市长江大桥。"
Row = Tuple[str, str, str, float]


class Timing(NamedTuple):
    """Milliseconds of wall-clock and CPU time."""

    wall: float
    cpu: float


def random_words(n: int, seed: int) -> Iterator[str]:
    """YIELDS (str): Distinct words."""
    draw, seen = random.Random(seed), set()
    while len(seen) < n:
        word = "".join(draw.choices(CHARACTERS, k=draw.randint(2, 5)))
        if word not in seen:
            seen.add(word)
            yield word


def make_lexicon(folder: Path) -> Lexicon:
    """RETURNS (Lexicon): A lexicon of random words with vectors, saved and opened again."""
    vector = np.ones(50, "f4")
    Lexicon.from_entries(LexiconEntry(word, vector) for word in random_words(N_WORDS, 0)).save(folder)
    return Lexicon.open(folder)


def make_pipeline(lexicon: Lexicon) -> Language:
    """RETURNS (Language): A pipeline with a `lex_ner` that follows the rules of the `lex_matcher`."""
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").set_lexicon(lexicon)
    ner = nlp.add_pipe("lex_ner")
    for label in ("LOC", "ORG", "PER"):
        ner.add_label(label)
    return nlp


def change(nlp: Language, rules: List[Row]) -> Timing:
    """RETURNS (Timing): The time until rules take effect."""
    matcher, ner = nlp.get_pipe("lex_matcher"), nlp.get_pipe("lex_ner")
    doc, word = nlp.make_doc(TEXT + rules[0][0]), rules[0][0]
    wall, cpu = time.perf_counter(), time.process_time()
    matcher.add_rules(rules)
    [(found, _)] = ner.rules.find([matcher(doc)])
    timing = Timing(1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu))
    if word not in [each.word for each in found]:
        raise RuntimeError(f"The rule of {word} has not taken effect.")
    return timing


def run_changes(nlp: Language, known: List[str], seed: int) -> List[Timing]:
    """RETURNS (List[Timing]): The time of each change."""
    new = list(random_words(N_CHANGES * CHANGE // 2, seed))
    timings = []
    for i in range(N_CHANGES):
        part = slice(i * CHANGE // 2, (i + 1) * CHANGE // 2)
        rows: List[Row] = [(word, "force", "LOC", 0.0) for word in known[part]]
        timings.append(change(nlp, [*rows, *((word, "prefer", "PER", 2.0) for word in new[part])]))
    return timings


def load_rules(matcher: LexMatcher, words: List[str], folder: Path) -> Timing:
    """RETURNS (Timing): The time that loading a rule file takes."""
    modes = ("force\tLOC\t", "forbid\tPER\t", "prefer\tORG\t1.5")
    lines = (f"{word}\t{modes[i % 3]}\n" for i, word in enumerate(words))
    path = folder / "rules.tsv"
    path.write_text("".join(lines), "utf8")
    wall, cpu = time.perf_counter(), time.process_time()
    matcher.load_rules(path)
    return Timing(1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lexicon", type=Path, help="a saved lexicon; by default one with random words is made")
    path = parser.parse_args().lexicon
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lexicon = Lexicon.open(path) if path else make_lexicon(folder / "lexicon")
        nlp = make_pipeline(lexicon)
        matcher = nlp.get_pipe("lex_matcher")
        known = list(islice(lexicon, N_CHANGES * CHANGE // 2 + N_RULES // 2))
        plain = run_changes(nlp, known, 1)
        named = known[N_CHANGES * CHANGE // 2 :]
        loading = load_rules(matcher, [*named, *random_words(N_RULES - len(named), 2)], folder)
        with_file = run_changes(nlp, known, 3)
    rows = {"2 M words": plain, "2 M words, 1 M rules of a file": with_file}
    print(f"{len(lexicon):,} words; a change of {CHANGE:,}, milliseconds\n")
    print(f"{'':32}{'median':>10}{'slowest':>10}{'wall clock':>12}")
    for title, timings in rows.items():
        wall, cpu = zip(*timings)
        print(f"{title:32}{median(cpu):10.1f}{max(cpu):10.1f}{median(wall):12.1f}")
    print(f"\n{N_RULES:,} rules from a file: {loading.cpu / 1e3:.1f} s (wall clock {loading.wall / 1e3:.1f} s)\n")
    result = {
        "change_1000_ms": median(timing.cpu for timing in plain),
        "change_1000_max_ms": max(timing.cpu for timing in plain),
        "change_1000_wall_ms": median(timing.wall for timing in plain),
        "change_1000_with_1m_rules_ms": median(timing.cpu for timing in with_file),
        "load_1m_rules_s": loading.cpu / 1e3,
    }
    print(json.dumps({key: round(value, 2) for key, value in result.items()}))


if __name__ == "__main__":
    main()
