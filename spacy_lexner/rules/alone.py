"""Rules without a model: the entities that follow from them alone."""

from typing import Any, Callable, Iterable, Iterator, List, Mapping, Tuple

import numpy as np
import spacy
from spacy.tokens import Doc
from thinc.api import Model

from ..lexicon.rules import Rules
from ..pipeline.matcher.lex_matcher import LexMatcher
from ..pipeline.ner.constraints import ENTITY
from ..pipeline.ner.lex_ner import LexNER
from ..tagging.spans.head import TaggerOutput

AnnotateT = Callable[[Iterable[str]], Iterator[Doc]]


def follow_rules(rules: Mapping[str, Rules]) -> AnnotateT:
    """Make a function that annotates texts by rules alone, as if a model found all readings equally probable, and no
    entity unless a rule asks for one. So `force`, and `prefer` with a positive weight, make entities, and conflicting
    rules are resolved as with a model.

    rules (Mapping[str, Tuple[Rule, ...]]): The words and their rules. Raises LexiconError for contradictory rules.
    RETURNS (Callable[[Iterable[str]], Iterator[Doc]]): From texts to Docs with entities.
    """
    nlp = spacy.blank("zh")
    ner = LexNER(nlp, "rules", _indifferent(), scorer=None, threshold=0.0, units="characters")
    labels = {rule.label for several in rules.values() for rule in several} - {"", ENTITY}
    for label in sorted(labels) or [ENTITY]:  # the model needs a label even if no rule names one
        ner.add_label(label)
    matcher = LexMatcher()
    matcher.add_words([])
    matcher.find_listeners(ner)
    matcher.add_rules((word, *rule) for word, several in rules.items() for rule in several)

    def annotate(texts: Iterable[str]) -> Iterator[Doc]:
        return ner.pipe(matcher.pipe(nlp.make_doc(text) for text in texts))

    return annotate


def _indifferent() -> Model[List[Doc], TaggerOutput]:
    """RETURNS (Model[List[Doc], TaggerOutput]): A tagger that gives every path the same score. Ties are won by the path
    with the fewest entities."""
    from ..tagging.heads import CRFHead  # here, because it imports torch

    model: Model[List[Doc], TaggerOutput] = Model(
        "indifferent", _forward, dims={"nO": None}, attrs={"head": CRFHead(), "resize_output": _resize}
    )
    model.set_ref("output_layer", model)
    return model


def _forward(model: Any, docs: List[Doc], is_train: bool) -> Tuple[TaggerOutput, Callable[[TaggerOutput], List[Any]]]:
    n_tags = model.attrs["n_tags"]
    emissions: Any = [np.zeros((len(doc), n_tags), "f4") for doc in docs]
    transitions: Any = np.zeros((n_tags + 1, n_tags + 1), "f4")
    return TaggerOutput(emissions, transitions), lambda d_output: []


def _resize(model: Any, n_tags: int, *templates: Any) -> Any:
    model.attrs["n_tags"] = n_tags
    return model
