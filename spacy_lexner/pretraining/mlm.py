"""`spacy-lexner.PretrainMLM.v1`: BERT's own pretraining, for `spacy pretrain` (Devlin et al. 2019)."""

from functools import partial
from typing import Callable, Optional, Sequence

import numpy as np
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from ..candidates.batch_words import BatchWords, place_words
from ..encoders.lebert.batches import pad_windows
from ..encoders.lebert.layer import choose_words
from ..encoders.shared.shim import shim_of
from ..encoders.shared.wordpiece_encoder import wordpieces_of
from .masked_task import MaskedTask, MaskingOptions, collect
from .masking import Masking
from .objective import PretrainingBatch, build_objective

MASKING = Masking()


def create_pretrain_mlm(
    masking: str = MASKING.unit,
    words: str = MaskingOptions.words,
    lexicon: Optional[str] = None,
    share: float = MASKING.share,
    mask_share: float = MASKING.mask_share,
    random_share: float = MASKING.random_share,
    max_predictions: Optional[int] = None,
    ngram_shares: Sequence[float] = MASKING.ngram_shares,
    next_sentence: bool = False,
    short_share: float = MaskingOptions.short_share,
    max_length: Optional[int] = None,
    seed: int = 0,
    resumable: bool = True,
    log_every: int = 100,
    log_path: Optional[str] = None,
    progress_bar: bool = True,
    total_updates: int = 0,
) -> Callable[[Vocab, Model], Model]:
    """Create the objective: masked language model and, optionally, next sentence prediction.

    masking (str): "piece", "whole_word" or "ngram" (of whole words).
    words (str): What a whole word is: "tokens", the tokens of the Doc; "lexicon", the longest lexicon words found in it
        from left to right, for Docs whose tokens are characters.
    lexicon (Optional[str]): Folder of a saved lexicon for `words`. By default the one linked to the encoder, which
        exists if it has adapters.
    share (float): Share of wordpieces to predict.
    mask_share, random_share (float): The shares of these that become [MASK] and any wordpiece; the rest is kept.
    max_predictions (Optional[int]): Most wordpieces to predict in a sequence.
    ngram_shares (Sequence[float]): Weights of n-grams of 1, 2, ... words; by default MacBERT's. ALBERT: 1, 1/2, 1/3.
    next_sentence (bool): Cut documents with sentence boundaries into pairs of segments and predict whether they belong
        together. Random partners come from the same batch, so it should hold several documents.
    short_share (float): With pairs: share of documents that are cut into shorter sequences.
    max_length (Optional[int]): Most wordpieces of a sequence, with the special ones; by default the encoder's limit.
    seed (int): Seed of masking and pairing.
    resumable (bool): Save the heads, the optimiser's moments and all random states together with the encoder, so that
        `--resume-path model7.bin` continues exactly. Makes the files about three times as large.
    log_every (int): Updates between two log lines with losses and accuracies; 0 for none.
    log_path (Optional[str]): A file to which these are appended as JSON lines.
    progress_bar (bool): Show a progress bar on a terminal.
    total_updates (int): Updates of the whole run, for the bar, if known.
    RETURNS (Callable[[Vocab, Model], Model]): Puts the objective on an encoder.
    """
    how = Masking(masking, share, mask_share, random_share, max_predictions, tuple(ngram_shares))
    options = MaskingOptions(how, words, lexicon, next_sentence, short_share, max_length, seed)
    log = {"every": log_every, "path": log_path, "progress_bar": progress_bar, "total": total_updates}
    return partial(build_objective, task=partial(MLMTask, options), log=log, resumable=resumable)


class MLMTask(MaskedTask):
    """Masks wordpieces, and hides the candidate words that would give them away."""

    name = "spacy-lexner.PretrainMLM.v1"
    encoder = "lebert"
    architecture = "spacy-lexner.LEBERT.v1"

    def prepare(self, node: Model, docs: Sequence[Doc], *, exact: bool = False) -> Optional[PretrainingBatch]:
        sequences, found = self.read(node, docs)
        chosen = None
        if found is not None:
            words = place_words(sequences.docs, found, sequences.counts)
            chosen = choose_words(node, hide_masked(words, sequences.selected), sequences.ids)
        batches, targets = [], []
        device, max_tokens = shim_of(node).device, node.attrs["options"].max_batch_tokens
        for index, windows in sequences.batches(max_tokens):
            padded = pad_windows(windows, sequences.shown, wordpieces_of(node), chosen, device)
            batch, target = self.target(sequences, index, *padded)
            batches.append(batch)
            targets.append(target)
        return collect(batches, targets)


def hide_masked(words: BatchWords, selected: np.ndarray) -> BatchWords:
    """Remove the candidate words that cover a wordpiece to predict (bool[n_pieces]), even if it is shown unchanged."""
    n_selected = np.append(0, np.cumsum(selected))  # before each wordpiece
    return words.take(n_selected[words.ends] == n_selected[words.starts])
