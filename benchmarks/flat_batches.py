"""What making FLAT's lattices from Docs costs, as a share of a forward pass over 32 Docs.

    python benchmarks/flat_batches.py [--length 60] [--repeats 15]

The texts are made of random words; the lexicon has these words and others. Preparation starts with Docs whose
candidates a lex_matcher has stored, and ends with the tensors that the module reads. CPU time, one thread.
"""

import argparse
import json
import random
import statistics
import time
from typing import Callable, List

import numpy as np
import spacy
import torch
from spacy.tokens import Doc

from spacy_lexner.candidates.storage import find_candidates, set_candidates
from spacy_lexner.candidates.training_texts import show_training_docs
from spacy_lexner.encoders.flat.architecture import build_flat_v1
from spacy_lexner.encoders.flat.layer import _batches
from spacy_lexner.encoders.shared.characters import read_characters
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher
from spacy_lexner.lexicon.shared_matcher import SharedMatcher

N_CHARACTERS, N_WORDS, WIDTH = 3000, 40_000, 50


def random_words(rng: random.Random) -> List[str]:
    characters = [chr(0x4E00 + i) for i in range(N_CHARACTERS)]
    sizes = rng.choices((2, 3, 4, 5), (70, 18, 10, 2), k=N_WORDS)
    return sorted({"".join(rng.choices(characters[: 600 if i % 2 else None], k=size)) for i, size in enumerate(sizes)})


def random_docs(rng: random.Random, words: List[str], n: int, length: int, vocab: spacy.vocab.Vocab) -> List[Doc]:
    docs = []
    for _ in range(n):
        size, text = int(length * rng.uniform(0.3, 1.7)), ""
        while len(text) < size:
            text += rng.choice(words) if rng.random() < 0.6 else chr(0x4E00 + rng.randrange(600))
        docs.append(Doc(vocab, words=list(text[:size]), spaces=[False] * size))
    return docs


def median(run: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats + 1):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return 1000 * statistics.median(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--length", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=15)
    args = parser.parse_args()
    torch.set_num_threads(1)
    rng, vectors = random.Random(0), np.random.default_rng(0)
    words, nlp = random_words(rng), spacy.blank("zh")
    entries = (LexiconEntry(word, vectors.normal(size=WIDTH).astype("f4")) for word in words)
    matcher = Matcher(Lexicon.from_entries(entries))
    training = random_docs(rng, words, 500, args.length, nlp.vocab)
    docs = random_docs(rng, words, 32, args.length, nlp.vocab)
    for doc, candidates in zip(docs, find_candidates(matcher, docs)):
        set_candidates(doc, matcher.version, candidates)

    model = build_flat_v1(width=160)
    model.layers[0].attrs["link"].source = SharedMatcher(matcher)
    show_training_docs(model, training)
    model.initialize(X=training[:10])
    batches = list(_batches(model, docs, read_characters(docs), False))
    n_tokens = sum(int((batch.batch.characters != 0).sum() + (batch.batch.word_ids != 0).sum()) for batch in batches)
    prepare = median(lambda: list(_batches(model, docs, read_characters(docs), False)), args.repeats)
    forward = median(lambda: model.predict(docs), args.repeats)
    print(f"32 Docs, {sum(map(len, docs))} characters, {n_tokens} lattice tokens in {len(batches)} batches")
    print(f"preparation {prepare:.2f} ms, forward pass with preparation {forward:.2f} ms")
    print(json.dumps({"prepare_share": float(f"{prepare / forward:.3g}")}))


if __name__ == "__main__":
    main()
