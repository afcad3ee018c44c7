"""`spacy-lexner.PretrainBiLM.v1`: ELMo's own pretraining, for `spacy pretrain` (Peters et al. 2018)."""

from functools import partial
from random import Random
from typing import Any, Callable, Dict, Optional, Sequence, Tuple, Union, cast

import numpy as np
import torch
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model
from torch import Tensor, nn
from torch.nn.functional import dropout

from ..encoders.elmo.batches import BEGIN, END
from ..encoders.elmo.layer import read_docs
from ..encoders.elmo.model import ELMo
from ..encoders.shared.shim import shim_of
from ..tensors.convert import tensor_of
from . import word_vocabulary
from .heads import HeadLoss, Losses
from .objective import PretrainingBatch, PretrainingTask, build_objective
from .softmax import AdaptiveSoftmax, FullSoftmax, SampledSoftmax
from .word_vocabulary import WordVocabulary

SOFTMAXES = ("full", "sampled", "adaptive")
# The sizes of the clusters grow about tenfold, as Grave et al. 2017 recommend.
DEFAULT_CUTOFFS: Tuple[int, ...] = (2000, 20000)


def create_pretrain_bilm(
    words: Optional[str] = None,
    max_words: int = 0,
    softmax: str = "full",
    n_samples: int = 8192,
    cutoffs: Sequence[int] = DEFAULT_CUTOFFS,
    dropout: float = 0.1,
    resumable: bool = True,
    log_every: int = 100,
    log_path: Optional[str] = None,
    progress_bar: bool = True,
    total_updates: int = 0,
) -> Callable[[Vocab, Model], Model]:
    """Create the objective: predict the next and the previous word from the last layer of each direction, with a shared
    softmax. The beginning and end of a Doc count as words.

    words (Optional[str]): File of counted words, written by `spacy lexner count-words` with the tokenizer of the
        pipeline. Required.
    max_words (int): Most words of the file to predict; all others are one unknown word. 0 for all.
    softmax (str): "full"; "sampled", by a log-uniform sample with correction, as in the original; "adaptive", with
        clusters of rare words.
    n_samples (int): Number of distinct words in a sample.
    cutoffs (Sequence[int]): The first words of the adaptive softmax's clusters; those beyond the vocabulary are left
        out.
    dropout (float): Dropout of the language model's output.
    resumable (bool): Save the softmax, the optimiser's moments and all random states together with the encoder, so that
        `--resume-path model7.bin` continues exactly, and `spacy lexner perplexity` has the softmax.
    log_every (int): Updates between two log lines with losses and perplexity; 0 for none.
    log_path (Optional[str]): A file to which these are appended as JSON lines.
    progress_bar (bool): Show a progress bar on a terminal.
    total_updates (int): Updates of the whole run, for the bar, if known.
    RETURNS (Callable[[Vocab, Model], Model]): Puts the objective on an encoder.
    """
    head = {"softmax": softmax, "n_samples": n_samples, "cutoffs": list(cutoffs), "dropout": dropout}
    log = {"every": log_every, "path": log_path, "progress_bar": progress_bar, "total": total_updates}
    return partial(build_objective, task=partial(BiLMTask, words, max_words, head), log=log, resumable=resumable)


