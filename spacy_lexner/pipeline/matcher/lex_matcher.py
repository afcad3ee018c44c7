"""The pipe `lex_matcher`: finds candidate words, and links its lexicon to the models of later components."""

import copy
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Union

import srsly
from spacy import util
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup, Token
from spacy.training import Example

from ...candidates.storage import (
    Candidates,
    LexMatch,
    align_candidates,
    find_candidates,
    get_candidates,
    get_matches,
    matches_near,
    set_candidates,
    token_spans,
)
from ...integrity.seal import SEALED, SealedFolder, seal_bytes, unseal_bytes, write_seal
from ...lexicon.lexicon import Lexicon
from ...lexicon.matcher import InsideLatin, MatchOptions, SingleChars, check_options
from ...lexicon.rule_file import RuleFile, collect_rules, read_rules, write_rules
from ...lexicon.ruled_lexicon import RuledLexicon
from ...lexicon.rules import Rule, normal_rules
from ...lexicon.shared_matcher import SharedMatcher
from ..extensions import add_extension
from ..lexicon_pipe import LexiconPipe
from ..sealed_pipe import loading
from ..settings import TEXT_OR_NULL, Setting, check_settings, is_text

LexiconReader = Callable[[Language], Lexicon]


def _are_files(value: Any) -> bool:
    """Whether a value is a saved list of dictionary files."""
    rows = value if isinstance(value, list) else [None]
    return all(isinstance(row, list) and len(row) == 2 and all(map(is_text, row)) for row in rows)


SETTINGS = {  # saved in addition to the match options
    "spans_key": TEXT_OR_NULL,
    "rule_files": Setting(_are_files, "a list of files, each a path and its encoding"),
}


@Language.factory(
    "lex_matcher",
    assigns=["doc._.lex_matches", "doc._.lex_version", "token._.lex_words"],
    default_config={**MatchOptions(min_length=2)._asdict(), "spans_key": None},
)
def make_lex_matcher(
    nlp: Language,
    name: str,
    min_length: int,
    max_length: Optional[int],
    single_chars: SingleChars,
    alignment_mode: str,
    inside_latin: InsideLatin,
    spans_key: Optional[str],
) -> "LexMatcher":
    """Make a `lex_matcher` component.

    min_length, max_length, single_chars, alignment_mode, inside_latin: See `MatchOptions`.
    spans_key (Optional[str]): See `LexMatcher`.
    """
    options = MatchOptions(min_length, max_length, single_chars, alignment_mode, inside_latin)
    return LexMatcher(name, options=options, spans_key=spans_key)


