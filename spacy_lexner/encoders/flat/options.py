"""The options of FLAT in nested blocks of its config. The defaults are those of `configs/flat.cfg`."""

from dataclasses import dataclass
from typing import ClassVar, Literal, Optional

from ..shared.blocks import Block
from ..shared.character_options import CharacterOptions


@dataclass(frozen=True)
class Embedding(CharacterOptions):
    """The block `embedding`: which characters, bigrams and words have vectors (see `CharacterOptions`), and how they
    enter the lattice.

    normalize_contextual (bool): Vectors of the contextual sub-model are scaled to length 1. Those of a BERT are ten
        times as long and drown the others; the original code leaves them so.
    token_dropout (float): Probability that a character, bigram or word counts as unknown in training.
    character_dropout, word_dropout (float): Dropout of their vectors.
    dropout_place (str): Where that dropout acts: "before_projection", each with its own rate; on characters and words
        alike with `character_dropout` "after_projection" or "after_positions", once absolute positions are added.
    """

    shares: ClassVar = ("token_dropout", "character_dropout", "word_dropout")
    normalize_contextual: bool = True
    token_dropout: float = 0.01
    character_dropout: float = 0.5
    word_dropout: float = 0.5
    dropout_place: Literal["before_projection", "after_projection", "after_positions"] = "before_projection"


@dataclass(frozen=True)
class Positions(Block):
    """The block `positions`: how attention knows where the spans of a lattice lie.

    kind (str): "relative": vectors of the distances between two spans, as in the paper. "scalar": one learned number
        per head and pair of spans (version V3 of the original code). "none".
    fusion (str): How the four distances between two spans become one vector: "ff", as in the paper; "ff_linear";
        "ff_two", of two distances, the default of the original code; "attn"; "gate". See `positions.py`.
    share_fusion (bool): All layers share one fusion.
    learned (bool): Learn tables of distances, which start as sinusoids, instead of keeping to the sinusoids.
    share_tables (bool): One learned table for all four distances, or one for each.
    max_distance (int): Farthest distance (or position) in a learned table; what is farther counts as that. Sinusoids
        have no limit.
    offset (int): Added to a distance before it is encoded. The original code in effect adds the length of its longest
        text; 0 encodes the distance itself.
    normalize (bool): Divide an encoding by the sum of its values (`pos_norm` of the original code).
    absolute (Optional[str]): Add absolute positions to the vectors of the lattice as well: "add", "concat",
        "nonlinear_add", "nonlinear_concat", "add_nonlinear" or "concat_nonlinear". See `AbsolutePositions`.
    """

    block = "positions"
    least: ClassVar = {"max_distance": 1}
    kind: Literal["relative", "scalar", "none"] = "relative"
    fusion: Literal["ff", "ff_linear", "ff_two", "attn", "gate"] = "ff"
    share_fusion: bool = True
    learned: bool = False
    share_tables: bool = True
    max_distance: int = 512
    offset: int = 0
    normalize: bool = False
    absolute: Optional[
        Literal["add", "concat", "nonlinear_add", "nonlinear_concat", "add_nonlinear", "concat_nonlinear"]
    ] = None


@dataclass(frozen=True)
class Attention(Block):
    """The block `attention`.

    scaled (bool): Divide the scores by the square root of the width of a head.
    project_queries, project_keys, project_values, project_positions (bool): Use W_q, W_k, W_v, W_r. Otherwise the
        vectors are used as they are.
    project_output (bool): Project the concatenated heads.
    dropout (float): Dropout of the attention weights.
    """

    block = "attention"
    shares: ClassVar = ("dropout",)
    scaled: bool = False
    project_queries: bool = True
    project_keys: bool = False
    project_values: bool = True
    project_positions: bool = True
    project_output: bool = False
    dropout: float = 0.0


@dataclass(frozen=True)
class SubLayers(Block):
    """The block `sublayers`: the feed-forward sub-layers, and the operations around them and attention.

    norm (str): Layer normalization "post", after each sub-layer, or "pre", before each and once at the end.
    residual (str): What is added to the output of a sub-layer: its "input", which is the residual connection of the
        paper; its "output" once more, which is what the original code does by mistake and trained better here; "none".
    shared_norm (bool): The two sub-layers of a layer share one normalization, as in the original code.
    dropout (float): Dropout of the output of a sub-layer, before anything is added.
    inner_width (Optional[int]): Width inside a feed-forward sub-layer; None for three times the width.
    activation (str): Of the feed-forward sub-layers.
    inner_dropout (float): Dropout inside a feed-forward sub-layer, before the activation.
    inner_output_dropout (Optional[float]): Dropout of its output; None for `inner_dropout`.
    output_dropout (float): Dropout of the last layer's output for the characters.
    """

    block = "sublayers"
    least: ClassVar = {"inner_width": 1}
    shares: ClassVar = ("dropout", "inner_dropout", "inner_output_dropout", "output_dropout")
    norm: Literal["post", "pre"] = "post"
    residual: Literal["input", "output", "none"] = "output"
    shared_norm: bool = True
    dropout: float = 0.0
    inner_width: Optional[int] = None
    activation: Literal["relu", "leaky", "gelu"] = "relu"
    inner_dropout: float = 0.3
    inner_output_dropout: Optional[float] = None
    output_dropout: float = 0.3
