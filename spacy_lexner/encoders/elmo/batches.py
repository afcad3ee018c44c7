"""Conversion of Docs to ELMo's input: each distinct word once, and sentences as rows of words."""

from typing import List, NamedTuple, Optional, Sequence

import numpy as np
import torch
from spacy.attrs import ORTH
from spacy.tokens import Doc
from thinc.api import ArgsKwargs
from torch import Tensor

from ...tensors.convert import tensor_of
from .character_ids import CharacterIds

BEGIN, END, FIRST_WORD = 0, 1, 2


class ELMoBatch(NamedTuple):
    """A batch of Docs, none of them empty, each with a begin and an end around its tokens."""

    characters: Tensor  # character ids of the distinct words, int64 [n_words, length]; the first two are begin and end
    rows: Tensor  # the word of each row of the batch, int64 [n_rows] on the CPU
    lengths: Tensor  # rows of each Doc, int64 [n_docs] on the CPU
    tokens: Tensor  # the rows that are tokens, int64 [n_tokens] on the CPU
    words: List[str]  # the distinct words, without begin and end

    def inputs(self, *, top_only: bool = False) -> ArgsKwargs:
        """RETURNS (ArgsKwargs): The arguments of ELMo's module, which returns the mixes, or the language model's last
        layer if `top_only`."""
        return ArgsKwargs(args=(self.characters, self.rows, self.lengths), kwargs={"top_only": top_only})


def make_batch(docs: Sequence[Doc], ids: CharacterIds, device: Optional[torch.device] = None) -> ELMoBatch:
    """Batch Docs, each with at least one token, for a module on `device`."""
    lengths = np.array([len(doc) for doc in docs], dtype=np.int64)
    ends = lengths.cumsum()
    hashes = np.concatenate([doc.to_array(ORTH) for doc in docs])
    _, first, numbers = np.unique(hashes, return_index=True, return_inverse=True)
    owners = np.searchsorted(ends, first, side="right")
    words = [docs[owner][int(token)].text for owner, token in zip(owners, first - (ends - lengths)[owners])]

    # Every Doc has two more rows than tokens.
    tokens = np.arange(len(hashes)) + 2 * np.repeat(np.arange(len(docs)), lengths) + 1
    rows = np.full(len(hashes) + 2 * len(docs), END, dtype=np.int64)
    rows[ends - lengths + 2 * np.arange(len(docs))] = BEGIN
    rows[tokens] = numbers + FIRST_WORD
    characters = np.concatenate([ids.boundary_words(), ids.encode(words)])
    arrays = (characters, rows, lengths + 2, tokens)
    characters_, rows_, lengths_, tokens_ = map(tensor_of, arrays)
    return ELMoBatch(characters_.to(device), rows_, lengths_, tokens_, words)
