"""The pipe that finds candidate words and lends its lexicon to the models behind it."""

import copy
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Union

import srsly
from spacy import util
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from thinc.api import Model

from ..layers.candidates import Candidates, align_candidates, find_candidates, set_candidates
from ..layers.lexicon_link import LexiconLink
from ..lexicon.entry import LexiconEntry
from ..lexicon.lexicon import Lexicon
from ..lexicon.matcher import Matcher, MatchOptions, check_options
from ..lexicon.single_chars import SingleChars
from ..lexicon.source import LexiconSource
from .extensions import install_match_extensions

ReaderT = Callable[[Language], Lexicon]


@Language.factory(
    "lex_matcher",
    assigns=["doc._.lex_matches", "token._.lex_words"],
    default_config={
        "min_length": 2,
        "max_length": None,
        "single_chars": "keep",
        "alignment_mode": "strict",
        "spans_key": None,
    },
)
def make_lex_matcher(
    nlp: Language,
    name: str,
    min_length: int,
    max_length: Optional[int],
    single_chars: SingleChars,
    alignment_mode: str,
    spans_key: Optional[str],
) -> "LexMatcher":
    options = MatchOptions(
        min_length=min_length, max_length=max_length, single_chars=single_chars, alignment_mode=alignment_mode
    )
    return LexMatcher(name, options=options, spans_key=spans_key)