class BiLMTask(PretrainingTask):
    """Predicts every word of the Docs from the words before it, and from those after it."""

    name = "spacy-lexner.PretrainBiLM.v1"
    encoder = "elmo"
    architecture = "spacy-lexner.ELMo.v1"

    def __init__(self, words: Optional[str], max_words: int, head: Dict[str, Any]) -> None:
        """Read the vocabulary. `head` has the arguments of BiLMHead, without the sizes."""
        if words is None:
            raise ValueError(
                "There are no words to predict: set [pretraining.objective] words to a file written by 'spacy lexner "
                "count-words' with the tokenizer of this pipeline."
            )
        self.vocabulary = WordVocabulary.read(words, max_words)
        self.head = head
        self.rng = Random(0)  # not used: everything random here is torch's
        self.build_heads = build_bilm_head

    def head_settings(self, node: Model) -> Dict[str, Any]:
        settings = dict(self.head)
        if settings["softmax"] == "adaptive":
            settings["cutoffs"] = [cutoff for cutoff in settings["cutoffs"] if cutoff < len(self.vocabulary)]
            if not settings["cutoffs"]:
                raise ValueError(
                    f"The vocabulary has only {len(self.vocabulary)} words, too few for an adaptive softmax with "
                    f'cutoffs = {self.head["cutoffs"]}: set [pretraining.objective] softmax = "full", or smaller ones.'
                )
        width = cast(ELMo, shim_of(node).module).bilm.projection_dim
        return {
            **settings,
            "width": width,
            "n_words": len(self.vocabulary),
            "vocabulary": self.vocabulary.fingerprint,
        }

    def prepare(self, node: Model, docs: Sequence[Doc], *, exact: bool = False) -> Optional[PretrainingBatch]:
        batch = read_docs(node, docs)
        if batch is None:
            return None
        special = np.array([word_vocabulary.BEGIN, word_vocabulary.END])
        numbers = tensor_of(np.concatenate([special, self.vocabulary.numbers(batch.words)]))
        targets = {
            "words": numbers[batch.rows],
            "begins": batch.rows == BEGIN,
            "ends": batch.rows == END,
            "exact": exact and self.head["softmax"] == "sampled",
            "vocabulary": self.vocabulary.fingerprint,
        }
        return PretrainingBatch(batch.inputs(top_only=True), targets)


class BiLMHead(nn.Module):
    """Predicts each word from what either direction has read before it; sentence begin and end count as words.

    width (int): Width of one direction.
    n_words (int): Size of the vocabulary, which is in order of frequency.
    vocabulary (str): Fingerprint of the vocabulary.
    softmax, n_samples, cutoffs, dropout: See `create_pretrain_bilm`.
    """

    def __init__(
        self,
        *,
        width: int,
        n_words: int,
        vocabulary: str,
        softmax: str,
        n_samples: int,
        cutoffs: Sequence[int],
        dropout: float,
    ):
        super().__init__()
        self.vocabulary = vocabulary
        self.dropout = dropout
        self.softmax: Union[FullSoftmax, AdaptiveSoftmax]
        if softmax == "full":
            self.softmax = FullSoftmax(width, n_words)
        elif softmax == "sampled":
            self.softmax = SampledSoftmax(width, n_words, n_samples)
        elif softmax == "adaptive":
            self.softmax = AdaptiveSoftmax(width, n_words, cutoffs)
        else:
            raise ValueError(f"softmax is {softmax!r}; expected one of {', '.join(SOFTMAXES)}.")

    def forward(
        self, *, output: Tensor, words: Tensor, begins: Tensor, ends: Tensor, vocabulary: str, exact: bool = False
    ) -> Losses:
        """Predict the words of a batch. Raises ValueError if `vocabulary` is not the softmax's.

        output (Tensor): Last layer of the language model [n_rows, 2 * width], each sentence with begin and end.
        words (Tensor): The word of each row, int64 [n_rows].
        begins, ends (Tensor): Which rows are begins and ends, bool [n_rows].
        exact (bool): Compute the perplexity by the full softmax even if the softmax is sampled.
        RETURNS (Losses): The mean of both directions, as in the original, and both parts. "perplexity" is exact, or
            missing.
        """
        if vocabulary != self.vocabulary:
            raise ValueError(
                "This run was started with a different vocabulary. Set [pretraining.objective] words and max_words to "
                "those it was started with."
            )
        n_words = int((~begins).sum())
        following, preceding = words[~begins], words[~ends]
        before, after = dropout(output, self.dropout, self.training).chunk(2, dim=1)
        forward = self.softmax(before[~ends], following).mean()
        backward = self.softmax(after[~begins], preceding).mean()
        total = (forward + backward) / 2
        parts = {"forward": HeadLoss(forward, None, n_words), "backward": HeadLoss(backward, None, n_words)}
        if exact:
            with torch.no_grad():
                before, after = output.chunk(2, dim=1)
                losses = [self.softmax.exact(before[~ends], following), self.softmax.exact(after[~begins], preceding)]
                parts["perplexity"] = HeadLoss(torch.cat(losses).mean(), None, 2 * n_words)
        elif not (self.training and isinstance(self.softmax, SampledSoftmax)):
            parts["perplexity"] = HeadLoss(total, None, 2 * n_words)
        return Losses(total, parts)


def build_bilm_head(settings: Dict[str, Any]) -> BiLMHead:
    """Build a head with random weights."""
    return BiLMHead(**settings)
