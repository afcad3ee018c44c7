"""Everything that setup.py registers resolves, under its name, from a plain spaCy."""

import subprocess
import sys
from importlib import metadata

import pytest
import spacy
from spacy.util import registry

ENTRY_POINTS = [
    point for point in metadata.distribution("spacy-lexner").entry_points if not point.group.startswith("console")
]


@pytest.mark.parametrize("point", ENTRY_POINTS, ids=lambda point: f"{point.group}:{point.name}")
def test_target_exists(point):
    assert point.load() is not None


@pytest.mark.parametrize(
    "point",
    [point for point in ENTRY_POINTS if point.group not in ("spacy_factories", "spacy_cli", "spacy_displacy_colors")],
    ids=lambda point: point.name,
)
def test_registry_resolves(point):
    _, _, name = point.group.partition("_")
    assert registry.has(name, point.name)


def test_there_are_entry_points():
    groups = {point.group for point in ENTRY_POINTS}
    assert {"spacy_factories", "spacy_architectures", "spacy_readers", "spacy_cli"} <= groups


def test_factories_need_no_import():
    nlp = spacy.blank("zh")
    for point in ENTRY_POINTS:
        if point.group == "spacy_factories":
            assert nlp.has_factory(point.name)


def test_factories_import_neither_torch_nor_transformers():
    modules = sorted({point.module for point in ENTRY_POINTS if point.group in ("spacy_factories", "spacy_cli")})
    # spaCy and thinc may load torch themselves, so our modules are imported with torch blocked.
    code = (
        "import sys; sys.modules['torch'] = None; sys.modules['transformers'] = None\n"
        f"import importlib; [importlib.import_module(name) for name in {modules}]"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_factories_load_no_other_package_and_no_reader():
    """`spacy.blank` loads every installed factory, so what only some calls need is imported on demand."""
    modules = sorted({point.module for point in ENTRY_POINTS if point.group == "spacy_factories"})
    code = (
        "import importlib, spacy, sys; before = set(sys.modules)\n"
        f"[importlib.import_module(name) for name in {modules}]\n"
        "print(*(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert set(modules) <= loaded
    packages = {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert packages <= {"spacy_lexner", "numpy"}, "such as safetensors, regex, jinja2, typer, tqdm, pygtrie"
    rooms = {".".join(name.split(".")[1:3]) for name in loaded if name.startswith("spacy_lexner.")}
    unneeded = {"lexicon.readers", "lexicon.storage", "lexicon.packing", "pipeline.explain", "pipeline.char_tokenizer"}
    assert not rooms & unneeded
    assert {room.split(".")[0] for room in rooms} == {
        "about",
        "candidates",
        "integrity",
        "lexicon",
        "pipeline",
        "tagging",
    }
    assert {room for room in rooms if room.startswith("tagging.")} == {"tagging.spans"}
