"""`spacy-lexner.FLAT.v1`: the encoder for any component that takes token vectors."""

from functools import partial
from typing import Any, Dict, List, Optional

from spacy.tokens import Doc
from spacy.util import SimpleFrozenDict
from thinc.api import Model
from thinc.types import Floats2d

from ...lexicon.matcher import SingleChars
from ..shared.blocks import BuilderWithBlocks
from ..shared.lexicon_options import LabelOptions
from .layer import FlatEncoder, FlatOptions
from .options import Attention, Embedding, Positions, SubLayers
from .setup import FlatSetup, FlatWordsFrom

NO_OPTIONS: Dict[str, Any] = SimpleFrozenDict()
RENAMED = {
    "word_width": "embedding.vector_width",
    "positions": "positions.kind",
    "learn_positions": "positions.learned",
    "distance_offset": "positions.offset",
    "normalize_positions": "positions.normalize",
    "attention_dropout": "attention.dropout",
    "pre": "sublayers.norm",
    "post": "sublayers.norm, residual, dropout",
    "post_dropout": "sublayers.dropout",
}


@partial(
    BuilderWithBlocks,
    name="spacy-lexner.FLAT.v1",
    blocks=(Embedding, Positions, Attention, SubLayers, LabelOptions),
    renamed=RENAMED,
)
def build_flat_v1(
    contextual: Optional[Model[List[Doc], List[Floats2d]]] = None,
    *,
    freeze_steps: int = 0,
    width: int = 128,
    heads: int = 8,
    layers: int = 1,
    words: FlatWordsFrom = "finetuned",
    single_chars: SingleChars = "drop",
    max_words: float = 4.0,
    window: int = 256,
    max_batch_tokens: int = 2048,
    mixed_precision: bool = False,
    grad_scaler_config: Dict[str, Any] = NO_OPTIONS,
    embedding: Dict[str, Any] = NO_OPTIONS,
    positions: Dict[str, Any] = NO_OPTIONS,
    attention: Dict[str, Any] = NO_OPTIONS,
    sublayers: Dict[str, Any] = NO_OPTIONS,
    lexicon: Dict[str, Any] = NO_OPTIONS,
) -> Model[List[Doc], List[Floats2d]]:
    """Build a FLAT (Li et al. 2020): a transformer over a lattice of the characters of a text and the words in it.

    The words come from the pipeline's `lex_matcher`, which must come before the component that holds this model.
    The defaults are what trained best (docs/results.md). The paper describes `sublayers.residual = "input"` and
    `sublayers.shared_norm = false`; its code computes what the defaults do, with `positions.fusion = "ff_two"`.

    contextual (Optional[Model[List[Doc], List[Floats2d]]]): A sub-model whose vectors stand beside those of the
        characters: a listener, a LEBERT, a BERT.
    freeze_steps (int): The sub-model is not trained in the first `freeze_steps` updates.
    width (int): Width of the result, a multiple of `heads`.
    heads (int): Number of attention heads.
    layers (int): Number of layers.
    words (str): "finetuned": the vectors of the words in the training texts are copied from the lexicon and trained;
        other words keep theirs. "frozen": all words keep the vectors of the lexicon. "none": characters alone; no
        lexicon is needed.
    single_chars (str): Rule for words of one character: "drop", "keep", "alone", "uncovered" (see
        `keep_single_chars`).
    max_words (float): Most words of a window for each of its characters; where there are more, the longest stay. A
        window of more than 64 characters with half of that is a repetition, and keeps an eighth.
    window (int): Longer Docs are read in overlapping windows of this many characters.
    max_batch_tokens (int): Maximum number of characters and words, padding included, in a batch of the encoder.
    mixed_precision (bool): Half precision, on a GPU or a processor with AMX.
    grad_scaler_config (Dict[str, Any]): Arguments of thinc's PyTorchGradScaler.
    embedding, positions, attention, sublayers (Dict[str, Any]): Blocks of options that a config may leave out: see
        `Embedding`, `Positions`, `Attention`, `SubLayers` in `options.py`.
    lexicon (Dict[str, Any]): Block of options: see `LabelOptions` in `encoders/shared/lexicon_options.py`.
    RETURNS (Model[List[Doc], List[Floats2d]]): The encoder, one row per token.
    """
    setup = FlatSetup(
        width=width,
        heads=heads,
        layers=layers,
        words=words,
        embedding=Embedding.read(embedding),
        positions=Positions.read(positions),
        attention=Attention.read(attention),
        sublayers=SubLayers.read(sublayers),
        lexicon=LabelOptions.read(lexicon),
    )
    options = FlatOptions(single_chars, max_words, window, max_batch_tokens, freeze_steps)
    return FlatEncoder(
        setup, options, contextual, mixed_precision=mixed_precision, grad_scaler_config=dict(grad_scaler_config)
    )
