"""`spacy-lexner.load_lexicon.v1`: the lexicon for commands that initialise no component, such as `spacy pretrain`."""

from typing import Any, Callable, List, Optional, Tuple

from spacy.language import Language
from spacy.util import registry

from ...lexicon.lexicon import Lexicon
from .lex_matcher import LexMatcher

ReaderT = Callable[[Language], Lexicon]


def create_lexicon_loader(lexicon: Optional[ReaderT] = None, component: Optional[str] = None) -> "LexiconLoader":
    """Create a callback for `[initialize.before_init]` that gives the `lex_matcher` its lexicon.

    `spacy pretrain` disables every pipe while it initialises, so that `lex_matcher` is not initialised there.

    lexicon (Optional[Callable[[Language], Lexicon]]): A reader of a lexicon. By default the one that the config names
        for the component, under `[initialize.components.lex_matcher.lexicon]`. A component that was sourced from a
        saved pipeline has its lexicon already and keeps it if there is no reader.
    component (Optional[str]): The component's name, if there is more than one `lex_matcher`.
    RETURNS (LexiconLoader): The callback.
    """
    return LexiconLoader(lexicon, component)


class LexiconLoader:
    """Gives a `lex_matcher` its lexicon before anything else is initialised. See `create_lexicon_loader`."""

    def __init__(self, lexicon: Optional[ReaderT], component: Optional[str]) -> None:
        self.lexicon = lexicon
        self.component = component

    def __call__(self, nlp: Language) -> Language:
        """Load the lexicon.

        nlp (Language): The pipeline; its components may be disabled.
        RETURNS (Language): The same pipeline. Raises ValueError where there is no `lex_matcher`, or nothing to load.
        """
        name, matcher = self._find(nlp)
        reader = self.lexicon or _configured_reader(nlp, name)
        if reader is not None:
            matcher.set_lexicon(reader(nlp))
        elif matcher.source.matcher is None:
            raise ValueError(
                f"There is no lexicon for '{name}': name a reader in [initialize.before_init.lexicon] or in "
                f"[initialize.components.{name}.lexicon], or source the component from a saved pipeline."
            )
        return nlp

    def _find(self, nlp: Language) -> Tuple[str, LexMatcher]:
        found: List[Tuple[str, LexMatcher]] = [
            (name, pipe)
            for name, pipe in nlp.components
            if isinstance(pipe, LexMatcher) and self.component in (None, name)
        ]
        if len(found) != 1:
            wanted = f"a lex_matcher called '{self.component}'" if self.component else "one lex_matcher"
            raise ValueError(
                f"spacy-lexner.load_lexicon.v1 needs {wanted} in the pipeline, but there "
                f"{'is none' if not found else 'are ' + ', '.join(name for name, _ in found)} "
                f"(components: {', '.join(nlp.component_names)})."
            )
        return found[0]


def _configured_reader(nlp: Language, name: str) -> Optional[ReaderT]:
    settings: Any = nlp.config.interpolate().get("initialize", {}).get("components", {}).get(name, {})
    if not settings.get("lexicon"):
        return None
    return registry.resolve({"lexicon": settings["lexicon"]})["lexicon"]
