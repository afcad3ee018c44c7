"""Training texts see the dictionary built from the other folds."""

import pytest
import spacy
from jackknife import MAX_FOLDS, FoldDictionaries, change, create_fold_dictionaries, key_of
from make_typed import find_names, leave_out, main, make_folds
from spacy.tokens import DocBin
from spacy.training import Example

from spacy_lexner.candidates.storage import get_candidates
from spacy_lexner.lexicon import Lexicon, LexiconEntry

TEXTS = [f"{name}去{place}了{i}" for i in range(6) for name in ("王明", "李小") for place in ("南京", "王明")]
N_FOLDS = 3


@pytest.fixture
def docs():
    nlp, docs = spacy.blank("zh"), []
    for text in TEXTS:
        doc = nlp.make_doc(text)
        doc.set_ents([doc.char_span(0, 2, "PER"), doc.char_span(3, 5, "LOC")])
        docs.append(doc)
    only = nlp.make_doc("独一")
    only.set_ents([only.char_span(0, 2, "PER")])
    return [*docs, only]


@pytest.fixture
def project(tmp_path, monkeypatch, docs):
    monkeypatch.setattr("make_typed.PROJECT", tmp_path)
    Lexicon.from_entries([LexiconEntry("长江", [1.0, 2.0]), LexiconEntry("南京")]).save(tmp_path / "words")
    (tmp_path / "jieba.txt").write_text("北京 3 ns\n王明 3 nr\n跑步 3 v\n", "utf8")
    (tmp_path / "corpus" / "small").mkdir(parents=True)
    DocBin(docs=docs).to_disk(tmp_path / "corpus" / "small" / "train.spacy")
    main("small", str(tmp_path / "words"), str(tmp_path / "jieba.txt"), "nr ns nt", N_FOLDS, 0)
    return tmp_path


def test_equal_texts_have_one_fold():
    for consecutive in (False, True):
        folds = make_folds([*TEXTS, *TEXTS], N_FOLDS, consecutive)
        assert folds == make_folds([*TEXTS, *TEXTS], N_FOLDS, consecutive) and len(folds) == len(TEXTS)
    assert set(make_folds(TEXTS, N_FOLDS, False).values()) == set(range(N_FOLDS))


def test_a_fold_lacks_what_it_alone_has_given(docs):
    folds = make_folds([doc.text for doc in docs], N_FOLDS, False)
    names = find_names(docs, folds)
    assert set(names) == {"王明", "李小", "南京", "独一"} and set(names["王明"]) == {"PER", "LOC"}
    own = folds[key_of("独一")]
    others = Lexicon.from_entries([LexiconEntry("北京", label="ns")])
    assert [leave_out(names, fold, others) for fold in range(N_FOLDS)] == [
        {"独一": None} if fold == own else {} for fold in range(N_FOLDS)
    ]
    known = Lexicon.from_entries([LexiconEntry("独一", label="nr")])
    assert leave_out(names, own, known) == {"独一": ["nr"]}


def test_the_dictionaries(project):
    typed, plain = (Lexicon.open(project / "lexicon" / f"{kind}-small") for kind in ("typed", "plain"))
    assert sorted(typed) == sorted(plain) == sorted(["长江", "南京", "北京", "王明", "李小", "独一"])
    assert not plain.has_labels and plain.get("长江").vector.tolist() == typed.get("长江").vector.tolist() == [1, 2]
    assert set(typed.get("王明").labels) == {"nr", "PER", "LOC"} and typed.get("北京").labels == ("ns",)


@pytest.mark.parametrize("kind", ["typed", "plain"])
def test_each_text_sees_the_dictionary_of_the_others(project, docs, kind):
    nlp = spacy.blank("zh")
    matcher = nlp.add_pipe("lex_matcher")
    augment = create_fold_dictionaries(project / "lexicon" / "folds-small.json")
    alone = Example(nlp.make_doc("独一"), docs[-1])
    assert list(augment(nlp, alone)) == [alone] and get_candidates(alone.predicted) is None, "no dictionary yet"
    matcher.set_lexicon(Lexicon.open(project / "lexicon" / f"{kind}-small"))
    whole = matcher.version
    examples = [example for doc in docs for example in augment(nlp, Example(nlp.make_doc(doc.text), doc))]
    assert matcher.version == whole and len(examples) == len(docs)
    for example in examples[:-1]:
        words = [match.word for match in example.predicted._.lex_matches]
        assert words == [example.text[:2], example.text[3:5]]
        assert bool(example.predicted._.lex_matches[0].labels) == (kind == "typed")
    assert list(examples[-1].predicted._.lex_matches) == []
    assert [match.word for match in nlp("独一")._.lex_matches] == ["独一"]
    versions = {get_candidates(example.predicted)[0] for example in examples}
    assert all(matcher.source.get(version) is not None for version in versions)


def test_labels_from_the_own_fold_alone_go():
    lexicon = Lexicon.from_entries(
        [LexiconEntry("王明", [1.0], labels=("nr", "PER")), LexiconEntry("南京", label="LOC")]
    )
    changed = change(lexicon, {"王明": ["nr"], "南京": [], "无": ["X"]})
    assert changed.get("王明").labels == ("nr",) and changed.get("王明").vector.tolist() == [1.0]
    assert changed.get("南京").labels == () and "无" not in changed
    assert list(change(lexicon, {"王明": None})) == ["南京"]


@pytest.mark.parametrize("n_folds", [0, 1, MAX_FOLDS + 1])
def test_number_of_folds(n_folds):
    with pytest.raises(ValueError, match=f"There are {n_folds} folds; expected 2 to 7"):
        FoldDictionaries([{}] * n_folds, {})


def test_a_text_without_a_fold(project):
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher").add_words(["南京"])
    augment = create_fold_dictionaries(project / "lexicon" / "folds-small.json")
    doc = nlp.make_doc("没见过")
    with pytest.raises(ValueError, match=r"'没见过' has no fold.*make_typed\.py"):
        list(augment(nlp, Example(doc, doc)))
