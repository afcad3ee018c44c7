"""Wordpiece embeddings that start from vectors of characters."""

import torch
from torch import nn

from .vector_file import read_vectors
from .wordpieces import Wordpieces


def start_from_characters(table: nn.Embedding, wordpieces: Wordpieces, path: str) -> int:
    """Add the vectors of characters to the random embeddings of the wordpieces that are single characters.

    A masked language model spends its first thousand updates on learning which characters are alike. Vectors of a
    skip-gram model, which is trained in a minute, know it already. They are centred, since what all of them share tells
    nothing, brought to length 1, and turned into the wider space by a random rotation, which keeps all distances.

    table (nn.Embedding): The embeddings, [V, H]. Changed in place.
    wordpieces (Wordpieces): What its rows stand for.
    path (str): A file of vectors in the text format of word2vec, of at most H values each.
    RETURNS (int): How many wordpieces have got a vector. Raises ValueError where the file has none for any, or where
        its vectors are too wide.
    """
    given = read_vectors(path, "characters", None)
    if given.width > table.embedding_dim:
        raise ValueError(
            f"{path} holds vectors of {given.width} values, more than the {table.embedding_dim} of a wordpiece "
            "(hidden_width): train narrower ones, or choose a wider model."
        )
    rows = [(wordpieces.tokenizer.token_to_id(character), i) for i, character in enumerate(given.keys)]
    known = torch.tensor([(piece, i) for piece, i in rows if piece is not None]).reshape(-1, 2)
    if not len(known):
        raise ValueError(f"{path} holds vectors of {len(rows)} characters, none of which is in the vocabulary.")
    vectors = torch.from_numpy(given.vectors)
    vectors = nn.functional.normalize(vectors - vectors.mean(dim=0), dim=1)
    rotation = nn.init.orthogonal_(torch.empty(given.width, table.embedding_dim))
    with torch.no_grad():
        table.weight[known[:, 0]] += vectors[known[:, 1]] @ rotation
    return len(known)
