import pickle
from textwrap import dedent

import numpy as np
import pytest
import spacy
from confection import ConfigValidationError
from pygtrie import CharTrie
from spacy.kb import InMemoryLookupKB
from spacy.util import registry
from thinc.api import Config

from spacy_lexner.lexicon import Lexicon, LexiconEntry, LexiconError, Normalization

VECTORS = "3 2\n南京 1 2\n长江 3 4\nＡｂ 5 6\n"


@pytest.fixture
def nlp():
    return spacy.blank("zh")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.vec").write_text(VECTORS, "utf8")
    (tmp_path / "dict.txt").write_text("长江 9 ns\n大桥 3 n\n坏 1.2.3 n\n", "utf8")
    (tmp_path / "words.txt").write_text("# list\n南京\n武汉\n", "utf8")
    (tmp_path / "table.tsv").write_text("name\tid\n南京\tQ1\n", "utf8")
    Lexicon.from_entries([LexiconEntry("甲", np.ones(2))]).save(tmp_path / "saved")
    return tmp_path


def resolve(text):
    """A reader from a config, which is written and read again, after pickling."""
    config = Config().from_str(Config().from_str(dedent(text)).to_str())
    return pickle.loads(pickle.dumps(registry.resolve(config)["lexicon"]))


def reader(name, **settings):
    lines = [f"{key} = {Config().from_str(f'[a]{chr(10)}b = {value}')['a']['b']!r}" for key, value in settings.items()]
    return resolve(f'[lexicon]\n@readers = "spacy-lexner.{name}.v1"\n' + "\n".join(lines).replace("'", '"'))


def test_word_vectors(nlp, files):
    lexicon = reader("WordVectors", path=f'"{files}/a.vec"')(nlp)
    assert list(lexicon) == ["南京", "长江", "Ａｂ"] and lexicon.get("长江").vector.tolist() == [3, 4]
    assert lexicon.get("长江").vector.dtype == "f4"


def test_options_of_building(nlp, files):
    settings = {"dtype": '"float16"', "normalise_case": "true", "normalise_width": "true", "limit": "3"}
    lexicon = reader("WordVectors", path=f'"{files}/a.vec"', **settings)(nlp)
    assert list(lexicon) == ["南京", "长江", "ab"] and lexicon.get("AB").vector.dtype == "f2"
    assert list(reader("WordVectors", path=f'"{files}/a.vec"', max_word_length="1")(nlp)) == []
    with pytest.raises(LexiconError, match=r"a\.vec:2: word longer than max_word_length: '南京'"):
        reader("WordVectors", path=f'"{files}/a.vec"', max_word_length="1", strict="true")(nlp)
    lexicon = reader("WordVectors", path=f'"{files}/a.vec"', script='"simplified"')(nlp)
    assert list(lexicon) == ["南京", "长江", "Ａｂ"] and lexicon.get("長江").vector.tolist() == [3, 4]


def test_jieba_dictionary(nlp, files):
    lexicon = reader("JiebaDictionary", path=f'"{files}/dict.txt"')(nlp)
    assert [entry[:5] for entry in lexicon.entries()] == [("长江", None, 9, ("ns",), ""), ("大桥", None, 3, ("n",), "")]
    assert lexicon.report.skipped == {"bad_weight": 1}


def test_word_list(nlp, files):
    assert list(reader("WordList", path=f'"{files}/words.txt"', comment='"#"')(nlp)) == ["南京", "武汉"]


def test_table(nlp, files):
    lexicon = reader("LexiconTable", path=f'"{files}/table.tsv"', word='"name"', entity_id='"id"')(nlp)
    assert lexicon.get("南京").entity_id == "Q1"


def test_folder(nlp, files):
    lexicon = reader("LexiconFolder", path=f'"{files}/saved"', verify="true")(nlp)
    assert list(lexicon) == ["甲"]


def test_vocabulary(nlp):
    nlp.vocab.set_vector("南京", np.ones(3, "f4"))
    assert reader("VocabVectors", dtype='"float16"')(nlp).get("南京").vector.dtype == "f2"


def test_knowledge_base_of_a_path_or_a_component(nlp, tmp_path):
    kb = InMemoryLookupKB(nlp.vocab, entity_vector_length=2)
    kb.add_entity("Q1", 1.0, [3, 4])
    kb.add_alias("南京", ["Q1"], [0.75])
    kb.to_disk(tmp_path / "kb")
    lexicon = reader("KnowledgeBase", path=f'"{tmp_path}/kb"')(spacy.blank("zh"))
    assert lexicon.get("南京")[2:5] == (0.75, (), "Q1") and lexicon.get("南京").vector.tolist() == [3, 4]
    nlp.add_pipe("entity_linker", name="linker").set_kb(lambda vocab: kb)
    assert reader("KnowledgeBase", component='"linker"')(nlp).version == lexicon.version


@pytest.mark.parametrize(
    "settings,message",
    [
        ({"path": '"/nowhere/kb"'}, "/nowhere/kb: no such knowledge base"),
        ({}, "no component 'entity_linker' with a knowledge base; it has sentencizer"),
        ({"component": '"sentencizer"'}, "NoneType cannot list its aliases"),
    ],
)
def test_no_knowledge_base(nlp, settings, message):
    nlp.add_pipe("sentencizer")
    with pytest.raises(LexiconError, match=message):
        reader("KnowledgeBase", **settings)(nlp)


