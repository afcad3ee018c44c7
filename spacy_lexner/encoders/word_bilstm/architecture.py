"""`spacy-lexner.WordBiLSTM.v1`: adds candidate words to any encoder."""

from typing import Any, Dict, List

from spacy.tokens import Doc
from spacy.util import SimpleFrozenDict
from thinc.api import Model
from thinc.types import Floats2d

from ...candidates.policy import Policy
from ...lexicon.matcher import SingleChars
from ..shared.lexicon_options import LabelOptions
from ..shared.word_attention import Empty
from ..shared.words import WordsFrom
from .layer import WordBiLSTMEncoder
from .setup import WordBiLSTMSetup

NO_OPTIONS: Dict[str, Any] = SimpleFrozenDict()


def build_word_bilstm_v1(
    tok2vec: Model[List[Doc], List[Floats2d]],
    *,
    hidden_width: int = 300,
    words: WordsFrom = "frozen",
    word_width: int = 50,
    max_words: int = 5,
    policy: Policy = "start",
    single_chars: SingleChars = "uncovered",
    empty: Empty = "zero",
    dropout: float = 0.5,
    max_batch_tokens: int = 4096,
    mixed_precision: bool = False,
    grad_scaler_config: Dict[str, Any] = NO_OPTIONS,
    lexicon: Dict[str, Any] = NO_OPTIONS,
) -> Model[List[Doc], List[Floats2d]]:
    """Build the baseline of the LEBERT paper (BERT + Word; Liu et al. 2021, section 4.3): an encoder's vectors,
    concatenated with an attended sum of the candidate words, through a bidirectional LSTM. The defaults are its
    settings.

    The words come from the pipeline's `lex_matcher`, which must come before the component that holds this model.

    tok2vec (Model[List[Doc], List[Floats2d]]): The encoder, one row per token.
    hidden_width (int): Width of each direction of the LSTM.
    words (str): "frozen": word vectors stay as in the lexicon. "finetuned": those of words in the training texts are
        copied and trained with the model.
    word_width (int): Width of the word vectors if the lexicon has none; words of equal length then share a vector.
    max_words (int): Maximum number of candidate words per token.
    policy (str): "start" or "token", see `candidate_slots`.
    single_chars (str): Rule for words of one token: "keep", "drop", "alone", "uncovered" (see `keep_single_chars`).
    empty (str): What a token without words receives: "zero", nothing; "pad", the transformed vector of a padding word.
    dropout (float): Dropout of the words, and before and after the LSTM.
    max_batch_tokens (int): Maximum number of tokens, padding included, in a batch of the LSTM.
    mixed_precision (bool): Half precision, on a GPU or a processor with AMX.
    grad_scaler_config (Dict[str, Any]): Arguments of thinc's PyTorchGradScaler.
    lexicon (Dict[str, Any]): Block of options: see `LabelOptions` in `encoders/shared/lexicon_options.py`.
    RETURNS (Model[List[Doc], List[Floats2d]]): The encoder, one row per token, 2 * hidden_width wide.
    """
    setup = WordBiLSTMSetup(
        hidden_width=hidden_width,
        words=words,
        word_width=word_width,
        max_words=max_words,
        policy=policy,
        single_chars=single_chars,
        empty=empty,
        dropout=dropout,
        max_batch_tokens=max_batch_tokens,
        lexicon=LabelOptions.read(lexicon),
    )
    return WordBiLSTMEncoder(
        tok2vec, setup, mixed_precision=mixed_precision, grad_scaler_config=dict(grad_scaler_config)
    )
