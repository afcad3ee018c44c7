"""The model node that reads the lexicon (Docs in, candidate words out), and its link to the `lex_matcher` it uses."""

import warnings
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple
from weakref import ref

from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from ..lexicon.errors import LexiconWarning
from ..lexicon.lexicon import Lexicon
from ..lexicon.matcher import Matcher
from ..lexicon.rules import RuleReader
from ..lexicon.shared_matcher import SharedMatcher
from .batch_words import DocWords
from .storage import find_candidates, get_candidates, get_version
from .word_dropout import WordDropout

NODE_NAME = "lexicon"
TRAINED = "trained_lexicon"  # attribute of the node: a description of the training lexicon; saved with the model


class LexiconLink:
    """The source from which a model reads candidate words. It is never saved with the model (thinc skips attributes
    that it cannot serialize), but copies of the model keep it. It belongs to a `lex_matcher`: a component that was
    sourced from another pipeline without its `lex_matcher` has no lexicon."""

    def __init__(self) -> None:
        self.source: Optional[SharedMatcher] = None
        self.compared: Optional[int] = None  # version of the lexicon last compared with the training lexicon
        self.warned: Set[str] = set()  # kinds of differences already warned of
        self._owner: Optional[ref[Any]] = None  # the `lex_matcher`; None if the source was set by hand
        self._vocab: Optional[Vocab] = None  # of the pipeline that the component was made for

    def set(self, source: SharedMatcher, owner: Any, vocab: Optional[Vocab]) -> None:
        """Link the source of a `lex_matcher` to the model of a component made for the pipeline with `vocab`."""
        self.source, self._owner, self._vocab = source, ref(owner), vocab

    @property
    def owner(self) -> Any:
        """The `lex_matcher` that owns the source; None if it is gone, or the source was set by hand."""
        return None if self._owner is None else self._owner()

    def require(self) -> SharedMatcher:
        """The source. Raises ValueError if none is linked."""
        if self.source is None:
            raise ValueError(
                "The model reads candidate words, but no lexicon is linked to it. Add a `lex_matcher` to the pipeline, "
                'before the component that holds this model: nlp.add_pipe("lex_matcher", first=True), give it words, '
                "and call nlp.initialize() or load the pipeline again."
            )
        return self.source

    def is_stale(self, doc: Doc, is_train: bool = False) -> bool:
        """Whether the link is left over from the pipeline that the component was sourced from: no matcher has run on
        the Doc, and the `lex_matcher` is gone or the Doc comes from another pipeline. In training, another vocab means
        nothing, since a matcher that is not an annotating component does not run."""
        foreign = not is_train and self._vocab is not None and doc.vocab is not self._vocab
        orphan = self._owner is not None and self.owner is None
        return (foreign or orphan) and get_candidates(doc) is None

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_owner": None}  # a weak reference cannot be pickled

    def __deepcopy__(self, memo: Dict[int, Any]) -> "LexiconLink":
        copied = type(self)()
        copied.__dict__.update(self.__dict__)
        copied.source = deepcopy(self.source, memo)
        copied._vocab = memo.get(id(self._vocab), self._vocab)
        copied._owner = self._owner if self.owner is None else ref(memo.get(id(self.owner), self.owner))
        return copied


class RulesLink(LexiconLink):
    """The source of the rules that a component follows, if there is one. It reads no vectors."""

    def __init__(self) -> None:
        super().__init__()
        self.reader: Optional[RuleReader] = None  # which rules concern the component; None until it has labels

    def pinned(self) -> AbstractContextManager[None]:
        """Within it, all parts of a model see the same state of the lexicon."""
        return nullcontext() if self.source is None else self.source.pinned()

    def matchers(self, docs: Sequence[Doc]) -> List[Optional[Matcher]]:
        """For each Doc the Matcher whose lexicon applies to it; None without a lexicon."""
        return [None if self.source is None or self.is_stale(doc) else matcher_of(self.source, doc) for doc in docs]


def matcher_of(source: SharedMatcher, doc: Doc) -> Optional[Matcher]:
    """The Matcher that a Doc was matched with if the source remembers it, else the current one, if any."""
    version = get_version(doc)
    known = None if version is None else source.get(version)
    return source.matcher if known is None else known


def LexiconCandidates(dropout: WordDropout = WordDropout()) -> Model[List[Doc], List[DocWords]]:  # noqa: B008 (frozen)
    """RETURNS (Model[List[Doc], List[Tuple[Candidates, Lexicon]]]): Returns the candidate words of each Doc, and their
    lexicon. Words that a `lex_matcher` stored in the Doc are used if the linked source still knows their lexicon. Other
    Docs are matched here, so that training, pretraining and prediction see the same words. In training, `dropout` hides
    some."""
    return Model(NODE_NAME, forward, attrs={"link": LexiconLink(), "dropout": dropout, TRAINED: None})


