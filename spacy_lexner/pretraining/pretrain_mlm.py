"""`spacy-lexner.PretrainMLM.v1`: BERT's own pretraining, for `spacy pretrain`."""

from functools import partial
from typing import Any, Callable, Dict, Optional, Sequence

from spacy.vocab import Vocab
from thinc.api import Model

from .log import PretrainingLog
from .masked_task import MaskingOptions
from .masking import MACBERT_NGRAMS, Masking
from .mlm_task import MLMTask
from .objective import PretrainingObjective
from .sentence_pairs import DEFAULT_SHORT_SHARE


def create_pretrain_mlm(
    masking: str = "piece",
    words: str = "tokens",
    lexicon: Optional[str] = None,
    share: float = 0.15,
    mask_share: float = 0.8,
    random_share: float = 0.1,
    max_predictions: Optional[int] = None,
    ngram_shares: Sequence[float] = MACBERT_NGRAMS,
    next_sentence: bool = False,
    short_share: float = DEFAULT_SHORT_SHARE,
    max_length: Optional[int] = None,
    seed: int = 0,
    resumable: bool = True,
    log_every: int = 100,
    log_path: Optional[str] = None,
    progress_bar: bool = True,
    total_updates: int = 0,
) -> Callable[[Vocab, Model], Model]:
    """Create the objective: masked language model, and next sentence prediction if wanted (Devlin et al. 2019).

    masking (str): "piece", "whole_word" or "ngram" (of whole words).
    words (str): What a whole word is: "tokens", the tokens of the Doc; "lexicon", the longest lexicon words found in it
        from left to right, for Docs whose tokens are characters.
    lexicon (Optional[str]): Folder of a saved lexicon for that. By default the one linked to the encoder, which has one
        if it has adapters.
    share (float): Share of wordpieces to predict.
    mask_share, random_share (float): Of these, how many become [MASK] and how many any wordpiece; the rest is kept.
    max_predictions (Optional[int]): Most wordpieces to predict of a sequence.
    ngram_shares (Sequence[float]): Weights of n-grams of 1, 2, ... words; by default MacBERT's. ALBERT: 1, 1/2, 1/3.
    next_sentence (bool): Cut documents with sentence bounds into pairs of segments and predict whether they belong
        together. Random partners come from the same batch, so it should hold several documents.
    short_share (float): With pairs: share of documents that are cut into shorter sequences.
    max_length (Optional[int]): Most wordpieces of a sequence, with the special ones; by default the encoder's limit.
    seed (int): Seed of masking and pairing.
    resumable (bool): Save the heads, the moments of the optimiser and the state of chance together with the encoder, so
        that `--resume-path model7.bin` continues exactly. Makes the files about three times as large.
    log_every (int): Updates between two lines of losses and accuracies; 0 for none.
    log_path (Optional[str]): A file that gets these as JSON lines.
    progress_bar (bool): Show a progress bar on a terminal.
    total_updates (int): Updates of the whole run, for the bar, if known.
    RETURNS (Callable[[Vocab, Model], Model]): Makes the objective of an encoder.
    """
    options = MaskingOptions(
        Masking(masking, share, mask_share, random_share, max_predictions, tuple(ngram_shares)),
        words,
        lexicon,
        next_sentence,
        short_share,
        max_length,
        seed,
    )
    log = {"every": log_every, "path": log_path, "progress_bar": progress_bar, "total": total_updates}
    return partial(build_objective, options=options, log=log, resumable=resumable)


def build_objective(
    vocab: Vocab, tok2vec: Model, *, options: MaskingOptions, log: Dict[str, Any], resumable: bool
) -> PretrainingObjective:
    """Build the model that `spacy pretrain` trains.

    vocab (Vocab): Not used.
    tok2vec (Model[List[Doc], List[Floats2d]]): A LEBERT, or a model with one in it.
    options (MaskingOptions): The settings of the task.
    log (Dict[str, Any]): Arguments of PretrainingLog.
    resumable (bool): See `create_pretrain_mlm`.
    RETURNS (PretrainingObjective): The model.
    """
    nodes = [node for node in tok2vec.walk() if node.name == "lebert"]
    if len(nodes) != 1:
        raise ValueError(
            f"spacy-lexner.PretrainMLM.v1 pretrains spacy-lexner.LEBERT.v1, but the model that [pretraining] component "
            f"and layer name ({tok2vec.name!r}) holds {len(nodes)} of them."
        )
    return PretrainingObjective(tok2vec, nodes[0], MLMTask(options), PretrainingLog(**log), resumable=resumable)
