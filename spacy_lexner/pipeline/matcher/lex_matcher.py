"""The pipe that finds candidate words and lends its lexicon to the models behind it."""

import copy
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Union

from spacy import util
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from thinc.api import Model

from ...candidates.lexicon_node import LexiconLink, RulesLink
from ...candidates.storage import Candidates, align_candidates, find_candidates, set_candidates
from ...lexicon.lexicon import Lexicon
from ...lexicon.matcher import MatchOptions, check_options
from ...lexicon.readers.rule_file import RuleFile
from ...lexicon.rules import RuleReader
from ...lexicon.shared_matcher import SharedMatcher
from ...lexicon.single_chars import SingleChars
from ..extensions import install_match_extensions
from .saved_lexicon import SavedLexicon

ReaderT = Callable[[Language], Lexicon]


@Language.factory(
    "lex_matcher",
    assigns=["doc._.lex_matches", "doc._.lex_version", "token._.lex_words"],
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


class LexMatcher(SavedLexicon, Pipe):
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
        SavedLexicon.__init__(self)
        self.name = name
        self.options = options or MatchOptions()
        check_options(self.options)
        self.spans_key = spans_key
        self.model = None
        self.listener_map: Dict[str, List[Model]] = {}
        self._look_at_rules = False
        install_match_extensions()

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
        matcher = self.matcher
        if self._look_at_rules:  # now all components are linked
            self._look_at_rules = False
            self.warn_of_rules()
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
        rules: Optional[Union[str, List[str]]] = None,
        prune: bool = False,
        allow_empty: bool = False,
    ) -> None:
        """Build the lexicon, read its rules, and link it to the components that follow.

        get_examples (Callable[[], Iterable[Example]]): The training examples.
        nlp (Optional[Language]): The pipeline.
        lexicon (Optional[Callable[[Language], Lexicon]]): A reader, such as `spacy-lexner.WordVectors.v1`. Without one
            the pipe keeps the lexicon that it has.
        rules (Optional[Union[str, List[str]]]): Path of a dictionary file (see `load_rules`), or of several.
        prune (bool): Keep only the words that occur in the training texts. Words that only new texts hold are lost.
        allow_empty (bool): Start with an empty lexicon where there is none.
        """
        if lexicon is not None and nlp is not None:
            self._load_dictionary(lexicon(nlp))
        elif self._dictionary is None and allow_empty:
            self._load_dictionary(Lexicon.from_entries([]))
        if prune:
            self._load_dictionary(self._present().own.prune(example.reference.text for example in get_examples()))
        if rules is not None:
            self.set_rule_files(RuleFile(path) for path in ([rules] if isinstance(rules, str) else rules))
        if not len(self.lexicon) and not allow_empty:
            raise ValueError(f"The lexicon of '{self.name}' is empty. If that is meant, set allow_empty = true.")
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

    @property
    def rule_readers(self) -> List[RuleReader]:
        """RETURNS (List[RuleReader]): The linked components that obey rules and have labels."""
        return [link.reader for link in self._rules_links if link.reader is not None]

    @property
    def all_have_labels(self) -> bool:
        """RETURNS (bool): Whether there are linked components that obey rules, and each has labels."""
        links = self._rules_links
        return bool(links) and all(link.reader is not None for link in links)

    @property
    def _rules_links(self) -> List[RulesLink]:
        links = (node.attrs["link"] for node in self.listeners)
        return [link for link in links if isinstance(link, RulesLink)]

    @property
    def vector_readers(self) -> List[str]:
        """RETURNS (List[str]): The linked components whose models read candidate words."""
        read = (name for name, nodes in self.listener_map.items() for node in nodes if not _reads_rules(node))
        return list(dict.fromkeys(read))

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
                if isinstance(link, RulesLink):
                    if link.reader is not None:  # a pipe may have got another name since
                        link.reader = link.reader._replace(name=component.name)
                    self._look_at_rules = True

    # Copies

    def __deepcopy__(self, memo: Dict[int, Any]) -> "LexMatcher":
        """RETURNS (LexMatcher): A copy with a source of its own, to which the models copied along are linked."""
        copied = LexMatcher(self.name, options=self.options, spans_key=self.spans_key)
        copied.source = SharedMatcher(self.source.matcher)
        copied._dictionary, copied.rule_files = self._dictionary, self.rule_files
        memo[id(self)] = copied
        memo[id(self.source)] = copied.source
        copied.listener_map = copy.deepcopy(self.listener_map, memo)
        return copied


def _reads_rules(node: Model) -> bool:
    return isinstance(node.attrs["link"], RulesLink)