def find_lexicon_node(model: Model) -> Optional[Model]:
    """The node of a model that reads the lexicon; None if it has none."""
    return next((node for node in model.walk() if node.name == NODE_NAME), None)


def linked_matcher(node: Model) -> Matcher:
    """The Matcher of the linked lexicon. Raises ValueError if there is none."""
    matcher = node.attrs["link"].require().matcher
    if matcher is None:
        raise ValueError(
            "The `lex_matcher` that is linked to the model has no lexicon. Give it one: "
            "`[initialize.components.lex_matcher.lexicon]` in the config, lex_matcher.add_words([...]) or "
            "lex_matcher.set_lexicon(Lexicon.open(path))."
        )
    return matcher


def training_matcher(node: Model, *, reads_labels: bool = False) -> Matcher:
    """The Matcher of the linked lexicon, for a model that is being initialized: the node keeps a description of the
    lexicon. `reads_labels` says whether the model reads the labels of words."""
    matcher = linked_matcher(node)
    node.attrs[TRAINED] = {
        "words": len(matcher.lexicon),
        "dim": matcher.lexicon.dim,
        "without_labels": reads_labels and not matcher.lexicon.has_labels,  # labels that are added later are ignored
        "script": matcher.lexicon.normalization.script,
    }
    return matcher


def trained_width(node: Model) -> Optional[int]:
    """The width of the vectors with which a linked node was trained; None if it reads none, or does not know."""
    trained = node.attrs.get(TRAINED)
    return None if trained is None else trained.get("dim")  # models of older versions have no dim


def is_description(value: Any) -> bool:
    """Whether a value is a valid description of a training lexicon (the attribute TRAINED)."""
    if not isinstance(value, dict):
        return False
    n_words, dim, script = value.get("words"), value.get("dim", 0), value.get("script")
    is_flag = isinstance(value.get("without_labels"), bool)
    are_sizes = all(type(size) is int and size >= 0 for size in (n_words, dim))
    return are_sizes and is_flag and (script is None or isinstance(script, str))


def find_differences(trained: Mapping[str, Any], lexicon: Lexicon) -> Iterator[Tuple[str, str]]:
    """YIELDS (Tuple[str, str]): Each difference from the training lexicon that makes the model worse: its kind, and a
    warning."""
    n_words, script = trained["words"], trained.get("script")  # models of older versions have no script
    if 2 * len(lexicon) < n_words:
        text = (
            f"The lexicon has {len(lexicon)} words, but had {n_words} when the model was trained. The model relies on "
            "these words: expect it to find less. Give `lex_matcher` a lexicon like the one in training, or train with "
            "`lexicon_dropout` (block `lexicon` of the encoder)."
        )
        yield "shrunk", text
    if script is not None and lexicon.normalization.script != script and len(lexicon):
        text = (
            f"The lexicon compares words as they are written, but the one in training compared them in {script} "
            f"script: words in another script are not found. Build it with script = {script!r} (`lexicon build "
            f"--script {script}`)."
        )
        yield "script", text
    if trained["without_labels"] and lexicon.has_labels:
        text = (
            "The lexicon's words have labels, but those of the training lexicon had none, so the model ignores them. "
            "Train it with a lexicon that has labels."
        )
        yield "labels", text


def forward(model: Model, docs: List[Doc], is_train: bool) -> Tuple[List[DocWords], Callable]:
    link: LexiconLink = model.attrs["link"]
    current, source = linked_matcher(model), link.require()
    if link.compared != current.version:
        link.compared = current.version
        for kind, warning in find_differences(model.attrs[TRAINED], current.lexicon) if model.attrs[TRAINED] else ():
            if kind not in link.warned:
                link.warned.add(kind)
                warnings.warn(warning, LexiconWarning, stacklevel=2)
    if (stale := next((doc for doc in docs if link.is_stale(doc, is_train)), None)) is not None:
        raise ValueError(
            f"The model reads candidate words, but its `lex_matcher` has not run on {stale.text[:40]!r}. If it is in "
            "the pipeline, enable it, and put it before the component that holds the model. If the component was "
            'sourced without it, source it too: nlp.add_pipe("lex_matcher", source=other_nlp, first=True).'
        )
    stored = [get_candidates(doc) for doc in docs]
    matchers = [None if one is None else source.get(one[0]) for one in stored]
    unmatched = [doc for doc, matcher in zip(docs, matchers) if matcher is None]
    matched_now = iter(find_candidates(current, unmatched) if unmatched else [])
    found = [
        (next(matched_now), current.lexicon) if one is None or matcher is None else (one[1], matcher.lexicon)
        for one, matcher in zip(stored, matchers)
    ]
    return model.attrs["dropout"](found) if is_train else found, lambda gradient: []
