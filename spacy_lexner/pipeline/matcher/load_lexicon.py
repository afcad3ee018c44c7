"""`spacy-lexner.load_lexicon.v1`: the lexicon for commands that initialize no component, such as `spacy pretrain`."""

from typing import Any, Callable, Optional

from spacy.language import Language
from spacy.util import registry

from .lex_matcher import LexiconReader, LexMatcher


def create_lexicon_loader(
    lexicon: Optional[LexiconReader] = None, component: Optional[str] = None
) -> Callable[[Language], Language]:
    """Create a callback for `[initialize.before_init]` that gives the `lex_matcher` its lexicon, since `spacy pretrain`
    disables every pipe while it initializes.

    lexicon (Optional[Callable[[Language], Lexicon]]): A lexicon reader; by default the one in the config under
        `[initialize.components.lex_matcher.lexicon]`. Without either, a component sourced from a saved pipeline keeps
        its own lexicon.
    component (Optional[str]): The name of the component, if there is more than one `lex_matcher`.
    RETURNS (Callable[[Language], Language]): The callback. It raises ValueError if there is no `lex_matcher`, or
        nothing to load.
    """

    def load_lexicon(nlp: Language) -> Language:
        matcher = _find_matcher(nlp, component)
        reader = lexicon or configured_reader(nlp, matcher.name)
        if reader is not None:
            matcher.set_lexicon(reader(nlp))
        elif matcher.source.matcher is None:
            raise ValueError(
                f"There is no lexicon for '{matcher.name}': name a reader in [initialize.before_init.lexicon] or in "
                f"[initialize.components.{matcher.name}.lexicon], or source the component from a saved pipeline."
            )
        return nlp

    return load_lexicon


def _find_matcher(nlp: Language, component: Optional[str]) -> LexMatcher:
    found = {n: pipe for n, pipe in nlp.components if isinstance(pipe, LexMatcher) and component in (None, n)}
    if len(found) != 1:
        wanted = f"a lex_matcher called '{component}'" if component else "one lex_matcher"
        raise ValueError(
            f"spacy-lexner.load_lexicon.v1 needs {wanted} in the pipeline, but there "
            f"{'are ' + ', '.join(found) if found else 'is none'} (components: {', '.join(nlp.component_names)})."
        )
    return next(iter(found.values()))


def configured_reader(nlp: Language, name: str) -> Optional[LexiconReader]:
    """The lexicon reader that a pipeline's config gives its component `name`; None if there is none."""
    settings: Any = nlp.config.interpolate().get("initialize", {}).get("components", {}).get(name, {})
    if not settings.get("lexicon"):
        return None
    return registry.resolve({"lexicon": settings["lexicon"]})["lexicon"]
