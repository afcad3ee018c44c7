"""Replacing a pipeline's dictionary file."""

from pathlib import Path
from typing import Set

from spacy.language import Language

from ...lexicon.rule_file import RuleFile
from ...rules.changes import find_ner, last_matcher


def use_rules(nlp: Language, path: Path) -> Set[str]:
    """Replace the rules that a pipeline has from files by those of another file, and return the words of the old rules.
    Raises ValueError if the pipeline has no component for rules or a rule fits none, FileNotFoundError if the file is
    missing."""
    find_ner(nlp)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file of rules.")
    matcher = last_matcher(nlp)
    replaced = matcher.words_from_files
    matcher.set_rule_files([RuleFile(str(path))])
    return replaced
