"""`spacy-lexner.PretrainERNIE.v1`: ERNIE's pretraining, for `spacy pretrain`."""

from functools import partial
from typing import Any, Callable, Dict, Optional, Sequence

from spacy.vocab import Vocab
from thinc.api import Model

from .entity_corruption import EntityCorruption, check_corruption
from .ernie_task import ErnieTask
from .log import PretrainingLog
from .masked_task import MaskingOptions
from .masking import MACBERT_NGRAMS, Masking
from .objective import PretrainingObjective
from .sentence_pairs import DEFAULT_SHORT_SHARE


def create_pretrain_ernie(
    replace_share: float = 0.05,
    remove_share: float = 0.15,
    min_entities: int = 0,
    masking: str = "piece",
    words: str = "tokens",
    lexicon: Optional[str] = None,
    share: float = 0.15,
    mask_share: float = 0.8,
    random_share: float = 0.1,
    max_predictions: Optional[int] = None,
    ngram_shares: Sequence[float] = MACBERT_NGRAMS,
    next_sentence: bool = True,
    short_share: float = DEFAULT_SHORT_SHARE,
    max_length: Optional[int] = None,
    seed: int = 0,
    resumable: bool = True,
    log_every: int = 100,
    log_path: Optional[str] = None,
    progress_bar: bool = True,
    total_updates: int = 0,
) -> Callable[[Vocab, Model], Model]:
    """Create the objective: masked language model, next sentence prediction, and a denoising entity auto-encoder, which
    tells from the text to which entity of the batch each mention belongs (Zhang et al. 2019). The losses are added.

    Entities come from where the encoder takes them: lexicon words, or `doc.ents` with a `kb_id_` (`.spacy` files keep
    these; plain text has none).

    replace_share (float): Share of mentions that show another entity of the batch.
    remove_share (float): Share of mentions that show none.
    min_entities (int): Sequences with fewer mentions are left out (the authors leave out those with fewer than 5).

    All other arguments are those of `create_pretrain_mlm`.

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
    corruption = EntityCorruption(replace_share, remove_share)
    check_corruption(corruption)
    task = {"options": options, "corruption": corruption, "min_entities": min_entities}
    log = {"every": log_every, "path": log_path, "progress_bar": progress_bar, "total": total_updates}
    return partial(build_objective, task=task, log=log, resumable=resumable)


def build_objective(
    vocab: Vocab, tok2vec: Model, *, task: Dict[str, Any], log: Dict[str, Any], resumable: bool
) -> PretrainingObjective:
    """Build the model that `spacy pretrain` trains.

    vocab (Vocab): Not used.
    tok2vec (Model[List[Doc], List[Floats2d]]): An ERNIE, or a model with one in it.
    task (Dict[str, Any]): Arguments of ErnieTask.
    log (Dict[str, Any]): Arguments of PretrainingLog.
    resumable (bool): See `create_pretrain_mlm`.
    RETURNS (PretrainingObjective): The model.
    """
    nodes = [node for node in tok2vec.walk() if node.name == "ernie"]
    if len(nodes) != 1:
        raise ValueError(
            "spacy-lexner.PretrainERNIE.v1 pretrains spacy-lexner.ERNIE.v1, but the model that [pretraining] component "
            f"and layer name ({tok2vec.name!r}) holds {len(nodes)} of them."
        )
    return PretrainingObjective(tok2vec, nodes[0], ErnieTask(**task), PretrainingLog(**log), resumable=resumable)
