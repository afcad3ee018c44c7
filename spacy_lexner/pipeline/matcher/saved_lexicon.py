"""How the owner of a lexicon is saved: its options, the lexicon, and the rules that came from files."""

from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, TypeVar, Union

import srsly
from spacy import util

from ...lexicon.lexicon import Lexicon
from ...lexicon.matcher import MatchOptions
from ...lexicon.readers.rule_file import RuleFile, collect_rules, read_rules, write_rules
from ...lexicon.ruled_lexicon import RuledLexicon
from ...lexicon.rules import Rule, Rules, normal_rules
from .lexicon_owner import LexiconOwner

OwnerT = TypeVar("OwnerT", bound="SavedLexicon")


class SavedLexicon(LexiconOwner):
    """The owner of a lexicon that can be saved. A subclass sets `spans_key` besides."""

    spans_key: Optional[str]

    def to_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> None:
        """Save the options, the lexicon, and the rules that came from files.

        path (Union[str, Path]): A folder.
        exclude (Iterable[str]): "cfg", "lexicon", "rules".
        """
        writers: Dict[str, Callable[[Path], Any]] = {"cfg": lambda p: srsly.write_json(p, self._cfg())}
        dictionary = self._dictionary
        if dictionary is not None:
            writers["lexicon"] = dictionary.own.save
            writers["rules"] = lambda p: p.write_text(write_rules(dictionary.from_files), "utf8")
        util.to_disk(Path(path), writers, exclude)

    def from_disk(self: OwnerT, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> OwnerT:
        """Load the options, the lexicon, which stays on disk, memory-mapped, and the rules that came from files. The
        files themselves are not read: `reload` does that.

        path (Union[str, Path]): A folder written by `to_disk`.
        exclude (Iterable[str]): "cfg", "lexicon", "rules".
        RETURNS (LexMatcher): This object.
        """
        path = Path(path)
        parts: Dict[str, Any] = {}
        readers: Dict[str, Callable[[Path], Any]] = {"cfg": lambda p: self._load_cfg(srsly.read_json(p))}
        if (path / "lexicon").exists():
            readers["lexicon"] = lambda p: parts.update(own=Lexicon.open(p))
        if (path / "rules").exists():
            readers["rules"] = lambda p: parts.update(from_files=collect_rules(read_rules(p)))
        util.from_disk(path, readers, exclude)
        self._load_dictionary(**parts)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """RETURNS (bytes): What `to_disk` saves. `exclude` may name "cfg", "lexicon", "rules"."""
        writers: Dict[str, Callable[[], bytes]] = {"cfg": lambda: srsly.json_dumps(self._cfg()).encode("utf8")}
        dictionary = self._dictionary
        if dictionary is not None:
            writers["lexicon"] = dictionary.own.to_bytes
            writers["rules"] = lambda: srsly.json_dumps(dictionary.from_files).encode("utf8")
        return util.to_bytes(writers, exclude)

    def from_bytes(self: OwnerT, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> OwnerT:
        """RETURNS (LexMatcher): This object, with what `to_bytes` saved."""
        parts: Dict[str, Any] = {}
        readers: Dict[str, Callable[[bytes], Any]] = {
            "cfg": lambda b: self._load_cfg(srsly.json_loads(b)),
            "lexicon": lambda b: parts.update(own=Lexicon.from_bytes(b)),
            "rules": lambda b: parts.update(from_files=_rules_of(srsly.json_loads(b))),
        }
        util.from_bytes(bytes_data, readers, exclude)
        self._load_dictionary(**parts)
        return self

    def _load_dictionary(self, own: Optional[Lexicon] = None, from_files: Optional[Mapping[str, Rules]] = None) -> None:
        """Use what was loaded, and what is there for what was not."""
        present = self._dictionary
        if present is not None:
            own = present.own if own is None else own
            from_files = present.from_files if from_files is None else from_files
        if own is not None:
            self._use(RuledLexicon(own, from_files or {}))

    def _cfg(self) -> Dict[str, Any]:
        files = [list(file) for file in self.rule_files]
        return {"options": self.options._asdict(), "rule_files": files, "spans_key": self.spans_key}

    def _load_cfg(self, cfg: Dict[str, Any]) -> None:
        self.options = MatchOptions(**cfg["options"])
        self.rule_files = tuple(RuleFile(*file) for file in cfg.get("rule_files", ()))
        self.spans_key = cfg["spans_key"]


def _rules_of(saved: Mapping[str, List[Any]]) -> Dict[str, Rules]:
    return {word: normal_rules(Rule(*row) for row in rules) for word, rules in saved.items()}
