"""`spacy-lexner.ERNIE.v1`: an encoder with entity vectors, for any component that takes token vectors."""

from typing import Any, Dict, List, Optional

from spacy.tokens import Doc
from spacy.util import SimpleFrozenDict
from thinc.api import Model
from thinc.types import Floats2d

from ..shared.lexicon_options import LexiconOptions
from ..shared.read_as import ReadAs
from .entities import Alignment, Overlaps
from .entity_node import EntitySource
from .layer import ERNIEEncoder, ERNIEOptions
from .setup import EntitiesFrom, ERNIESetup

NO_OPTIONS: Dict[str, Any] = SimpleFrozenDict()


def build_ernie_v1(
    checkpoint: Optional[str] = None,
    vocab: Optional[str] = None,
    *,
    lower_case: bool = True,
    vocab_min_count: int = 1,
    piece_vectors: Optional[str] = None,
    read_as: ReadAs = "written",
    hidden_width: int = 128,
    depth: int = 2,
    heads: int = 4,
    intermediate_width: int = 512,
    layer_types: Optional[List[str]] = None,
    entity_width: Optional[int] = None,
    entity_heads: Optional[int] = None,
    source: EntitySource = "candidates",
    overlaps: Overlaps = "longest",
    alignment: Alignment = "first",
    entities: EntitiesFrom = "frozen",
    dropout: float = 0.1,
    attention_dropout: float = 0.1,
    window: Optional[int] = None,
    stride: Optional[int] = None,
    max_batch_tokens: int = 4096,
    mixed_precision: bool = False,
    grad_scaler_config: Dict[str, Any] = NO_OPTIONS,
    gradient_checkpointing: bool = False,
    lexicon: Dict[str, Any] = NO_OPTIONS,
) -> Model[List[Doc], List[Floats2d]]:
    """Build an ERNIE (Zhang et al. 2019): a BERT-shaped encoder with entity vectors fused into its upper layers.

    The entities and their vectors come from the lexicon of the pipeline's `lex_matcher`, which must come before the
    component that holds this model: words with an `entity_id` and a vector. Linked mentions are stored in
    `doc._.lex_entities`.

    checkpoint (Optional[str]): Folder or Hugging Face hub name of a BERT-shaped checkpoint, or a folder with an ERNIE
        (`spacy lexner import ernie`, `spacy lexner export-hf`). It is read only when the pipeline is initialised; a
        saved pipeline does not need it. None: random weights.
    layer_types (Optional[List[str]]): Type of each layer from the lowest up: "sim" (text alone), "mix" (fusion), "norm"
        (fusion after self-attention of the entities); missing ones are "sim". None: those of the checkpoint if it is an
        ERNIE, else "norm" for the upper half and "mix" for the layer below it (the original: 5 sim, 1 mix, 6 norm).
        With an ERNIE, a layer may only differ by being "sim".
    entity_width (Optional[int]): Width of the entity vectors; None for that of the lexicon.
    entity_heads (Optional[int]): Heads of their self-attention; None for 4, or those of the checkpoint.
    source (str): "candidates": lexicon words with an entity id. "ents": entities of `doc.ents` with a `kb_id_`.
    overlaps (str): Which of several overlapping candidates is linked: the "longest", the "first", or "all".
    alignment (str): "first": an entity is aligned to the first wordpiece of its mention. "alternate": to every second
        one, as the authors' pretraining script does by mistake.
    entities (str): "frozen": entity vectors stay as in the lexicon. "finetuned": those of entities in the training
        texts are copied and trained.
    lexicon (Dict[str, Any]): Block of options: see `LexiconOptions` in `encoders/shared/lexicon_options.py`. They
        apply to entities of candidate words, not to those of `doc.ents`.

    All other arguments are those of `build_lebert_v1`.

    RETURNS (Model[List[Doc], List[Floats2d]]): The encoder, one row per token.
    """
    setup = ERNIESetup(
        checkpoint=checkpoint,
        vocab=vocab,
        lower_case=lower_case,
        vocab_min_count=vocab_min_count,
        piece_vectors=piece_vectors,
        read_as=read_as,
        hidden_width=hidden_width,
        depth=depth,
        heads=heads,
        intermediate_width=intermediate_width,
        dropout=dropout,
        attention_dropout=attention_dropout,
        gradient_checkpointing=gradient_checkpointing,
        layer_types=None if layer_types is None else tuple(layer_types),
        entity_width=entity_width,
        entity_heads=entity_heads,
        entities=entities,
    )
    options = ERNIEOptions(
        source=source,
        overlaps=overlaps,
        alignment=alignment,
        window=window,
        stride=stride,
        max_batch_tokens=max_batch_tokens,
        lexicon=LexiconOptions.read(lexicon),
    )
    return ERNIEEncoder(setup, options, mixed_precision=mixed_precision, grad_scaler_config=dict(grad_scaler_config))
