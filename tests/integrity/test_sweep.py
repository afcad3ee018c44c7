"""Single corruptions of a saved pipeline: none may silently change results, crash, hang or give an unclear error."""

import random
import shutil
import warnings

import pytest
import spacy
from small_encoders import GOLD, make_pipeline

from spacy_lexner.integrity.pipelines import save, verify_pipeline
from spacy_lexner.integrity.seal import SealError
from spacy_lexner.lexicon import LexiconError

OURS = ("lex_matcher", "lex_ner")
SAMPLE = 60  # corruptions of each kind in a normal run


@pytest.fixture(scope="module", params=["FLAT", "LEBERT"])
def folder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep") / "model"
    save(make_pipeline(request.param), folder)
    return folder


def answers(nlp):
    docs = [nlp(text) for text, _ in GOLD]
    return [[(ent.start, ent.end, ent.label_, ent._.lex_score) for ent in doc.ents] for doc in docs]


def corruptions(data, rng):
    """A place in a file, and the corruption there: a flipped bit, a byte less, a byte more, or zeros to the end."""
    place = rng.randrange(len(data))
    flipped = bytearray(data)
    flipped[place] ^= 1 << rng.randrange(8)
    yield bytes(flipped)
    yield data[:place]
    yield data[:place] + bytes([rng.randrange(256)]) + data[place:]
    yield data[:place] + bytes(len(data) - place)


def outcome(folder, name, before, load):
    """The result of corrupting a file: None if nothing changed, "named" if our error names it, else the failure."""
    if name.split("/")[0] not in OURS:
        named = any(str(folder / name) in problem for problem in verify_pipeline(folder))
        return "named" if named else "verify does not name the file"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            after = answers(load(folder, name))
    except (SealError, LexiconError) as error:
        named = (folder / name).name in str(error) or "lexicon" in str(error)
        return "named" if named else f"the error does not name the file: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None if after == before else "other results"


def load_pipeline(folder, name):
    return spacy.load(folder)


def sweep(folder, changes, load=load_pipeline):
    before = answers(spacy.load(folder))
    failures, outcomes = [], []
    for path, data in changes:
        name = path.relative_to(folder).as_posix()
        original = path.read_bytes()
        if data == original:
            continue
        path.write_bytes(data)
        try:
            outcomes.append(outcome(folder, name, before, load))
        finally:
            path.write_bytes(original)
        if outcomes[-1] not in (None, "named"):
            failures.append((name, outcomes[-1]))
    assert not failures, failures[:10]
    return outcomes


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)


def test_a_sample_of_corruptions(folder):
    rng = random.Random(0)
    paths = files(folder)
    changes = []
    for _ in range(SAMPLE // 4):
        path = rng.choice(paths)
        changes += [(path, data) for data in corruptions(path.read_bytes(), rng)]
    outcomes = sweep(folder, changes)
    assert outcomes.count("named") > len(outcomes) * 0.9


def test_every_missing_file_is_named(folder, tmp_path):
    before = answers(spacy.load(folder))
    for path in files(folder):
        name = path.relative_to(folder).as_posix()
        path.rename(tmp_path / "file")
        try:
            if name.endswith("seal.json"):
                assert any("seal.json" in problem for problem in verify_pipeline(folder)), name
            else:
                assert outcome(folder, name, before, load_pipeline) == "named", name
        finally:
            shutil.move(tmp_path / "file", path)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_every_byte(folder):
    """A bit flipped in each byte of each file. Only the component with the file is reloaded."""
    nlp = spacy.load(folder)

    def changes():
        for path in files(folder):
            original = path.read_bytes()
            for place in range(len(original)):
                flipped = bytearray(original)
                flipped[place] ^= 1 << place % 8
                yield path, bytes(flipped)

    def load_component(folder, name):
        component = name.split("/")[0]
        nlp.get_pipe(component).from_disk(folder / component, exclude=["vocab"])
        return nlp

    sweep(folder, changes(), load_component)
