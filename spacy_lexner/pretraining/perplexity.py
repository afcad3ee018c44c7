"""Measuring the perplexity of a pretrained language model on texts."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, List, Optional, Tuple, Union

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from thinc.api import Config, Model
from tqdm import tqdm

from .bilm import BiLMTask
from .heads import Losses
from .objective import load_objective
from .word_vocabulary import UNKNOWN

DOCS_AT_ONCE = 64


@dataclass
class Perplexity:
    """The negative log probabilities of all words, summed for each direction, and the counts to divide by."""

    forward: float = 0.0
    backward: float = 0.0
    n_words: int = 0  # predicted in each direction: for each Doc its tokens and one more
    n_unknown: int = 0  # tokens that are not in the vocabulary
    n_tokens: int = 0
    n_characters: int = 0

    @property
    def perplexity(self) -> float:
        """The perplexity per word, from the mean of both directions' losses."""
        return math.exp((self.forward + self.backward) / 2 / self.n_words)

    @property
    def bits_per_character(self) -> float:
        """Comparable between word and character models if no word is unknown: an unknown word counts as one prediction,
        however many characters it has."""
        return (self.forward + self.backward) / 2 / math.log(2) / self.n_characters


def load_language_model(config: Config, weights: Union[str, Path]) -> Tuple[Language, Model]:
    """Rebuild the language model of a pretraining run.

    config (Config): The config of the run.
    weights (Union[str, Path]): A file saved by the run with `resumable`.
    RETURNS (Tuple[Language, Model]): The pipeline and the objective. Raises ValueError if it is not a language model.
    """
    nlp, model = load_objective(config, weights)
    if not isinstance(model.attrs["task"], BiLMTask):
        raise ValueError(f"The config pretrains with {model.attrs['task'].name}; expected {BiLMTask.name}.")
    return nlp, model


def measure_perplexity(model: Model, docs: Iterable[Doc], total: Optional[int] = None) -> Perplexity:
    """Measure the perplexity on Docs, with the full softmax.

    model (Model): The objective, from `load_language_model`.
    docs (Iterable[Doc]): The Docs.
    total (Optional[int]): Their number, for the progress bar.
    RETURNS (Perplexity): The result. Raises ValueError if there are no tokens.
    """
    result = Perplexity()
    with tqdm(total=total, unit=" texts", disable=None, leave=False) as bar:
        for batch in minibatch(docs, DOCS_AT_ONCE):
            _add(result, model, batch)
            bar.update(len(batch))
    if not result.n_words:
        raise ValueError("There is no word to predict: the text is empty.")
    return result


def _add(result: Perplexity, model: Model, docs: List[Doc]) -> None:
    losses: Optional[Losses] = model.predict(docs)
    if losses is None:
        return
    forward, backward = losses.parts["forward"], losses.parts["backward"]
    result.forward += float(forward.loss) * forward.n_labels
    result.backward += float(backward.loss) * backward.n_labels
    result.n_words += forward.n_labels
    words = [token.text for doc in docs for token in doc]
    result.n_tokens += len(words)
    result.n_unknown += int((model.attrs["task"].vocabulary.numbers(words) == UNKNOWN).sum())
    result.n_characters += sum(len(doc.text) for doc in docs)
