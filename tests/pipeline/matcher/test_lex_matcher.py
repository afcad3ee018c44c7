import copy
import pickle

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_lexner.candidates.storage import get_candidates, set_candidates
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon

WORDS = ["南京", "南京市", "市长", "长江", "长江大桥", "大桥", "江大桥", "京"]
TEXT = "南京市长江大桥"
FOUND = ["南京", "南京市", "市长", "长江", "长江大桥", "江大桥", "大桥"]


def make_nlp(words=WORDS, lang="zh", **config):
    nlp = spacy.blank(lang)
    nlp.add_pipe("lex_matcher", config=config).add_words(words)
    return nlp


def texts(matches):
    return [match.word for match in matches]


def test_every_word_in_order():
    doc = make_nlp()(TEXT)
    assert texts(doc._.lex_matches) == FOUND
    assert [(m.start, m.end) for m in doc._.lex_matches] == sorted((m.start, m.end) for m in doc._.lex_matches)
    assert all(doc.text[m.start : m.end] == m.word for m in doc._.lex_matches)
    for token in doc:
        assert token._.lex_words == [m for m in doc._.lex_matches if m.start < token.idx + 1 and m.end > token.idx]
    assert texts(doc[3]._.lex_words) == ["市长", "长江", "长江大桥"]
    assert doc._.lex_matches[0] == doc._.lex_matches[:1][0]


def test_lengths():
    assert "京" in texts(make_nlp(min_length=1)(TEXT)._.lex_matches)
    assert texts(make_nlp(max_length=2)(TEXT)._.lex_matches) == ["南京", "市长", "长江", "大桥"]


def test_not_run_and_nothing_found_differ():
    nlp = make_nlp()
    assert nlp.make_doc(TEXT)._.lex_matches is None
    assert nlp.make_doc(TEXT)[0]._.lex_words is None
    for text in ("", " ", "\n\n", "无关"):
        assert len(nlp(text)._.lex_matches) == 0
    loaded = Doc(nlp.vocab).from_bytes(nlp("无关").to_bytes())
    assert loaded._.lex_matches is not None and len(loaded._.lex_matches) == 0


def test_white_space_is_never_crossed():
    assert texts(make_nlp()("南 京市 长江")._.lex_matches) == ["长江"]


@pytest.mark.parametrize("tokenizer", ["spacy-lexner.CharTokenizer.v1", "spacy.zh.ChineseTokenizer"])
def test_words_with_a_space_cover_whole_tokens(tokenizer):
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": {"@tokenizers": tokenizer}}})
    nlp.add_pipe("lex_matcher", config={"spans_key": "words"}).add_words(["富士 施乐", " air max\n", "施"])
    doc = nlp("买富士 施乐，air max air\nmax")
    assert [(m.start, m.end, m.word) for m in doc._.lex_matches] == [(1, 6, "富士 施乐"), (7, 14, "air max")]
    assert [(span.start, span.end) for span in doc.spans["words"]] == [(1, 5), (6, 12)]
    assert doc[2].whitespace_ and doc[8].whitespace_, "a single space belongs to the token before it"
    assert [texts(token._.lex_words) for token in doc[:5]] == [[], *[["富士 施乐"]] * 4]


def test_words_with_a_space_and_a_tokenizer_of_words():
    nlp = make_nlp(["air max", "max pro", "New York"], lang="en")
    assert texts(nlp("an air max pro in New York")._.lex_matches) == ["air max", "max pro", "New York"]


@pytest.mark.parametrize("text", ["a\x00南京b", "𠮷南京😀👩‍👧大桥", "e\u0301南京", "\u3000南京\t\n大桥"])
def test_offsets_are_those_of_the_text(text):
    doc = make_nlp()(text)
    assert doc.text == text
    found = [(match.start, match.end, match.word) for match in doc._.lex_matches]
    assert found == [(text.index(w), text.index(w) + 2, w) for w in ("南京", "大桥") if w in text]


@pytest.fixture(scope="session")
def pkuseg_model(tmp_path_factory):
    """A pkuseg model trained on four sentences, since the published ones need a download."""
    folder = tmp_path_factory.mktemp("pkuseg")
    pkuseg = pytest.importorskip("spacy_pkuseg")
    sentences = ["南京市 长江大桥 很 长", "北京 大学 在 北京", "长江 很 长", "南京市 在 江苏"] * 10
    (folder / "train.txt").write_text("\n".join(sentences) + "\n", encoding="utf8")
    pkuseg.train(str(folder / "train.txt"), str(folder / "train.txt"), str(folder / "model"), train_iter=5)
    return str(folder / "model")


