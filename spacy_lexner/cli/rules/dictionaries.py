"""Pipelines with the rules of another dictionary file."""

from pathlib import Path
from typing import Set

from spacy.language import Language

from ...lexicon.rule_file import RuleFile
from ...rules.changes import find_matcher, find_ner


def use_rules(nlp: Language, path: Path) -> Set[str]:
    """Put the rules of a file in the place of those that a pipeline has from files, and return the words that had
    those. Raises ValueError if it has no component for them, or a rule fits none."""
    find_ner(nlp)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file of rules.")
    matcher = find_matcher(nlp)
    replaced = matcher.words_from_files
    matcher.set_rule_files([RuleFile(str(path))])
    return replaced
