"""`spacy-lexner.FLAT.v1`: the encoder for any component that takes token vectors."""

from typing import Any, Dict, List, Optional

from spacy.tokens import Doc
from spacy.util import SimpleFrozenDict
from thinc.api import Model
from thinc.types import Floats2d

from ...lexicon.single_chars import SingleChars
from .layer import FlatEncoder, FlatOptions
from .setup import FlatSetup, WordsFrom
from .vocab import Numbers

NO_OPTIONS: Dict[str, Any] = SimpleFrozenDict()


def build_flat_v1(
    contextual: Optional[Model[List[Doc], List[Floats2d]]] = None,
    *,
    freeze_steps: int = 0,
    width: int = 160,
    heads: int = 8,
    layers: int = 1,
    inner_width: Optional[int] = None,
    activation: str = "relu",
    words: WordsFrom = "finetuned",
    word_width: int = 50,
    single_chars: SingleChars = "drop",
    max_words: float = 4.0,
    character_vectors: Optional[str] = None,
    bigram_vectors: Optional[str] = None,
    character_width: Optional[int] = None,
    bigram_width: Optional[int] = None,
    bigrams: bool = True,
    keep_vectors: bool = True,
    normalize: bool = True,
    normalize_contextual: bool = True,
    min_count: int = 1,
    bigram_min_count: int = 1,
    numbers: Numbers = "keep",
    positions: str = "relative",
    fusion: str = "ff",
    share_fusion: bool = True,
    share_tables: bool = True,
    learn_positions: bool = False,
    max_distance: int = 512,
    distance_offset: int = 0,
    normalize_positions: bool = False,
    absolute: Optional[str] = None,
    scaled: bool = False,
    project_queries: bool = True,
    project_keys: bool = False,
    project_values: bool = True,
    project_positions: bool = True,
    project_output: bool = False,
    residual: bool = True,
    shared_norm: bool = False,
    pre: str = "",
    post: str = "an",
    pre_dropout: float = 0.5,
    post_dropout: float = 0.3,
    token_dropout: float = 0.01,
    character_dropout: float = 0.5,
    word_dropout: float = 0.5,
    dropout_place: str = "before_projection",
    attention_dropout: float = 0.0,
    inner_dropout: float = 0.15,
    inner_output_dropout: Optional[float] = None,
    output_dropout: float = 0.3,
    window: int = 256,
    stride: Optional[int] = None,
    max_batch_tokens: int = 2048,
    mixed_precision: bool = False,
    grad_scaler_config: Dict[str, Any] = NO_OPTIONS,
) -> Model[List[Doc], List[Floats2d]]:
    """Build a FLAT (Li et al. 2020): a transformer over a lattice of the characters of a text and the words in it.

    The words come from the `lex_matcher` of the pipeline, which must stand before the component that holds this model.
    The defaults are those of the paper; `fusion = "ff_two", residual = false, shared_norm = true` is what its code
    computes.

    contextual (Optional[Model[List[Doc], List[Floats2d]]]): A sub-model whose vectors stand beside those of the
        characters: a listener, a LEBERT, a BERT.
    freeze_steps (int): For so many updates the sub-model is not trained.
    width (int): Width of the result, a multiple of `heads`.
    heads (int): Number of attention heads.
    layers (int): Number of layers.
    inner_width (Optional[int]): Width inside the feed-forward sub-layers; None for 3 * width.
    activation (str): Of the feed-forward sub-layers: "relu", "leaky" or "gelu".
    words (str): "finetuned": the vectors of the words in the training texts are copied from the lexicon and trained.
        "frozen": word vectors stay as the lexicon has them. "none": characters alone; no lexicon is needed.
    word_width (int): Width of the word vectors if the lexicon has none; words of one length then share a vector.
    single_chars (str): Rule for words of one character: "drop", "keep", "alone", "uncovered" (see
        `keep_single_chars`).
    max_words (float): Most words of a window for each of its characters; where there are more, the longest stay.
    character_vectors, bigram_vectors (Optional[str]): Paths of vectors in the text format of word2vec, read when the
        pipeline is initialised, never again after that. None: random vectors.
    character_width, bigram_width (Optional[int]): Width of the vectors; None for that of the files, or 50.
    bigrams (bool): Whether a character has the vector of its bigram beside its own.
    keep_vectors (bool): Keep the vectors of characters and bigrams that do not occur in the training texts, fixed.
    normalize (bool): Vectors of characters, bigrams and words start with length 1; those that are trained may become
        longer or shorter.
    normalize_contextual (bool): Vectors of the sub-model have length 1 too. Those of a BERT are ten times as long and
        more: as they are, the others are hardly seen. The authors' code leaves them.
    min_count, bigram_min_count (int): Rarer characters and bigrams of the training texts count as unknown.
    numbers (str): "characters" reads every digit as 0, "all" those of bigrams too, "keep" as they are.
    positions (str): "relative"; "scalar", a learned number per head for each pair of tokens; "none".
    fusion (str): How the four distances between two words become one vector: "ff", "ff_linear", "ff_two" (two
        distances), "attn", "gate".
    share_fusion (bool): One fusion for all layers.
    share_tables (bool): One table for the four distances, where tables are learned.
    learn_positions (bool): Learn a table of distances, instead of fixed sinusoids.
    max_distance (int): Farthest distance in a learned table. Sinusoids have no such limit.
    distance_offset (int): Added to distances before they are encoded (see `DistanceEncoding`).
    normalize_positions (bool): Divide encodings of positions by the sum of their values.
    absolute (Optional[str]): Add the absolute positions of words: "add", "concat", "nonlinear_add", "nonlinear_concat",
        "add_nonlinear", "concat_nonlinear" (see `AbsolutePositions`).
    scaled (bool): Divide attention scores by the square root of the width of a head.
    project_queries, project_keys, project_values, project_positions, project_output (bool): The projections that
        attention uses.
    residual (bool): Residual connections; without, `a` in the sequences below adds a vector to itself, as in the
        original code.
    shared_norm (bool): One layer normalisation for both sub-layers, as in the original code.
    pre, post (str): What is done before and after a sub-layer: a sequence of a (add), n (normalise), d (drop).
    pre_dropout, post_dropout (float): Dropout of a d in these.
    token_dropout (float): Chance that a character, bigram or word counts as unknown in training.
    character_dropout, word_dropout (float): Dropout of their vectors.
    dropout_place (str): "before_projection", "after_projection" or "after_positions" (see `LatticeEmbedding`).
    attention_dropout (float): Dropout of attention weights.
    inner_dropout (float): Dropout inside the feed-forward sub-layers.
    inner_output_dropout (Optional[float]): Dropout of their output; None for the same.
    output_dropout (float): Dropout of the result.
    window (int): Longer Docs are read in windows of so many characters.
    stride (Optional[int]): How far windows lie apart; None for three quarters of a window.
    max_batch_tokens (int): Most characters and words, padding included, that go through the encoder at once.
    mixed_precision (bool): Half precision, on a GPU or a processor with AMX.
    grad_scaler_config (Dict[str, Any]): Arguments of thinc's PyTorchGradScaler.
    RETURNS (Model[List[Doc], List[Floats2d]]): The encoder, one row per token.
    """
    encoder = {
        "heads": heads,
        "layers": layers,
        "inner_width": inner_width,
        "activation": activation,
        "positions": positions,
        "fusion": fusion,
        "share_fusion": share_fusion,
        "share_tables": share_tables,
        "learn_positions": learn_positions,
        "max_distance": max_distance,
        "distance_offset": distance_offset,
        "normalize_positions": normalize_positions,
        "scaled": scaled,
        "project_queries": project_queries,
        "project_keys": project_keys,
        "project_values": project_values,
        "project_positions": project_positions,
        "project_output": project_output,
        "residual": residual,
        "shared_norm": shared_norm,
        "pre": pre,
        "post": post,
        "pre_dropout": pre_dropout,
        "post_dropout": post_dropout,
        "attention_dropout": attention_dropout,
        "inner_dropout": inner_dropout,
        "inner_output_dropout": inner_output_dropout,
    }
    setup = FlatSetup(
        width=width,
        encoder=encoder,
        absolute=None
        if absolute is None
        else {"fusion": absolute, "learned": learn_positions, "normalize": normalize_positions},
        words=words,
        word_width=word_width,
        character_vectors=character_vectors,
        bigram_vectors=bigram_vectors,
        character_width=character_width,
        bigram_width=bigram_width,
        bigrams=bigrams,
        keep_vectors=keep_vectors,
        min_count=min_count,
        bigram_min_count=bigram_min_count,
        numbers=numbers,
        normalize=normalize,
        normalize_contextual=normalize_contextual,
        token_dropout=token_dropout,
        character_dropout=character_dropout,
        word_dropout=word_dropout,
        dropout_place=dropout_place,
        output_dropout=output_dropout,
    )
    options = FlatOptions(single_chars, max_words, window, stride, max_batch_tokens, freeze_steps)
    return FlatEncoder(
        setup, options, contextual, mixed_precision=mixed_precision, grad_scaler_config=dict(grad_scaler_config)
    )