@pytest.mark.parametrize("segmenter", ["jieba", "pkuseg"])
def test_word_segmenters(segmenter, request):
    pytest.importorskip("jieba")
    tokenizer = {"@tokenizers": "spacy.zh.ChineseTokenizer", "segmenter": segmenter}
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    if segmenter == "pkuseg":
        nlp.tokenizer.initialize(pkuseg_model=request.getfixturevalue("pkuseg_model"), pkuseg_user_dict="default")
    nlp.add_pipe("lex_matcher").add_words(WORDS)
    doc = nlp(TEXT)
    assert len(doc) < len(TEXT) and texts(doc._.lex_matches) == FOUND, "whatever the tokens are"


def test_english():
    doc = make_nlp(["York", "new", "New"], lang="en")("The New Yorker lives in New York.")
    assert texts(doc._.lex_matches) == ["New", "New", "York"]


def test_alignment_modes():
    words = [TEXT[:3], TEXT[3:]]

    def matches(mode, lang):
        nlp = make_nlp(["京市", "南京市长"], lang, alignment_mode=mode, spans_key="words")
        doc = nlp.get_pipe("lex_matcher")(Doc(nlp.vocab, words=words, spaces=[False, False]))
        return texts(doc._.lex_matches), [span.text for span in doc.spans["words"]]

    for mode, moved in {"strict": [], "contract": ["南京市"], "expand": ["南京市", TEXT]}.items():
        assert matches(mode, "en") == (moved, moved)
        assert matches(mode, "zh") == (["南京市长", "京市"], moved), "only the spans are on tokens"


def test_spans_key_survives_a_docbin():
    nlp = make_nlp(spans_key="lexicon")
    doc = nlp(TEXT)
    assert [span.text for span in doc.spans["lexicon"]] == FOUND
    docs = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    loaded = next(iter(DocBin().from_bytes(docs).get_docs(nlp.vocab)))
    assert texts(loaded._.lex_matches) == FOUND == [span.text for span in loaded.spans["lexicon"]]


def test_merged_and_cut_docs_carry_no_foreign_words():
    nlp = make_nlp()
    docs = [nlp(TEXT), nlp("大桥")]
    with pytest.warns(UserWarning, match="lex_matches"):
        merged = Doc.from_docs(docs)
    assert merged._.lex_matches is None
    assert docs[0][2:].as_doc(copy_user_data=True)._.lex_matches is None


def test_offsets_survive_retokenization():
    doc = make_nlp()(TEXT)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[3:7])
    assert texts(doc._.lex_matches) == FOUND


@pytest.mark.parametrize("n_process", [1, 2])
def test_stream(n_process):
    nlp = make_nlp()
    docs = list(nlp.pipe([TEXT, "", "大桥"] * 5, n_process=n_process, batch_size=4))
    assert [texts(doc._.lex_matches) for doc in docs] == [FOUND, [], ["大桥"]] * 5


def test_no_lexicon():
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher")
    with pytest.raises(ValueError, match="has no lexicon"):
        nlp(TEXT)
    with pytest.raises(ValueError, match="has no lexicon"):
        nlp.initialize()
    nlp.config["initialize"]["components"]["lex_matcher"] = {"allow_empty": True}
    nlp.initialize()
    assert len(nlp(TEXT)._.lex_matches) == 0
    nlp.config["initialize"]["components"]["lex_matcher"] = {}
    with pytest.raises(
        ValueError, match=r"is empty.* set allow_empty = true in \[initialize\.components\.lex_matcher\]"
    ):
        nlp.initialize()


def test_unknown_options_are_refused():
    with pytest.raises(ValueError, match="alignment_mode"):
        spacy.blank("zh").add_pipe("lex_matcher", config={"alignment_mode": "loose"})
    with pytest.raises(ValueError, match="single_chars"):
        spacy.blank("zh").add_pipe("lex_matcher", config={"single_chars": "some"})


def read_words(nlp):
    return Lexicon.from_entries([LexiconEntry(word) for word in WORDS])


@spacy.registry.readers("test_lex_matcher.words")
def create_reader():
    return read_words


def test_initialize_reads_and_prunes():
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher")
    block = {"lexicon": {"@readers": "test_lex_matcher.words"}, "prune": True}
    nlp.config["initialize"]["components"]["lex_matcher"] = block
    nlp.initialize(lambda: [Example.from_dict(nlp.make_doc("南京大桥"), {})])
    assert sorted(nlp.get_pipe("lex_matcher").lexicon) == ["京", "南京", "大桥"]


def test_initialize_opens_a_folder(tmp_path):
    Lexicon.from_entries([LexiconEntry(word) for word in WORDS]).save(tmp_path)
    nlp = spacy.blank("zh")
    nlp.add_pipe("lex_matcher")
    reader = {"@readers": "spacy-lexner.LexiconFolder.v1", "path": str(tmp_path)}
    nlp.config["initialize"]["components"]["lex_matcher"] = {"lexicon": reader}
    nlp.initialize()
    assert texts(nlp(TEXT)._.lex_matches) == FOUND


