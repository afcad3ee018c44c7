"""How well a pretrained language model predicts a text."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, List, Optional, Union

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from thinc.api import Config
from tqdm import tqdm

from .bilm_objective import BiLMObjective
from .heads.bilm import BiLMLosses
from .saved_objective import load_weights, make_objective
from .word_vocabulary import UNKNOWN

DOCS_AT_ONCE = 64


@dataclass
class Perplexity:
    """The negative log probabilities of a text, added up.

    forward, backward (float): Of all words, in either direction.
    n_words (int): Words predicted by either direction, one more than its tokens for each Doc.
    n_unknown (int): Tokens that are not in the vocabulary.
    n_tokens (int): Tokens.
    n_characters (int): Characters.
    """

    forward: float = 0.0
    backward: float = 0.0
    n_words: int = 0
    n_unknown: int = 0
    n_tokens: int = 0
    n_characters: int = 0

    @property
    def perplexity(self) -> float:
        """RETURNS (float): Per word, the mean of both directions' losses."""
        return math.exp((self.forward + self.backward) / 2 / self.n_words)

    @property
    def bits_per_character(self) -> float:
        """RETURNS (float): What models over words and over characters can be compared by, as long as no word is
        unknown:
        an unknown word counts as one, whatever its characters.
        """
        return (self.forward + self.backward) / 2 / math.log(2) / self.n_characters


def load_language_model(config: Config, weights: Union[str, Path]) -> "tuple[Language, BiLMObjective]":
    """Make the objective of a pretraining run again.

    config (Config): The config of the run.
    weights (Union[str, Path]): A file that it saved, `resumable`.
    RETURNS (Tuple[Language, BiLMObjective]): The pipeline and the language model.
    """
    nlp, model = make_objective(config)
    if not isinstance(model, BiLMObjective):
        raise ValueError("The config does not pretrain with spacy-lexner.PretrainBiLM.v1.")
    load_weights(model, weights, "softmax")
    return nlp, model


def measure_perplexity(model: BiLMObjective, docs: Iterable[Doc], total: Optional[int] = None) -> Perplexity:
    """Let the language model predict Docs, by the full softmax.

    model (BiLMObjective): The language model.
    docs (Iterable[Doc]): The Docs.
    total (Optional[int]): Their number, for the progress bar.
    RETURNS (Perplexity): The result. Raises ValueError where there is no token.
    """
    result = Perplexity()
    with tqdm(total=total, unit=" texts", disable=None, leave=False) as bar:
        for batch in minibatch(docs, DOCS_AT_ONCE):
            _add(result, model, batch)
            bar.update(len(batch))
    if not result.n_words:
        raise ValueError("There is no word to predict: the text is empty.")
    return result


def _add(result: Perplexity, model: BiLMObjective, docs: List[Doc]) -> None:
    losses: Optional[BiLMLosses] = model.predict(docs)
    if losses is None:
        return
    result.forward += float(losses.forward) * losses.n_words
    result.backward += float(losses.backward) * losses.n_words
    result.n_words += losses.n_words
    words = [token.text for doc in docs for token in doc]
    result.n_tokens += len(words)
    result.n_unknown += int((model.attrs["vocabulary"].numbers(words) == UNKNOWN).sum())
    result.n_characters += sum(len(doc.text) for doc in docs)
