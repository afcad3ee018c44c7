import pytest
import spacy
from spacy.tokens import Doc, Span
from thinc.api import Config

from spacy_lexner.lexicon import Lexicon, LexiconEntry
from spacy_lexner.training.digests import DocDigest, digest_files, digest_path

VOCAB = spacy.blank("zh").vocab


def make(words=("南京市", "长江"), spans=(), cats=None, **attributes):
    doc = Doc(VOCAB, words=list(words), spaces=[False] * len(words), **attributes)
    doc.spans["sc"] = [Span(doc, start, end, label) for start, end, label in spans]
    doc.cats = cats or {}
    return doc


def digest(*docs):
    return DocDigest().update(docs).hexdigest()


OTHERS = [
    {"words": ("南京", "市长江")},
    {"tags": ["NR", "NR"]},
    {"pos": ["PROPN", "PROPN"]},
    {"lemmas": ["南京", "长江"]},
    {"morphs": ["Number=Sing", ""]},
    {"heads": [1, 1], "deps": ["compound", "ROOT"]},
    {"sent_starts": [True, True]},
    {"ents": ["B-GPE", "O"]},
    {"spans": [(0, 1, "GPE")]},
    {"spans": [(0, 1, "LOC")]},
    {"cats": {"geography": 1.0}},
]


def test_any_other_annotation_gives_another_digest():
    digests = [digest(make(**other)) for other in [{}, *OTHERS]]
    assert len({*digests}) == len(digests)
    assert digests == [digest(make(**other)) for other in [{}, *OTHERS]]


def test_what_is_not_annotation_does_not_count():
    doc = make()
    doc.user_data["x"], doc.tensor = 1, VOCAB.vectors.data
    assert digest(doc) == digest(make())


def test_order_and_borders_of_texts_count():
    a, b, both = make(["南京市"]), make(["长江"]), make()
    assert len({digest(a, b), digest(b, a), digest(both)}) == 3
    assert DocDigest().update([a]).update([b]).hexdigest() == digest(a, b)


def save_lexicon(folder, *words):
    Lexicon.from_entries(map(LexiconEntry, words)).save(folder, overwrite=True)


@pytest.fixture
def files(tmp_path):
    """A lexicon, files and a folder, and the config that names them."""
    save_lexicon(tmp_path / "lexicon", "南京市", "长江")
    (tmp_path / "bert").mkdir()
    for name in ("rules.tsv", "bert/vocab.txt", "chars.vec", "train.spacy", "unused"):
        (tmp_path / name).write_text(name)
    paths = {name: str(tmp_path / name) for name in ("bert", "chars.vec", "train.spacy", "unused", "missing")}
    matcher = {"lexicon": {"@readers": "x", "path": str(tmp_path / "lexicon")}, "rules": [str(tmp_path / "rules.tsv")]}
    sections = {
        "paths": {**paths, "root": str(tmp_path)},
        "components": {"model": {"checkpoint": paths["bert"], "vectors": paths["chars.vec"], "more": paths["missing"]}},
        "corpora": {"train": {"path": paths["train.spacy"]}},
        "initialize": {"init_tok2vec": None, "components": {"lex_matcher": matcher}},
    }
    return tmp_path, Config(sections)


def test_files_that_a_config_names(files):
    folder, config = files
    before = digest_files(config)
    assert [*before] == [str(folder / name) for name in ("bert", "chars.vec", "lexicon", "rules.tsv")]
    (folder / "bert" / ".cache").write_text("hidden")
    save_lexicon(folder / "lexicon", "长江", "南京市")
    assert digest_files(config) == before
    save_lexicon(folder / "lexicon", "长江")
    for name in ("rules.tsv", "bert/vocab.txt", "chars.vec"):
        (folder / name).write_text("another")
    assert all(digest_files(config)[name] != before[name] for name in before)


def test_names_and_borders_of_files_count(tmp_path):
    folders = [("a", "xy", "b", "z"), ("a", "x", "b", "yz"), ("a", "xy", "c", "z"), ("a", "xyz", "b", "")]
    digests = []
    for number, (*first, name, text) in enumerate(folders):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / first[0]).write_text(first[1])
        (folder / name).write_text(text)
        digests.append(digest_path(folder))
    assert len({*digests}) == len(folders)


def test_a_damaged_lexicon_is_another_one(files):
    folder, config = files
    before = digest_files(config)
    (folder / "lexicon" / "manifest.json").write_text("{}")
    assert digest_files(config)[str(folder / "lexicon")] != before[str(folder / "lexicon")]
