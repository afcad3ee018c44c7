"""docs/universe.json is an entry for spaCy's Universe; its website/UNIVERSE.md documents the fields."""

from pathlib import Path

import srsly
from jsonschema import Draft202012Validator
from pages import read_blocks

from spacy_lexner.about import __title__, __uri__

ROOT = Path(__file__).parents[2]
ENTRY = srsly.read_json(ROOT / "docs" / "universe.json")
LINE = {"type": "string", "minLength": 1}
NAME = {"type": "string", "pattern": r"^[\w-]+$"}
PAGE = {"type": "string", "pattern": "^https://"}
CATEGORIES = [
    "pipeline",
    "training",
    "conversational",
    "research",
    "scientific",
    "visualizers",
    "apis",
    "nonpython",
    "standalone",
    "models",
]
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "title", "slogan", "description", "code_example", "author", "category", "tags"],
    "properties": {
        "id": NAME,
        "title": LINE,
        "slogan": {**LINE, "maxLength": 100},
        "description": LINE,
        "github": {"type": "string", "pattern": r"^[\w-]+/[\w.-]+$"},
        "pip": NAME,
        "code_example": {"type": "array", "items": {"type": "string", "pattern": "^[^\n]*$"}, "minItems": 1},
        "code_language": NAME,
        "url": PAGE,
        "thumb": PAGE,
        "image": PAGE,
        "author": LINE,
        "author_links": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"twitter": NAME, "github": NAME, "website": PAGE},
        },
        "category": {"type": "array", "items": {"enum": CATEGORIES}, "minItems": 1, "uniqueItems": True},
        "tags": {"type": "array", "items": LINE, "uniqueItems": True},
    },
}


def test_fields():
    Draft202012Validator.check_schema(SCHEMA)
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(ENTRY)] == []


def test_a_wrong_entry_is_found():
    wrong = {**ENTRY, "category": ["plugins"], "github": "https://github.com/owner/name", "stars": 5}
    assert len(list(Draft202012Validator(SCHEMA).iter_errors(wrong))) == 3


def test_the_example_is_that_of_the_readme():
    code = next(block.body for block in read_blocks(ROOT / "README.md") if block.language == "python")
    assert ENTRY["code_example"] == code.splitlines()


def test_what_it_names_is_ours():
    assert ENTRY["id"] == ENTRY["pip"] == __title__
    has_repository = "//example.org/" not in __uri__
    assert ("github" in ENTRY) == has_repository
    assert not has_repository or __uri__ == f"https://github.com/{ENTRY['github']}"