class LexMatcher(LexiconPipe):
    """Attach the lexicon words found in a Doc (`doc._.lex_matches`, `token._.lex_words`), and link the lexicon to every
    model of a later component that reads candidate words.

    The lexicon is stored only here. It may be changed while another thread is in `nlp.pipe`: each Doc is matched, and
    its words are looked up, in the same state of the lexicon.
    """

    def __init__(
        self, name: str = "lex_matcher", *, options: Optional[MatchOptions] = None, spans_key: Optional[str] = None
    ) -> None:
        """Create a matcher without a lexicon.

        name (str): The name of the component.
        options (Optional[MatchOptions]): Lengths of words, handling of single characters and Latin words, alignment to
            tokens.
        spans_key (Optional[str]): If set, the words are also written to `doc.spans[spans_key]`, which costs about a
            microsecond each.
        """
        super().__init__(name, options or MatchOptions())
        check_settings(name, {"spans_key": spans_key}, SETTINGS)
        self.spans_key = spans_key
        add_extension(Doc, "lex_matches", getter=get_matches)
        add_extension(Doc, "lex_version", getter=get_lex_version)
        add_extension(Token, "lex_words", getter=get_lex_words)

    # Documents

    def __call__(self, doc: Doc) -> Doc:
        """RETURNS (Doc): The same Doc, with its candidate words."""
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """YIELDS (Doc): The same Docs, matched in batches. Each failing Doc is passed to the error handler."""
        for docs in util.minibatch(stream, size=batch_size):
            try:
                self._annotate(docs)
            except Exception:
                yield from super().pipe(docs)
            else:
                yield from docs

    def _annotate(self, docs: Sequence[Doc]) -> None:
        matcher = self.matcher
        if self._rules_unchecked:  # not earlier: now all components are linked
            self._rules_unchecked = False
            self.check_rules(warn=True)
        for doc, candidates in zip(docs, find_candidates(matcher, docs)):
            set_candidates(doc, matcher.version, candidates)
            if self.spans_key is not None:
                doc.spans[self.spans_key] = self._span_group(doc, candidates)

    def _span_group(self, doc: Doc, candidates: Candidates) -> SpanGroup:
        kept = align_candidates(doc, candidates, self.options.alignment_mode)
        starts, ends, whole = token_spans(doc, kept)
        spans = [Span(doc, start, end) for start, end in zip(starts[whole].tolist(), ends[whole].tolist())]
        return SpanGroup(doc, name=self.spans_key or "", spans=spans)

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Optional[Language] = None,
        lexicon: Optional[LexiconReader] = None,
        rules: Optional[Union[str, List[str]]] = None,
        prune: bool = False,
        allow_empty: bool = False,
    ) -> None:
        """Build the lexicon, read its rules, and link it to the components that follow.

        get_examples (Callable[[], Iterable[Example]]): The training examples.
        nlp (Optional[Language]): The pipeline.
        lexicon (Optional[Callable[[Language], Lexicon]]): A reader, such as `spacy-lexner.WordVectors.v1`. Without one
            the pipe keeps its lexicon.
        rules (Optional[Union[str, List[str]]]): One or more dictionary files (see `load_rules`).
        prune (bool): Keep only the words that occur in the training texts, so words that occur only in new texts are
            lost.
        allow_empty (bool): Start with an empty lexicon if there is none. Otherwise an empty one raises ValueError.
        """
        if lexicon is not None and nlp is not None:
            self._replace(own=lexicon(nlp))
        elif self._dictionary is None and allow_empty:
            self._replace(own=Lexicon.from_entries([]))
        if prune and self._dictionary is not None:
            self._replace(own=self._dictionary.own.prune(example.reference.text for example in get_examples()))
        if rules is not None:
            self.set_rule_files(RuleFile(path) for path in ([rules] if isinstance(rules, str) else rules))
        if not len(self.lexicon) and not allow_empty:
            raise ValueError(
                f"The lexicon of '{self.name}' is empty. If this is intended, set allow_empty = true in "
                f"[initialize.components.{self.name}]."
            )
        if nlp is not None:
            pipes = [pipe for _, pipe in nlp.pipeline]
            for component in pipes[pipes.index(self) + 1 :] if self in pipes else []:
                self.find_listeners(component)

    # Files

    def to_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> None:
        """Save the options, the lexicon, and the rules from files. `exclude` may contain "cfg", "lexicon", "rules"."""
        writers: Dict[str, Callable[[Path], Any]] = {"cfg": lambda p: srsly.write_json(p, self._cfg())}
        if (dictionary := self._dictionary) is not None:
            writers["lexicon"] = lambda p: dictionary.own.save(p, overwrite=True)  # a pipeline is saved as a whole
            writers["rules"] = lambda p: p.write_text(write_rules(dictionary.from_files), "utf8")
        util.to_disk(Path(path), writers, exclude)
        write_seal(Path(path), [name for name in SEALED["lex_matcher"] if name in writers and name not in exclude])

    def from_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> "LexMatcher":
        """RETURNS (LexMatcher): This component with what `to_disk` saved. The lexicon stays on disk, memory-mapped;
        dictionary files are read again only by `reload`. Raises SealError or LexiconError, naming the file, if one is
        damaged."""
        parts: Dict[str, Any] = {}
        with loading(self.name, str(path)), SealedFolder(path) as files:
            readers: Dict[str, Callable[[Path], Any]] = {
                "cfg": lambda p: self._load_cfg(srsly.json_loads(files.read("cfg")))
            }
            if files.has("lexicon"):
                readers["lexicon"] = lambda p: parts.update(own=Lexicon.open(p))
            if files.has("rules"):
                readers["rules"] = lambda p: parts.update(from_files=collect_rules(read_rules(files.check("rules"))))
            util.from_disk(path, readers, exclude)
            self._replace(**parts)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """RETURNS (bytes): What `to_disk` saves. `exclude` may contain "cfg", "lexicon", "rules"."""
        writers: Dict[str, Callable[[], bytes]] = {"cfg": lambda: srsly.json_dumps(self._cfg()).encode("utf8")}
        if (dictionary := self._dictionary) is not None:
            writers["lexicon"] = dictionary.own.to_bytes
            writers["rules"] = lambda: srsly.json_dumps(dictionary.from_files).encode("utf8")
        return seal_bytes(util.to_bytes(writers, exclude))

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "LexMatcher":
        """RETURNS (LexMatcher): This component with what `to_bytes` saved. Raises SealError for other bytes."""
        parts: Dict[str, Any] = {}
        readers: Dict[str, Callable[[bytes], Any]] = {
            "cfg": lambda b: self._load_cfg(srsly.json_loads(b)),
            "lexicon": lambda b: parts.update(own=Lexicon.from_bytes(b)),
            "rules": lambda b: parts.update(from_files=_parse_rules(srsly.json_loads(b))),
        }
        data = unseal_bytes(bytes_data, self.name)
        with loading(self.name, "bytes"):
            util.from_bytes(data, readers, exclude)
            self._replace(**parts)
        return self

    def _replace(self, **parts: Any) -> None:
        """Use another lexicon (`own`), other rules (`from_files`), or both; the rest stays."""
        if self._dictionary is not None:
            parts = {"own": self._dictionary.own, "from_files": self._dictionary.from_files, **parts}
        if "own" in parts:
            self._put(RuledLexicon(parts["own"], parts.get("from_files", {})))

    def _cfg(self) -> Dict[str, Any]:
        files = [list(file) for file in self.rule_files]
        return {"options": self.options._asdict(), "rule_files": files, "spans_key": self.spans_key}

    def _load_cfg(self, cfg: Dict[str, Any]) -> None:
        check_settings(self.name, cfg, SETTINGS)
        options = MatchOptions(**cfg["options"])
        check_options(options)
        self.options, self.spans_key = options, cfg["spans_key"]
        self.rule_files = tuple(RuleFile(*file) for file in cfg.get("rule_files", ()))

    def __deepcopy__(self, memo: Dict[int, Any]) -> "LexMatcher":
        """Copy the pipe with a new source; models copied in the same call are linked to it."""
        copied = LexMatcher(self.name, options=self.options, spans_key=self.spans_key)
        copied.source = SharedMatcher(self.source.matcher)
        copied._dictionary, copied.rule_files = self._dictionary, self.rule_files
        memo[id(self)] = copied
        memo[id(self.source)] = copied.source
        copied.listener_map = copy.deepcopy(self.listener_map, memo)
        return copied


def _parse_rules(saved: Dict[str, List[Any]]) -> Dict[str, Any]:
    return {word: normal_rules(Rule(*row) for row in rules) for word, rules in saved.items()}


# Custom attributes


def get_lex_version(doc: Doc) -> Optional[str]:
    """The `version` of the `lex_matcher` (lexicon, rules, options) that matched a Doc last; None if none has."""
    stored = get_candidates(doc)
    return None if stored is None else f"{stored[0]:016x}"


def get_lex_words(token: Token) -> Optional[List[LexMatch]]:
    """The candidate words that cover a token; None if no matcher has run on its Doc."""
    return matches_near(token.doc, token.idx, token.idx + len(token))
