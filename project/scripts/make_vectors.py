"""Train word vectors on raw text: positive pointwise mutual information with the characters around a word, then SVD
(Levy and Goldberg 2014). Small and exact, for the demo corpus; for real text use word2vec."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, List, Tuple

import numpy as np
import typer
from tqdm import tqdm
from wasabi import msg

from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon

OFFSETS = (-2, -1, 1, 2)  # the characters around a word that are its context
EDGE = "\n"


def count_contexts(words: List[str], texts: List[str]) -> Tuple[np.ndarray, List[str]]:
    """Count the characters around each occurrence of each word, including overlapping occurrences.

    words (List[str]): The words. One that a lexicon cannot hold, such as a very long one, has no contexts.
    texts (List[str]): The raw texts.
    RETURNS (Tuple[numpy.ndarray, List[str]]): float32 [n_words, n_characters * n_offsets], and the characters.
    """
    lexicon = Lexicon.from_entries(LexiconEntry(word) for word in words)
    chars = sorted({EDGE, *"".join(texts)})
    char_ids = {char: i for i, char in enumerate(chars)}
    rows = lexicon.rows(np.array([lexicon.hash(word) for word in words], "u8"))
    valid = np.flatnonzero(rows >= 0)
    row_of_word = np.full(len(lexicon), -1, "i8")
    row_of_word[rows[valid]] = valid
    counts = np.zeros((len(words), len(OFFSETS) * len(chars)), "f4")
    for text in tqdm(texts, desc="contexts", unit="sent", leave=False, disable=None):
        padded = np.array([char_ids[char] for char in f"{EDGE * 2}{text}{EDGE * 2}"])
        found = lexicon.match(text)
        words_found = row_of_word[lexicon.rows(found.hashes)]
        for column, offset in enumerate(OFFSETS):
            place = found.starts + 2 + offset if offset < 0 else found.ends + 1 + offset
            np.add.at(counts, (words_found, column * len(chars) + padded[place]), 1)
    return counts, chars


def factorise(counts: np.ndarray, dim: int, seed: int) -> np.ndarray:
    """Turn counts into vectors: the rows of U * sqrt(S) of the positive pointwise mutual information, normalised to
    length 1.

    counts (numpy.ndarray): float32 [n_words, n_contexts].
    dim (int): Width of the vectors.
    seed (int): Seed of the randomised SVD.
    RETURNS (numpy.ndarray): float32 [n_words, dim]; zeros for a word without context.
    """
    total = counts.sum()
    expected = counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True) / max(total, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ppmi = np.nan_to_num(np.maximum(np.log(counts / expected), 0), nan=0.0, posinf=0.0)
    # Randomised range finder with two power iterations (Halko, Martinsson and Tropp 2011).
    basis = np.random.default_rng(seed).standard_normal((ppmi.shape[1], dim + 10), "f4")
    for _ in range(2):
        basis = ppmi.T @ np.linalg.qr(ppmi @ basis)[0]
    q = np.linalg.qr(ppmi @ basis)[0]
    u, s, _ = np.linalg.svd(q.T @ ppmi, full_matrices=False)
    vectors = (q @ u)[:, :dim] * np.sqrt(s[:dim])
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(norms > 1e-6, norms, 1)).astype("f4")


def main(
    words: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Word list, one word per line.")],
    text: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Raw text, one sentence per line.")],
    out: Annotated[Path, typer.Argument(help="File for the vectors, word2vec text format.")],
    dim: Annotated[int, typer.Option(min=2, help="Width of the vectors.")] = 50,
    min_count: Annotated[int, typer.Option(min=1, help="Rarer words get no vector.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the factorisation.")] = 0,
) -> None:
    """Train vectors for the words of a list on raw text."""
    vocabulary = words.read_text("utf8").split()
    counts, _ = count_contexts(vocabulary, [line for line in text.read_text("utf8").split("\n") if line])
    frequent = np.flatnonzero(counts.sum(1) >= min_count * len(OFFSETS))
    if len(frequent) <= dim:
        msg.fail(
            f"Only {len(frequent)} words of {words} occur {min_count} times in {text}: too few for {dim} dimensions.",
            exits=1,
        )
    vectors = factorise(counts[frequent], dim, seed)
    with out.open("w", encoding="utf8", newline="\n") as file:
        file.write(f"{len(frequent)} {dim}\n")
        for row, vector in zip(frequent, vectors):
            file.write(f"{vocabulary[row]} {' '.join(f'{x:.4f}' for x in vector)}\n")
    msg.good(f"{out}: {dim}-dimensional vectors for {len(frequent)} of {len(vocabulary)} words")


if __name__ == "__main__":
    typer.run(main)