class LexMatcher(Pipe):
    """Attach the lexicon words found in a Doc (`doc._.lex_matches`, `token._.lex_words`), and hand the lexicon to every
    model of a later component that reads candidate words.

    The lexicon is stored once, here. Changing it while another thread is in `nlp.pipe` is safe: each Doc is matched,
    and its words are looked up, in one and the same state of the lexicon.
    """

    def __init__(
        self, name: str = "lex_matcher", *, options: Optional[MatchOptions] = None, spans_key: Optional[str] = None
    ) -> None:
        """Create a matcher without a lexicon.

        name (str): The component's name.
        options (Optional[MatchOptions]): Lengths of words, rule for single characters, alignment to tokens.
        spans_key (Optional[str]): If set, the words are also written to `doc.spans[spans_key]`, which costs about a
            microsecond each; off by default.
        """
        self.name = name
        self.options = options or MatchOptions()
        check_options(self.options)
        self.spans_key = spans_key
        self.source = LexiconSource()
        self.model = None
        self.listener_map: Dict[str, List[Model]] = {}
        install_match_extensions()

    # The lexicon

    @property
    def lexicon(self) -> Lexicon:
        """RETURNS (Lexicon): The lexicon in use. Raises ValueError if there is none yet."""
        return self._matcher().lexicon

    def set_lexicon(self, lexicon: Lexicon) -> None:
        """Put another lexicon in the place of the present one, at once.

        lexicon (Lexicon): The lexicon. One with vectors of another width is refused while a model is linked, since the
            model could not read them; an empty one is always taken.
        """
        current = self.source.matcher
        if current is not None and self.listeners and len(lexicon) and lexicon.dim != current.lexicon.dim:
            raise ValueError(
                f"The new lexicon has vectors of {lexicon.dim} dimensions, the present one of {current.lexicon.dim}, "
                f"and {', '.join(self.listening_components)} reads them: build the lexicon with vectors of the same "
                "width, or train the components again with the new one."
            )
        self.source.set(Matcher(lexicon, self.options))

    def add_words(self, words: Iterable[Union[str, LexiconEntry]]) -> None:
        """Add words to the lexicon; what a Doc is matched with changes at once. A known word gets the new entry.

        words (Iterable[Union[str, LexiconEntry]]): Words, or entries with a vector, weight, label or entity id.
        """
        entries = [LexiconEntry(word) if isinstance(word, str) else word for word in words]
        current = self.source.matcher
        self.set_lexicon(Lexicon.from_entries(entries) if current is None else current.lexicon.with_words(entries))

    def remove_words(self, words: Iterable[str]) -> None:
        """Take words out of the lexicon. Unknown words are ignored.

        words (Iterable[str]): The words.
        """
        self.set_lexicon(self.lexicon.without_words(list(words)))

    def _matcher(self) -> Matcher:
        if self.source.matcher is None:
            raise ValueError(
                f"The pipe '{self.name}' has no lexicon. Give it one: a reader in the config's "
                f"[initialize.components.{self.name}.lexicon], or add_words([...]), or "
                "set_lexicon(Lexicon.open(path))."
            )
        return self.source.matcher

    # Documents

    def __call__(self, doc: Doc) -> Doc:
        """Find the candidate words of a Doc.

        doc (Doc): The Doc.
        RETURNS (Doc): The same Doc.
        """
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Find the candidate words of a stream of Docs, a batch at a time.

        stream (Iterable[Doc]): The Docs.
        batch_size (int): The number of Docs to match at once.
        YIELDS (Doc): The same Docs, in order. A Doc that fails goes to the error handler, alone.
        """
        for docs in util.minibatch(stream, size=batch_size):
            try:
                self._annotate(docs)
            except Exception:
                yield from super().pipe(docs)
            else:
                yield from docs

    def _annotate(self, docs: Sequence[Doc]) -> None:
        matcher = self._matcher()
        for doc, candidates in zip(docs, find_candidates(matcher, docs)):
            set_candidates(doc, matcher.version, candidates)
            if self.spans_key is not None:
                doc.spans[self.spans_key] = self._span_group(doc, candidates)

    def _span_group(self, doc: Doc, candidates: Candidates) -> SpanGroup:
        kept = align_candidates(doc, candidates)
        spans = [doc.char_span(start, end) for start, end in zip(kept.starts.tolist(), kept.ends.tolist())]
        return SpanGroup(doc, name=self.spans_key or "", spans=[span for span in spans if isinstance(span, Span)])

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
        lexicon: Optional[ReaderT] = None,
        prune: bool = False,
        allow_empty: bool = False,
    ) -> None:
        """Build the lexicon, and link it to the components that follow.

        get_examples (Callable[[], Iterable[Example]]): The training examples.
        nlp (Optional[Language]): The pipeline.
        lexicon (Optional[Callable[[Language], Lexicon]]): A reader, such as `spacy-lexner.WordVectors.v1`. Without one
            the pipe keeps the lexicon that it has.
        prune (bool): Keep only the words that occur in the training texts. Words that only new texts hold are lost.
        allow_empty (bool): Start with an empty lexicon where there is none.
        """
        if lexicon is not None and nlp is not None:
            self.source.set(Matcher(lexicon(nlp), self.options))
        elif self.source.matcher is None and allow_empty:
            self.source.set(Matcher(Lexicon.from_entries([]), self.options))
        if not len(self.lexicon) and not allow_empty:
            raise ValueError(f"The lexicon of '{self.name}' is empty. If that is meant, set allow_empty = true.")
        if prune:
            texts = (example.reference.text for example in get_examples())
            self.source.set(Matcher(self.lexicon.prune(texts), self.options))
        if nlp is not None:
            pipes = [pipe for _, pipe in nlp.pipeline]
            for component in pipes[pipes.index(self) + 1 :] if self in pipes else []:
                self.find_listeners(component)

    # Linking: spaCy's ListenedToComponent protocol

    @property
    def listeners(self) -> List[Model]:
        return [node for nodes in self.listener_map.values() for node in nodes]

    @property
    def listening_components(self) -> List[str]:
        return list(self.listener_map)

    def add_listener(self, listener: Model, component_name: str) -> None:
        nodes = self.listener_map.setdefault(component_name, [])
        if listener not in nodes:
            nodes.append(listener)

    def remove_listener(self, listener: Model, component_name: str) -> bool:
        nodes = self.listener_map.get(component_name, [])
        if listener not in nodes:
            return False
        nodes.remove(listener)
        if not nodes:
            del self.listener_map[component_name]
        return True

    def find_listeners(self, component: Any) -> None:
        """Link the lexicon to every node of a component's model that reads candidate words.

        component (Any): A component that comes later in the pipeline.
        """
        model = getattr(component, "model", None)
        for node in model.walk() if isinstance(model, Model) else []:
            link = node.attrs.get("link")
            if isinstance(link, LexiconLink):
                link.source = self.source
                self.add_listener(node, component.name)

    # Copies and files

    def __deepcopy__(self, memo: Dict[int, Any]) -> "LexMatcher":
        """RETURNS (LexMatcher): A copy with a source of its own, to which the models copied along are linked."""
        copied = LexMatcher(self.name, options=self.options, spans_key=self.spans_key)
        copied.source = LexiconSource(self.source.matcher)
        memo[id(self)] = copied
        memo[id(self.source)] = copied.source
        copied.listener_map = copy.deepcopy(self.listener_map, memo)
        return copied

    def to_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> None:
        """Save the options and the lexicon.

        path (Union[str, Path]): A folder.
        exclude (Iterable[str]): "cfg", "lexicon".
        """
        writers: Dict[str, Callable[[Path], None]] = {"cfg": lambda p: srsly.write_json(p, self._cfg())}
        if self.source.matcher is not None:
            writers["lexicon"] = self.lexicon.save
        util.to_disk(Path(path), writers, exclude)

    def from_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> "LexMatcher":
        """Load the options and the lexicon, which stays on disk, memory-mapped.

        path (Union[str, Path]): A folder written by `to_disk`.
        exclude (Iterable[str]): "cfg", "lexicon".
        RETURNS (LexMatcher): This object.
        """
        path = Path(path)
        readers: Dict[str, Callable[[Path], Any]] = {"cfg": lambda p: self._load_cfg(srsly.read_json(p))}
        if (path / "lexicon").exists():
            readers["lexicon"] = lambda p: self.source.set(Matcher(Lexicon.open(p), self.options))
        util.from_disk(path, readers, exclude)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        writers: Dict[str, Callable[[], bytes]] = {"cfg": lambda: srsly.json_dumps(self._cfg()).encode("utf8")}
        if self.source.matcher is not None:
            writers["lexicon"] = self.lexicon.to_bytes
        return util.to_bytes(writers, exclude)

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "LexMatcher":
        readers: Dict[str, Callable[[bytes], Any]] = {
            "cfg": lambda b: self._load_cfg(srsly.json_loads(b)),
            "lexicon": lambda b: self.source.set(Matcher(Lexicon.from_bytes(b), self.options)),
        }
        util.from_bytes(bytes_data, readers, exclude)
        return self

    def _cfg(self) -> Dict[str, Any]:
        return {"options": self.options._asdict(), "spans_key": self.spans_key}

    def _load_cfg(self, cfg: Dict[str, Any]) -> None:
        self.options = MatchOptions(**cfg["options"])
        self.spans_key = cfg["spans_key"]