@registry.misc("test-lexner.dictionary.v1")
def make_dictionary() -> CharTrie:
    trie = CharTrie.fromkeys(["南京市", "长江"])
    trie["长江大桥"] = "LOC"
    return trie


def test_pygtrie(nlp):
    create = resolve("""
        [lexicon]
        @readers = "spacy-lexner.PygtrieLexicon.v1"
        normalise_case = true

        [lexicon.trie]
        @misc = "test-lexner.dictionary.v1"
    """)
    lexicon = create(nlp)
    assert sorted(lexicon) == ["南京市", "长江", "长江大桥"] and lexicon.get("长江大桥").label == "LOC"
    assert lexicon.normalization == Normalization(case=True)
    again = registry.readers.get("spacy-lexner.PygtrieLexicon.v1")(make_dictionary, normalise_case=True)(nlp)
    assert again.version == lexicon.version


def test_defaults_are_filled_in():
    config = Config().from_str('[lexicon]\n@readers = "spacy-lexner.WordList.v1"\npath = "a.txt"')
    assert registry.fill(config)["lexicon"] == {
        "@readers": "spacy-lexner.WordList.v1",
        "path": "a.txt",
        "limit": None,
        "comment": None,
        "encoding": "utf8",
        "errors": "strict",
        "normalise_case": False,
        "normalise_width": False,
        "script": None,
        "max_word_length": 64,
        "strict": False,
    }


def test_unknown_settings_are_refused():
    config = Config().from_str('[lexicon]\n@readers = "spacy-lexner.WordList.v1"\npath = "a.txt"\ndtype = "float16"')
    with pytest.raises(ConfigValidationError, match="dtype"):
        registry.resolve(config)


def test_merged(nlp, files):
    merged = resolve(f"""
        [lexicon]
        @readers = "spacy-lexner.MergedLexicon.v1"
        dtype = "float16"

        [lexicon.readers]

        [lexicon.readers.words]
        @readers = "spacy-lexner.JiebaDictionary.v1"
        path = "{files}/dict.txt"

        [lexicon.readers.again]
        @readers = "spacy-lexner.LexiconFolder.v1"
        path = "{files}/saved"

        [lexicon.readers.also]
        @readers = "spacy-lexner.WordVectors.v1"
        path = "{files}/a.vec"
    """)
    lexicon = merged(nlp)
    assert list(lexicon) == ["长江", "大桥", "甲", "南京", "Ａｂ"]  # in the order of the config, not of the names
    entry = lexicon.get("长江")
    assert entry.vector.tolist() == [3, 4] and entry.vector.dtype == "f2" and entry[2:5] == (9, ("ns",), "")
    assert lexicon.report.skipped == {"bad_weight": 1, "duplicate": 1}
    assert lexicon.report.places["duplicate"] == [f"{files}/a.vec:3"]


def test_merged_takes_any_callable_and_refuses_the_rest(nlp, files):
    create = registry.readers.get("spacy-lexner.MergedLexicon.v1")
    plain = Lexicon.from_entries([LexiconEntry("甲"), LexiconEntry("乙")])
    vectors = registry.readers.get("spacy-lexner.LexiconFolder.v1")(files / "saved")
    lexicon = create({"plain": lambda nlp: plain, "vectors": vectors})(nlp)
    assert list(lexicon) == ["甲", "乙"] and lexicon.get("甲").vector.tolist() == [1, 1]
    nested = create({"merged": create({"plain": lambda nlp: plain}), "vectors": vectors})
    assert nested(nlp).version == lexicon.version
    with pytest.raises(LexiconError, match="'plain' is not a lexicon reader"):
        create({"plain": "words.txt"})(nlp)


@pytest.mark.parametrize("name", ["WordVectors", "JiebaDictionary", "WordList", "LexiconTable", "LexiconFolder"])
def test_nothing_is_read_before_the_call(nlp, tmp_path, name):
    missing = reader(name, path=f'"{tmp_path}/missing"')
    with pytest.raises(LexiconError, match="missing"):
        missing(nlp)


def test_a_pipeline_is_initialised_with_a_reader(files):
    text = f"""
        [nlp]
        lang = "zh"
        pipeline = ["lex_matcher"]

        [components]

        [components.lex_matcher]
        factory = "lex_matcher"

        [initialize]

        [initialize.components]

        [initialize.components.lex_matcher]

        [initialize.components.lex_matcher.lexicon]
        @readers = "spacy-lexner.WordVectors.v1"
        path = "{files}/a.vec"
    """
    nlp = spacy.util.load_model_from_config(Config().from_str(dedent(text)), auto_fill=True)
    nlp.initialize()
    assert [match.word for match in nlp("在南京的长江")._.lex_matches] == ["南京", "长江"]


def test_a_folder_that_is_not_named():
    with pytest.raises(LexiconError, match=r"--paths\.lexicon my_lexicon"):
        registry.readers.get("spacy-lexner.LexiconFolder.v1")(None)