def test_disk_bytes_pickle_and_copies(tmp_path):
    nlp = make_nlp(min_length=1, spans_key="words")
    nlp.to_disk(tmp_path)
    for loaded in (
        spacy.load(tmp_path),
        spacy.blank("zh", config=nlp.config).from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
        copy.deepcopy(nlp),
    ):
        doc = loaded(TEXT)
        assert list(doc._.lex_matches) == list(nlp(TEXT)._.lex_matches)
        assert len(doc.spans["words"]) == len(FOUND) + 1


def test_analyze_pipes_is_clean():
    assert make_nlp().analyze_pipes()["problems"] == {"lex_matcher": []}


def test_words_come_and_go():
    nlp = make_nlp()
    matcher = nlp.get_pipe("lex_matcher")
    matcher.add_words(["桥"[:1] + "头"])
    assert texts(nlp("桥头")._.lex_matches) == ["桥头"]
    matcher.remove_words(["桥头", "未知"])
    assert texts(nlp("桥头")._.lex_matches) == []


def test_initialize_with_rules(tmp_path):
    (tmp_path / "rules.tsv").write_text("长江大桥\tforce\tLOC\n新词\n", "utf8")
    nlp = make_nlp()
    nlp.config["initialize"]["components"] = {"lex_matcher": {"rules": str(tmp_path / "rules.tsv")}}
    nlp.initialize(lambda: [Example.from_dict(nlp.make_doc(TEXT), {})])
    matcher = nlp.get_pipe("lex_matcher")
    assert [(entry.word, str(entry.rules[0])) for entry in matcher.lexicon.ruled_words()] == [("长江大桥", "force LOC")]
    assert "新词" in matcher.lexicon and "南京" in matcher.lexicon


def test_version_of_a_doc():
    nlp = make_nlp()
    matcher = nlp.get_pipe("lex_matcher")
    assert nlp.make_doc(TEXT)._.lex_version is None
    doc, before = nlp(TEXT), matcher.version
    assert doc.to_json(underscore=["lex_version"])["_"]["lex_version"] == f"{get_candidates(doc)[0]:016x}"
    assert doc._.lex_version == before == Doc(nlp.vocab).from_bytes(doc.to_bytes())._.lex_version
    matcher.add_rules([("长江", "forbid")])
    assert nlp(TEXT)._.lex_version == matcher.version != before


def test_rules_are_saved(tmp_path):
    """Rules of the lexicon and of files are saved: files may be missing, and are read again when they are back."""
    file = tmp_path / "rules.tsv"
    file.write_text("大桥\tprefer\tLOC\t2.5\n外来\n", "utf8")
    nlp = make_nlp()
    matcher = nlp.get_pipe("lex_matcher")
    matcher.add_rules([("长江", "force", "LOC")])
    matcher.load_rules(file)
    nlp.to_disk(tmp_path / "model")
    data = matcher.to_bytes()
    file.unlink()
    for loaded in (spacy.load(tmp_path / "model").get_pipe("lex_matcher"), make_nlp([]).get_pipe("lex_matcher")):
        if loaded.version != matcher.version:
            loaded.from_bytes(data)
        assert loaded.version == matcher.version and loaded.rule_files == matcher.rule_files
        with pytest.raises(ValueError, match=r"rules.tsv: no such file"):
            loaded.reload()
        assert loaded.version == matcher.version
    file.write_text("", "utf8")
    loaded.reload()
    assert "外来" not in loaded.lexicon and loaded.lexicon.get("大桥").rules == ()
    assert str(loaded.lexicon.get("长江").rules[0]) == "force LOC"


def test_labels_are_those_of_the_lexicon_that_matched(tmp_path):
    nlp = spacy.blank("zh")
    matcher = nlp.add_pipe("lex_matcher")
    matcher.add_words([LexiconEntry("小米", labels=("BRAND", "FOOD")), "大桥"])
    doc = nlp("小米大桥")
    assert [match.labels for match in doc._.lex_matches] == [("BRAND", "FOOD"), ()]
    assert doc._.lex_matches[-2].labels == doc[0]._.lex_words[0].labels == ("BRAND", "FOOD")
    matcher.add_words([LexiconEntry("小米", label="FOOD")])
    assert [match.labels for match in doc._.lex_matches] == [("BRAND", "FOOD"), ()]
    assert nlp("小米")._.lex_matches[0].labels == ("FOOD",)
    foreign = nlp.make_doc("小米")
    set_candidates(foreign, 1, get_candidates(nlp("小米"))[1])
    assert list(foreign._.lex_matches) == [(0, 2, "小米", ())], "its lexicon is not here"
