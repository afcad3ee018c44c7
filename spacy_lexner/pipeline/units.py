"""The units that a tagger reads (the setting `units`), and a check of the tokenizer if these are tokens."""

import logging
from typing import Any, Callable, Dict, Iterable, List, Literal, Optional, Sequence
from weakref import ref

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from ..candidates.storage import UNSPACED, is_unspaced
from ..candidates.unit_docs import find_listener, make_unit_docs

logger = logging.getLogger(__name__)
Units = Literal["auto", "characters", "tokens"]
SHOWN = 8


class UnitReader:
    """Turns Docs into those that a tagger reads, by its setting `units` and by what training fixed in its `cfg`:
    "units", and "tokenizer" if these are tokens."""

    def __init__(self, nlp: Language, model: Model, setting: Units) -> None:
        """Raises ValueError for units that the model cannot read."""
        self._model, self._lang, self._setting = model, nlp.lang, setting
        self._tokenizer = TokenizerCheck(nlp)
        self.choose({})

    def choose(self, cfg: Dict[str, Any]) -> Units:
        """Choose the units: those of the setting, or of training; otherwise characters in a language written without
        spaces, unless the model listens to a shared encoder, which has vectors for tokens only."""
        settled = cfg.get("units")
        if settled and self._setting in ("auto", settled):
            return settled
        possible = self._lang in UNSPACED and find_listener(self._model) is None
        if self._setting == "characters" and not possible:
            raise ValueError(
                "units = 'characters' needs a model with an encoder of its own, and a language written without spaces; "
                f"the language is {self._lang!r}, or the model has a listener. Set units = 'tokens' or 'auto'."
            )
        return self._setting if self._setting != "auto" else "characters" if possible else "tokens"

    def settle(self, cfg: Dict[str, Any], nlp: Optional[Language]) -> None:
        """Fix units and tokenizer before training."""
        if nlp is not None:
            self._tokenizer = TokenizerCheck(nlp)
        cfg["units"] = None
        cfg["units"] = self.choose(cfg)
        cfg["tokenizer"] = self._tokenizer.name if cfg["units"] == "tokens" else None

    def check_loaded(self, cfg: Dict[str, Any], component: str) -> None:
        """Warn if the tokenizer differs from the one in training."""
        if cfg.get("tokenizer") and self.choose(cfg) == "tokens":
            self._tokenizer.check_name(component, cfg["tokenizer"])

    def read(self, docs: Iterable[Doc], cfg: Dict[str, Any], component: str) -> List[Doc]:
        """The Docs that the model reads."""
        docs = list(docs)
        if self.choose(cfg) == "characters":
            foreign = next((doc for doc in docs if not is_unspaced(doc)), None)
            if foreign is not None:
                raise ValueError(
                    f"{component} tags characters, but the vocabulary of the Doc {foreign.text[:40]!r} has the "
                    f"language {foreign.vocab.lang!r}. Make or load Docs with the pipeline's vocabulary, nlp.vocab."
                )
            return make_unit_docs(docs)
        if cfg.get("tokenizer"):
            self._tokenizer.check_docs(component, cfg["tokenizer"], docs)
        return docs


def read_examples(examples: Iterable[Example], read: Callable[[Iterable[Doc]], List[Doc]]) -> List[Example]:
    """Replace the predicted Docs of examples by what `read` makes of them."""
    examples = list(examples)
    docs = read(example.predicted for example in examples)
    return [one if one.predicted is doc else Example(doc, one.reference) for one, doc in zip(examples, docs)]


class TokenizerCheck:
    """Warns, once, if a component that tags tokens is used with a tokenizer it was not trained with."""

    def __init__(self, nlp: Language) -> None:
        """nlp (Language): The pipeline for which the component is created."""
        self.tokenizer: Any = nlp.tokenizer
        self._nlp: Optional[ref[Language]] = ref(nlp)
        self._done = False

    @property
    def name(self) -> str:
        """The class of the tokenizer, and its segmenter if it has one."""
        segmenter = getattr(self.tokenizer, "segmenter", None)
        named = type(self.tokenizer).__qualname__
        return named if segmenter is None else f"{named} (segmenter = {getattr(segmenter, 'value', segmenter)})"

    def check_name(self, component: str, trained: str) -> None:
        """Compare the tokenizer of the component's pipeline with the one in training."""
        kinds = [name.partition("(")[2] or name for name in (trained, self.name)]  # different classes may segment alike
        if kinds[0] != kinds[1]:
            self._warn(component, trained, self.name)

    def check_docs(self, component: str, trained: str, docs: Sequence[Doc]) -> None:
        """If Docs come from another pipeline, into which the component was sourced, compare the tokens of the first
        ones with those of its own tokenizer."""
        docs = [] if self._done else [doc for doc in docs if len(doc)]
        if not docs or not self._is_moved(docs[0]):
            return
        self._done = True
        for doc in docs:
            words = [token.text for token in doc]
            own = [token.text for token in self.tokenizer(doc.text)]
            if words != own:
                first = next(i for i, pair in enumerate(zip([*words, ""], [*own, ""])) if len(set(pair)) > 1)
                begin = max(0, first - SHOWN // 2)
                there, here = ("|".join(part[begin : begin + SHOWN]) for part in (words, own))
                self._warn(component, f"{trained}, which gives {here!r}", f"one that gives {there!r}")
                return

    def _is_moved(self, doc: Doc) -> bool:
        nlp = None if self._nlp is None else self._nlp()
        return self._nlp is not None and (nlp is None or nlp.vocab is not doc.vocab)

    def _warn(self, component: str, trained: str, other: str) -> None:
        self._done = True
        logger.warning(
            "%s tags tokens and was trained with the tokenizer %s, but is used with %s. Use the former, or retrain it.",
            *(component, trained, other),
        )

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_nlp": None}  # a weak reference cannot be pickled
