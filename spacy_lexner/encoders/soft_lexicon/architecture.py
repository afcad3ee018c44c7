"""`spacy-lexner.SoftLexicon.v1`: the encoder for any component that takes token vectors."""

from functools import partial
from typing import Any, Dict, List

from spacy.tokens import Doc
from spacy.util import SimpleFrozenDict
from thinc.api import Model
from thinc.types import Floats2d

from ...lexicon.matcher import SingleChars
from ..shared.blocks import BuilderWithBlocks
from ..shared.character_options import CharacterOptions
from ..shared.lexicon_options import LabelOptions
from ..shared.words import WordsFrom
from .layer import SoftLexiconEncoder, SoftLexiconOptions
from .model import Network
from .setup import SoftLexiconSetup

NO_OPTIONS: Dict[str, Any] = SimpleFrozenDict()


@partial(BuilderWithBlocks, name="spacy-lexner.SoftLexicon.v1", blocks=(CharacterOptions, LabelOptions), renamed={})
def build_soft_lexicon_v1(
    *,
    width: int = 256,
    network: Network = "lstm",
    layers: int = 1,
    words: WordsFrom = "finetuned",
    single_chars: SingleChars = "keep",
    smoothing: float = 1.0,
    dropout: float = 0.5,
    token_dropout: float = 0.0,
    window: int = 256,
    max_batch_tokens: int = 4096,
    mixed_precision: bool = False,
    grad_scaler_config: Dict[str, Any] = NO_OPTIONS,
    embedding: Dict[str, Any] = NO_OPTIONS,
    lexicon: Dict[str, Any] = NO_OPTIONS,
) -> Model[List[Doc], List[Floats2d]]:
    """Build a SoftLexicon (Ma et al. 2020): each character has its own vector, that of its bigram, and four of words,
    those that begin with it, contain it in the middle, end with it, or consist of it alone: each a sum weighted by the
    words' frequencies in the training texts. A BiLSTM or a CNN reads them; no lattice is needed.

    The words come from the pipeline's `lex_matcher`, which must come before the component that holds this model.

    width (int): Width of the result; an LSTM has half of it in each direction.
    network (str): The network that reads the characters: "lstm" or "cnn".
    layers (int): Number of layers of the LSTM, or of convolutions over three characters (three in the authors' CNN).
    words (str): "finetuned": the vectors of the words that occur in the training texts outside longer words are copied
        from the lexicon and trained; other words keep theirs. "frozen": all words keep the vectors of the lexicon, as
        in the authors' code.
    single_chars (str): Rule for words of one character: "keep", "drop", "alone", "uncovered" (see
        `keep_single_chars`). `lex_matcher` finds them with `min_length = 1`.
    smoothing (float): Added to the count of a word, so that words not in the training texts count too; 0 in the
        authors' code, which also counts in dev and test.
    dropout (float): Dropout of the input and the output of the network, and between layers.
    token_dropout (float): Share of characters and bigrams that are replaced by the unknown one in training.
    window (int): Longer Docs are read in overlapping windows of this many characters.
    max_batch_tokens (int): Maximum number of characters, padding included, in a batch of the network.
    mixed_precision (bool): Half precision, on a GPU or a processor with AMX.
    grad_scaler_config (Dict[str, Any]): Arguments of thinc's PyTorchGradScaler.
    embedding (Dict[str, Any]): Block of options: see `CharacterOptions` in `encoders/shared/character_options.py`.
    lexicon (Dict[str, Any]): Block of options: see `LabelOptions` in `encoders/shared/lexicon_options.py`.
    RETURNS (Model[List[Doc], List[Floats2d]]): The encoder, one row per token.
    """
    setup = SoftLexiconSetup(
        width=width,
        network=network,
        layers=layers,
        words=words,
        smoothing=smoothing,
        dropout=dropout,
        token_dropout=token_dropout,
        embedding=CharacterOptions.read(embedding),
        lexicon=LabelOptions.read(lexicon),
    )
    options = SoftLexiconOptions(single_chars=single_chars, window=window, max_batch_tokens=max_batch_tokens)
    return SoftLexiconEncoder(
        setup, options, mixed_precision=mixed_precision, grad_scaler_config=dict(grad_scaler_config)
    )
