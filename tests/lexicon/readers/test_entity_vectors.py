import gzip

import numpy as np
import pytest

from spacy_lexner.lexicon.errors import LexiconError
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.readers.entity_vectors import read_entity_vectors, read_ids

VECTORS = {"Q1": [1.0, 0.5], "Q2": [2.0, -1e-5], "Q3": [3.0, 0.0]}
NAMES = "南京\tQ1\n南京市\tQ1\t0.25\n长江\tQ2\n南京\tQ3\n火星\tQ9\n"


@pytest.fixture
def write(tmp_path):
    def make(name, text):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return make


def openke(write):
    ids = write("entity2id.txt", "3\nQ2\t1\nQ1\t0\nQ3\t2\n")
    return write("entity2vec.vec", "".join("\t".join(map(str, v)) + "\t\n" for v in VECTORS.values())), ids


def by_row(write, tmp_path):
    np.save(tmp_path / "vectors.npy", np.array(list(VECTORS.values()), "f8"))
    return tmp_path / "vectors.npy", write("ids.txt", "Q1\nQ2\n\nQ3\n")


def by_id(write, tmp_path):
    return write("vectors.txt.gz", "".join(f"{n} {' '.join(map(str, v))}\n" for n, v in VECTORS.items())), None


@pytest.mark.parametrize("layout", ["openke", "npy", "text"])
def test_every_layout_gives_the_same_names_and_vectors(write, tmp_path, layout):
    vectors, ids = {"openke": lambda: openke(write), "npy": lambda: by_row(write, tmp_path)}.get(
        layout, lambda: by_id(write, tmp_path)
    )()
    entries = list(read_entity_vectors(vectors, names=write("names.tsv", NAMES), ids=ids))
    assert [(e.word, e.entity_id, e.weight) for e in entries] == [
        ("南京", "Q1", 1.0),
        ("南京市", "Q1", 0.25),
        ("长江", "Q2", 1.0),
        ("火星", "Q9", 1.0),
    ]
    for entry in entries[:3]:
        np.testing.assert_array_equal(entry.vector, np.array(VECTORS[entry.entity_id], "f4"))
    assert entries[3].vector is None
    lexicon = Lexicon.from_entries(entries)
    assert lexicon.dim == 2 and lexicon.get("南京市").entity_id == "Q1"


@pytest.mark.parametrize(
    ("name", "text"), [("names.tsv", "南京\tQ1\n\n长江\tQ9\n"), ("names.csv", "南京,Q1\n长江,Q9\n")]
)
def test_names_without_weights(write, tmp_path, name, text):
    vectors, ids = by_row(write, tmp_path)
    entries = list(read_entity_vectors(vectors, names=write(name, text), ids=ids))
    assert [(e.word, e.entity_id, e.weight, e.vector is None) for e in entries] == [
        ("南京", "Q1", 1.0, False),
        ("长江", "Q9", 1.0, True),
    ]


def test_without_names_an_entity_is_named_by_its_id(write, tmp_path):
    vectors, ids = by_row(write, tmp_path)
    assert [(e.word, e.entity_id) for e in read_entity_vectors(vectors, ids=ids)] == [(n, n) for n in VECTORS]


def test_ids_in_either_form(write):
    assert read_ids(write("a.txt", "Q7\nQ5\n")) == ["Q7", "Q5"]
    assert read_ids(write("b.txt", "2\nQ7\t1\nQ5\t0\n")) == ["Q5", "Q7"]
    assert read_ids(write("c.txt", "New York 0\nBern 1\n")) == ["New York", "Bern"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3\nQ7\t1\nQ5\t0\n", "2 ids, but their numbers are not 0 to 1"),
        ("2\nQ7\t1\nQ5\t1\n", "not 0 to 1, each once"),
        ("2\nQ7\tone\nQ5\t0\n", r"ids.txt:2: expected an id, a tab and its number, not 'Q7\\tone'"),
    ],
)
def test_ids_that_are_no_numbering_are_refused(write, text, message):
    with pytest.raises(LexiconError, match=message):
        read_ids(write("ids.txt", text))


def test_files_that_do_not_belong_together_are_refused(write, tmp_path):
    vectors, _ = by_row(write, tmp_path)
    with pytest.raises(LexiconError, match=r"vectors.npy has 3 vectors, but there are 2 ids"):
        list(read_entity_vectors(vectors, ids=write("two.txt", "Q1\nQ2\n")))
    names, ids = write("names.tsv", "南京\tQ1\n长江\n"), write("ids.txt", "Q1\nQ2\nQ3\n")
    with pytest.raises(LexiconError, match=r"names.tsv:2: expected a tab and an entity id after '长江'"):
        list(read_entity_vectors(vectors, ids=ids, names=names))
    with pytest.raises(LexiconError, match=r"blank.tsv: the file holds no names"):
        list(read_entity_vectors(vectors, ids=ids, names=write("blank.tsv", " \n")))
    names = write("other.tsv", "南京\thttp://Q1\n长江\thttp://Q2\n")
    with pytest.raises(LexiconError, match=r"None of the 2 entities .* names of 'http://Q1' and vectors of 'Q3'"):
        list(read_entity_vectors(vectors, ids=ids, names=names))


def test_what_is_no_matrix_is_refused_and_no_object_is_built(write, tmp_path):
    ids = write("ids.txt", "Q1\n")
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "flat.npy", np.zeros(3))
    (tmp_path / "text.npy").write_text("1 2 3")
    for name, message in (
        ("objects", "not a matrix saved by numpy.save"),
        ("flat", r"expected a matrix of floats, not float64 of shape \(3,\)"),
        ("text", "not a matrix saved by numpy.save"),
    ):
        with pytest.raises(LexiconError, match=message):
            list(read_entity_vectors(tmp_path / f"{name}.npy", ids=ids))


def test_encoding_of_ids(tmp_path):
    (tmp_path / "ids.txt").write_text("南京\n长江\n", "gb18030")
    np.save(tmp_path / "vectors.npy", np.eye(2, dtype="f4"))
    found = read_entity_vectors(tmp_path / "vectors.npy", ids=tmp_path / "ids.txt", encoding="gb18030")
    assert [entry.word for entry in found] == ["南京", "长江"]
