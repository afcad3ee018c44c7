"""The pipeline of a service, and its capabilities."""

from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

from spacy.language import Language
from spacy.util import load_model

from ...lexicon.matcher import Matcher
from ...pipeline.explain import find_scorers
from ...pipeline.lexicon_pipe import LexiconPipe, find_matchers
from ...pipeline.ner.lex_ner import LexNER

WARM_UP = "南京市长江大桥"


class ServedModel:
    """A loaded pipeline. Only one thread at a time may run it.

    nlp (Language): The pipeline.
    pipe (Optional[LexiconPipe]): The component whose lexicon is the service's dictionary; if there are several, the
        last.
    labels (Tuple[str, ...]): The labels of entities.
    rule_labels (Tuple[str, ...]): Further labels, which rules may force.
    """

    def __init__(self, nlp: Language, name: str) -> None:
        self.nlp, self.name = nlp, name
        self.pipe: Optional[LexiconPipe] = next(reversed(find_matchers(nlp).values()), None)
        self._ners: List[LexNER] = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, LexNER)]
        labels = [label for name, labels in nlp.pipe_labels.items() if _makes_entities(nlp, name) for label in labels]
        self.labels: Tuple[str, ...] = tuple(dict.fromkeys(labels))
        more = dict.fromkeys(label for ner in self._ners for label in ner.rule_labels)
        self.rule_labels = tuple(label for label in more if label not in self.labels)

    @property
    def matcher(self) -> Optional[Matcher]:
        """RETURNS (Optional[Matcher]): The current dictionary; None if the pipeline has none."""
        return None if self.pipe is None else self.pipe.source.matcher

    @property
    def can(self) -> Dict[str, bool]:
        """RETURNS (Dict[str, bool]): The capabilities of the pipeline."""
        return {
            "words": self.pipe is not None,
            "alternatives": bool(self._ners),
            "uncertain": bool(self._ners),
            "explain": self.pipe is not None and len(find_scorers(self.nlp)) == 1,
            "lattice": True,
        }

    def describe(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): Name, language, version and components of the pipeline."""
        meta = self.nlp.meta
        return {
            "name": f"{meta['lang']}_{meta['name']}",
            "lang": meta["lang"],
            "version": meta["version"],
            "pipeline": list(self.nlp.pipe_names),
        }

    @contextmanager
    def state(self, matcher: Optional[Matcher]) -> Iterator[None]:
        """Within this context, the pipeline uses this state of the dictionary. Memory for texts is freed at the end, so
        no Doc may be used after it."""
        pinned = nullcontext() if self.pipe is None or matcher is None else self.pipe.source.pinned(matcher)
        with self.nlp.memory_zone(), pinned:
            yield

    @contextmanager
    def extras(self, alternatives: int, uncertain: Optional[Tuple[float, float]]) -> Iterator[None]:
        """Within this context, every `lex_ner` has these settings for alternatives and uncertain spans."""
        with ExitStack() as stack:
            for ner in self._ners:
                stack.callback(ner.__dict__.update, n_alternatives=ner.n_alternatives, uncertain=ner.uncertain)
                ner.n_alternatives, ner.uncertain = alternatives, uncertain
            yield


def load_served(model: str) -> ServedModel:
    """Load a pipeline and check that it works. Raises ValueError or OSError, with the reason, if it does not."""
    try:
        served = ServedModel(load_model(model), model)
        if served.pipe is not None:
            served.pipe.lexicon  # noqa: B018 (raises an error with the remedy if there is none)
        with served.state(served.matcher):
            served.nlp(WARM_UP)
        _remember_characters(served.nlp)
    except OSError:
        raise
    except Exception as error:  # every component fails on damaged files in its own way
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"The pipeline {Path(model).name} cannot be used ({reason}).") from error
    return served


def _remember_characters(nlp: Language) -> None:
    """Add the characters of GB 2312, of which nearly all texts consist, to the vocabulary: inside `memory_zone` they
    would be created again for each batch."""
    for row in range(0xA1, 0xF8):
        for cell in range(0xA1, 0xFF):
            nlp.vocab[bytes((row, cell)).decode("gb2312", "ignore") or "?"]


def _makes_entities(nlp: Language, name: str) -> bool:
    return "doc.ents" in nlp.get_pipe_meta(name).assigns
