"""Schemas of the answers, for the API's page and for clients. Answers are not validated against them at run time."""

from typing import Any, Dict, List, Optional

from pydantic import BaseModel


class SpanAnswer(BaseModel):
    start: int
    end: int
    text: str
    label: str


class ScoredAnswer(SpanAnswer):
    score: Optional[float]


class RestsOnAnswer(BaseModel):
    start: int
    end: int
    word: str
    attention: Optional[float]
    change: Optional[float]
    labels: List[str]


class EntityAnswer(ScoredAnswer):
    tokens: Optional[List[int]] = None  # the first, and one past the last
    rests_on: Optional[List[RestsOnAnswer]] = None


class CandidateAnswer(BaseModel):
    start: int
    end: int
    word: str
    labels: List[str]
    rules: List[str]


class AlternativeAnswer(BaseModel):
    probability: float
    entities: List[SpanAnswer]


class ConflictAnswer(BaseModel):
    word: str
    start: int
    end: int
    rule: str
    reason: str
    winner: str


class ProblemAnswer(BaseModel):
    type: str
    title: str
    status: int
    detail: str


class TextAnswer(BaseModel):
    entities: Optional[List[EntityAnswer]] = None
    conflicts: Optional[List[ConflictAnswer]] = None
    words: Optional[List[CandidateAnswer]] = None
    alternatives: Optional[List[AlternativeAnswer]] = None
    uncertain: Optional[List[ScoredAnswer]] = None
    tokens: Optional[List[Dict[str, int]]] = None
    error: Optional[ProblemAnswer] = None


class AnnotateAnswer(BaseModel):
    lex_version: Optional[str]
    results: List[TextAnswer]


class EffectAnswer(BaseModel):
    changed: bool
    before: List[EntityAnswer]
    after: List[EntityAnswer]


class PreviewAnswer(BaseModel):
    lex_version: str
    changed: int
    of: int
    results: List[EffectAnswer]


class RuleAnswer(BaseModel):
    word: Optional[str] = None
    mode: str
    label: str
    weight: float


class WordAnswer(BaseModel):
    word: str
    labels: List[str]
    weight: float
    entity_id: str
    has_vector: bool
    rules: List[RuleAnswer]
    changed: bool
    removed: bool


class WordsAnswer(BaseModel):
    lex_version: str
    total: int
    offset: int
    words: List[WordAnswer]
    next: Optional[int]


class RulesAnswer(BaseModel):
    lex_version: str
    offset: int
    rules: List[RuleAnswer]
    next: Optional[int]


class Change(BaseModel):
    number: int
    kind: str
    time: str
    words: List[str]
    n_words: int
    undone: bool
    undoes: Optional[int]
    version_before: str
    version_after: str


class ChangeAnswer(BaseModel):
    change: Optional[Change]
    lex_version: str
    skipped: Optional[Dict[str, int]] = None


class ChangesAnswer(BaseModel):
    lex_version: str
    changes: List[Change]


class DiffAnswer(BaseModel):
    n_added: int
    n_removed: int
    n_changed: int
    n_changed_by_field: Dict[str, int]
    added: List[str]
    removed: List[str]
    changed: Dict[str, str]


class VersionAnswer(BaseModel):
    name: str
    version: str
    model: Dict[str, Any]
    labels: List[str]
    rule_labels: List[str]
    colors: Dict[str, str]  # of labels, as in the lattice
    lex_version: Optional[str]
    words: Optional[int]
    can: Dict[str, bool]
    limits: Dict[str, float]
    state: Dict[str, int]
