"""The tasks that can be run on a batch of texts."""

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Union

from ...lexicon.matcher import Matcher
from ...pipeline.annotate_texts import annotate_texts
from ...pipeline.explain import explain
from ...visualize.picture import draw_lattice
from ...visualize.svg import StyleT, ThemeT
from ..wanted import Wanted
from .answers import to_answer
from .model import ServedModel


class TextError(Exception):
    """A text that the pipeline cannot process."""


class Task:
    """A task on texts, under one state of the dictionary."""

    model: ServedModel
    matcher: Optional[Matcher]

    @property
    def version(self) -> Optional[str]:
        """RETURNS (Optional[str]): The `doc._.lex_version` of its Docs."""
        return None if self.matcher is None else f"{self.matcher.version:016x}"

    def __call__(self, texts: Sequence[str]) -> List[Union[Any, TextError]]:
        """RETURNS (List[Union[Any, TextError]]): The result of each text, or its error. A failing text does not affect
        the others."""
        failed: Dict[int, str] = {}
        results: List[Union[Any, TextError]] = [None] * len(texts)
        with self.model.state(self.matcher):
            for i, doc in self._annotate(texts, failed):
                try:
                    results[i] = self._describe(doc, texts[i])
                except Exception as error:
                    failed[i] = f"{type(error).__name__}: {error}"
        for i, reason in failed.items():
            results[i] = TextError(reason)
        return results

    def _annotate(self, texts: Sequence[str], failed: Dict[int, str]) -> Any:
        return annotate_texts(self.model.nlp, texts, failed)

    def _describe(self, doc: Any, text: str) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class Annotation(Task):
    """Find entities, and whatever else is wanted."""

    model: ServedModel
    matcher: Optional[Matcher]
    wanted: Wanted

    def _annotate(self, texts: Sequence[str], failed: Dict[int, str]) -> Any:
        with self.model.extras(self.wanted.alternatives, self.wanted.uncertain):
            yield from super()._annotate(texts, failed)

    def _describe(self, doc: Any, text: str) -> Dict[str, Any]:
        if self.wanted.explain is not None:
            explain(self.model.nlp, doc, changes=self.wanted.explain == "changes")
        return to_answer(doc, text, self.wanted, self.matcher)


@dataclass(frozen=True)
class Drawing(Task):
    """Draw the lattice as SVG."""

    model: ServedModel
    matcher: Optional[Matcher]
    style: StyleT = "bars"
    theme: ThemeT = "auto"
    width: int = 960
    css: bool = True
    explained: bool = False

    def _describe(self, doc: Any, text: str) -> str:
        if self.explained:
            explain(self.model.nlp, doc, changes=False)
        lexicon = None if self.matcher is None else self.matcher.lexicon
        return draw_lattice(doc, lexicon, style=self.style, theme=self.theme, width=self.width).to_svg(
            with_css=self.css
        )
