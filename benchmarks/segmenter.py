"""Words from characters: merging tokens beside spaCy's retokenizer, and whole pipelines beside jieba and pkuseg.

    python benchmarks/segmenter.py [--characters 200000] [--peer-characters 20000]

The text is real if the data folder has the public data sets, otherwise random. Its words are jieba's, if that is
installed, otherwise random; both ways of merging get the same words. spaCy's retokenizer gets a shorter text, since its
time grows with the square of the length. pkuseg's published models are not part of its package, so it is trained here
on some sentences, only to measure its speed. All run on one thread, and times are CPU time, which excludes other work
on the machine. The last line is a JSON object: `seconds_200k` (median of 5), `retokenizer_x` (the time of spaCy's
retokenizer over ours, on the shorter text, in the same run), characters per second of each segmenter.
"""

import argparse
import contextlib
import io
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import spacy
import torch
from real_text import read_text
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lexner.candidates.storage import token_borders
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.pipeline.segmenter.retokenize import merge_tokens
from spacy_lexner.tagging.spans.word_borders import BORDER, JOINED, fixed_borders

PARAGRAPH = 200  # characters per Doc when whole pipelines are timed


def cut_words(text: str) -> list[str]:
    """The words of a text, by jieba or at random."""
    try:
        import jieba
    except ImportError:
        rng, words, place = random.Random(0), [], 0
        while place < len(text):
            words.append(text[place : place + rng.choice([1, 1, 2, 2, 2, 3, 4])])
            place += len(words[-1])
        return words
    jieba.setLogLevel("ERROR")
    return jieba.lcut(text)


def find_starts(doc: Doc, words: list[str]) -> np.ndarray:
    """The first units of words, as far as the rules allow."""
    places = np.cumsum([0, *map(len, words)])
    borders = fixed_borders(doc)[:-1]
    begins, _ = token_borders(doc)
    return np.flatnonzero((borders == BORDER) | ((borders != JOINED) & np.isin(begins, places)))


def seconds(function: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return statistics.median(times)


def merge_with_spacy(doc: Doc, starts: np.ndarray) -> None:
    ends = [*starts[1:].tolist(), len(doc)]
    with doc.retokenize() as retokenizer:
        for start, end in zip(starts.tolist(), ends):
            if end - start > 1:
                retokenizer.merge(doc[start:end])


def make_segmenter(words: list[str], encoder: str) -> Language:
    """`lex_segmenter` with an encoder at its defaults and a lexicon, trained for a few steps."""
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {"@tokenizers": "spacy-lexner.CharTokenizer.v1"}}})
    nlp.add_pipe("lex_matcher").set_lexicon(Lexicon.from_entries(map(LexiconEntry, sorted(set(words)))))
    model = {"@architectures": "spacy-lexner.CRFTagger.v1", "tok2vec": {"@architectures": f"spacy-lexner.{encoder}.v1"}}
    nlp.add_pipe("lex_segmenter", config={"pos": None, "model": model})
    examples = []
    for first in range(0, 1000, 250):  # longer than the timed Docs, which are therefore read in one piece
        doc = Doc(nlp.vocab, words[first : first + 250], spaces=[False] * len(words[first : first + 250]))
        examples.append(Example(nlp.make_doc(doc.text), doc))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(5):
        nlp.update(examples, sgd=optimizer)
    return nlp


def train_pkuseg(words: list[str]) -> Callable[[str], list[str]] | None:
    try:
        import spacy_pkuseg
    except ImportError:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "words.txt"
        lines = (" ".join(word for word in words[i : i + 20] if word.strip()) for i in range(0, 4000, 20))
        file.write_text("\n".join(lines) + "\n", encoding="utf8")
        with contextlib.redirect_stdout(io.StringIO()):
            spacy_pkuseg.train(str(file), str(file), f"{folder}/model", train_iter=1)
        return spacy_pkuseg.pkuseg(f"{folder}/model", user_dict=None).cut


def measure_merging(text: str, peer_text: str) -> Iterator[tuple[str, float]]:
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {"@tokenizers": "spacy-lexner.CharTokenizer.v1"}}})
    doc, peer_doc = nlp.make_doc(text), nlp.make_doc(peer_text)
    starts, peer_starts = (find_starts(each, cut_words(each.text)) for each in (doc, peer_doc))
    yield "seconds_200k", seconds(lambda: merge_tokens(doc, starts), 5)
    ours = seconds(lambda: merge_tokens(peer_doc, peer_starts), 5)
    copies = [peer_doc.copy() for _ in range(3)]
    yield "retokenizer_x", seconds(lambda: merge_with_spacy(copies.pop(), peer_starts), 3) / ours


def measure_segmenting(text: str) -> Iterator[tuple[str, float]]:
    words = cut_words(text)
    paragraphs = [text[i : i + PARAGRAPH] for i in range(0, len(text), PARAGRAPH)]
    cutters: dict[str, Callable[[], object]] = {}
    for encoder in ("FLAT", "LEBERT"):
        nlp = make_segmenter(words, encoder)
        cutters[f"lex_segmenter_{encoder}"] = lambda nlp=nlp: list(nlp.pipe(paragraphs))
    if (pkuseg := train_pkuseg(words)) is not None:
        cutters["pkuseg"] = lambda: [pkuseg(paragraph) for paragraph in paragraphs]
    with contextlib.suppress(ImportError):
        import jieba

        cutters["jieba"] = lambda: [jieba.lcut(paragraph) for paragraph in paragraphs]
    for name, cut in cutters.items():
        yield f"{name}_characters_per_second", len(text) / seconds(cut, 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--characters", type=int, default=200_000)
    parser.add_argument("--peer-characters", type=int, default=20_000)
    args = parser.parse_args()
    torch.set_num_threads(1)
    text = read_text(args.characters)
    figures = {}
    for measure in (
        lambda: measure_merging(text, text[: args.peer_characters]),
        lambda: measure_segmenting(text[: args.peer_characters]),
    ):
        for name, value in measure():
            figures[name] = round(value, 3) if value < 100 else round(value)
            print(f"{name:44} {figures[name]:>12,}", flush=True)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
