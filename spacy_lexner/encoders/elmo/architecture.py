"""`spacy-lexner.ELMo.v1`: the encoder for any component that takes token vectors."""

from typing import Any, Dict, List, Optional, Sequence

from spacy.tokens import Doc
from spacy.util import SimpleFrozenDict
from thinc.api import Model
from thinc.types import Floats2d

from ...candidates.training_texts import ATTRIBUTE, TrainingTexts
from ...candidates.unit_docs import READS_TOKENS
from ..shared.shim import ModuleShim
from .char_cnn import Activation
from .layer import ELMoOptions, forward, init
from .model import Norm
from .setup import ELMoSetup, Unit, build_elmo


def build_elmo_v1(
    checkpoint: Optional[str] = None,
    *,
    vocab: Optional[str] = None,
    unit: Optional[Unit] = None,
    max_characters: Optional[int] = None,
    embedding_dim: Optional[int] = None,
    filters: Optional[Sequence[Sequence[int]]] = None,
    n_highway: Optional[int] = None,
    activation: Optional[Activation] = None,
    projection_dim: Optional[int] = None,
    cell_dim: Optional[int] = None,
    n_layers: Optional[int] = None,
    cell_clip: Optional[float] = None,
    projection_clip: Optional[float] = None,
    skip_connections: Optional[bool] = None,
    mix_layers: Optional[Sequence[int]] = None,
    n_mixes: int = 1,
    mix_weights: Optional[Sequence[float]] = None,
    mix_norm: Optional[Norm] = None,
    dropout: float = ELMoOptions.dropout,
    lstm_dropout: float = ELMoOptions.lstm_dropout,
    freeze: bool = False,
    stateful: bool = False,
    block_rows: int = ELMoOptions.block_rows,
    mixed_precision: bool = False,
    grad_scaler_config: Dict[str, Any] = SimpleFrozenDict(),  # noqa: B008
) -> Model[List[Doc], List[Floats2d]]:
    """Build an ELMo (Peters et al. 2018): word vectors from characters, a bidirectional language model over them, and a
    learned mix of its layers. Its words are the tokens of a Doc, its sentences whole Docs.

    The sizes, from `unit` to `skip_connections`, may be null; they then come from the checkpoint or, without one, from
    the defaults below. Any given size must agree with the checkpoint.

    checkpoint (Optional[str]): Folder with a trained biLM, written by `spacy lexner import elmo`. Read when the
        pipeline is initialised; a saved pipeline no longer needs it. None: random weights.
    vocab (Optional[str]): File of counted words, written by `spacy lexner count-words`, whose characters are the
        vocabulary of "unicode". None: the characters of the training texts.
    unit (Optional[str]): The units of a word: "unicode" (default), characters of a vocabulary, better for Chinese; or
        "byte", UTF-8 bytes, as in the original.
    max_characters (Optional[int]): Longer words are truncated; the marks for the begin and end of a word count. Default
        50.
    embedding_dim (Optional[int]): Width of a character vector. Default 16.
    filters (Optional[Sequence[Sequence[int]]]): Width and number of each group of filters. Default [[1, 32], [2, 32],
        [3, 64], [4, 128]].
    n_highway (Optional[int]): Number of highway layers. Default 1.
    activation (Optional[str]): "relu" (default) or "tanh", after the maximum over a word.
    projection_dim (Optional[int]): Width of a word vector and of each direction's layers. Default 128.
    cell_dim (Optional[int]): Width of the memory cells. Default 512.
    n_layers (Optional[int]): Number of LSTM layers. Default 2.
    cell_clip, projection_clip (Optional[float]): Maximum absolute value of a memory cell, and of a layer's recurrent
        output; 0 for no clipping. Default 3.
    skip_connections (Optional[bool]): Add a layer's input to its output from the second layer on. Default True.
    mix_layers (Optional[Sequence[int]]): The layers to mix: 0 for the word vectors, 1 for the first LSTM layer and so
        on; None for all.
    n_mixes (int): Number of mixes, whose results are concatenated.
    mix_weights (Optional[Sequence[float]]): Fixed weights of the layers before the softmax; None to train them.
    mix_norm (Optional[str]): Normalise the layers before mixing: "token" for each token; "batch" over all values of the
        batch, as in the original, so that results depend on the other Docs in it.
    dropout (float): Dropout of the mixed values.
    lstm_dropout (float): Dropout of the inputs of each LSTM layer, unless it is frozen.
    freeze (bool): Train only the mix. Pretraining trains everything regardless.
    stateful (bool): Start each batch from the final state of the previous one, as the original does, so that results
        depend on earlier batches. Only for comparison.
    block_rows (int): Maximum number of tokens whose gates are in memory at once; results do not depend on it.
    mixed_precision (bool): Half precision, on a GPU or a processor with AMX; an LSTM that clips stays in single
        precision.
    grad_scaler_config (Dict[str, Any]): Arguments of thinc's PyTorchGradScaler.
    RETURNS (Model[List[Doc], List[Floats2d]]): The encoder, one row per token, 2 * projection_dim * n_mixes wide.
    """
    sizes = {
        "unit": unit,
        "max_characters": max_characters,
        "embedding_dim": embedding_dim,
        "filters": filters,
        "n_highway": n_highway,
        "activation": activation,
        "projection_dim": projection_dim,
        "cell_dim": cell_dim,
        "n_layers": n_layers,
        "cell_clip": cell_clip,
        "projection_clip": projection_clip,
        "skip_connections": skip_connections,
    }
    mix = {"mix_layers": mix_layers, "n_mixes": n_mixes, "mix_weights": mix_weights, "mix_norm": mix_norm}
    setup = ELMoSetup(checkpoint, vocab, sizes, mix)
    options = ELMoOptions(dropout, lstm_dropout, freeze, stateful, block_rows)
    attrs: Dict[str, Any] = {"setup": setup, "options": options, READS_TOKENS: True}
    if setup.reads_tokens:
        attrs[ATTRIBUTE] = TrainingTexts(tokens=True, texts=False, units=False)
    shim = ModuleShim(build_elmo, mixed_precision=mixed_precision, grad_scaler_config=dict(grad_scaler_config))
    return Model("elmo", forward, init=init, shims=[shim], dims={"nO": setup.width}, attrs=attrs)
