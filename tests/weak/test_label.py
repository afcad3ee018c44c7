import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.lexicon import LexiconEntry
from spacy_lexner.lexicon.normalization import Normalization
from spacy_lexner.weak.dictionary import Dictionary
from spacy_lexner.weak.label import COMMON, KNOWN, OVERLAP, PART, REASONS, SEVERAL, UNKNOWN, Labeller, annotate

LABELS = {"南京": ("GPE",), "南京市": ("GPE",), "长江": ("LOC",), "市长": ("TITLE",), "小米": ("BRAND", "FOOD")}
WORDS = {**LABELS, "京": ("GPE",), "好": ("X",), "苹果": ("BRAND",), "跑步": ("BRAND",)}
OTHERS = [
    LexiconEntry("长江大桥"),
    LexiconEntry("天气"),
    LexiconEntry("苹果", label="n"),
    LexiconEntry("跑步", label="v"),
]


def kinds(text, labels=WORDS, others=OTHERS, forbidden=()):
    labeller = Labeller(Dictionary(dict(labels), set(forbidden)), others)
    return [(each.word, each.kind) for each in labeller.label([text])[0]]


def test_known_words_and_the_longest_of_nested_ones():
    assert kinds("他在南京市") == [("南京市", KNOWN)]
    assert kinds("南京和长江") == [("南京", KNOWN), ("长江", KNOWN)]


def test_words_that_cross_are_doubtful():
    assert kinds("南京市长") == [("南京市", OVERLAP), ("市长", OVERLAP)]


def test_part_of_a_longer_word():
    assert kinds("看长江大桥") == [("长江", PART)]
    assert kinds("看长江大桥", others=()) == [("长江", KNOWN)]
    assert kinds("看长江大桥", others=(), forbidden=["长江大桥"]) == [("长江", PART)]


def test_several_labels_and_common_words():
    assert kinds("小米") == [("小米", SEVERAL)]
    assert kinds("他好") == [("好", COMMON)]
    assert kinds("好", {"好": ("X", "Y")}) == [("好", COMMON)]  # a single character says less than its labels
    assert kinds("苹果跑步") == [("苹果", KNOWN), ("跑步", COMMON)]  # a noun, and a verb


@pytest.mark.parametrize("tags, kind", [("v", COMMON), ("vn", COMMON), ("ns", KNOWN), ("eng", KNOWN), ("album", KNOWN)])
def test_only_parts_of_speech_make_a_word_common(tags, kind):
    assert kinds("金曲集", {"金曲集": ("X",)}, [LexiconEntry("金曲集", label=tags)]) == [("金曲集", kind)]


def test_a_label_of_the_dictionary_is_no_part_of_speech():
    labels, others = {"金曲集": ("album",), "王伟": ("p",)}, [LexiconEntry("金曲集", label="album")]
    assert kinds("金曲集", labels, others) == [("金曲集", KNOWN)]
    assert kinds("王伟", labels, [LexiconEntry("王伟", label="p")]) == [("王伟", KNOWN)]


NORMALIZATION = Normalization(case=True, width=True, script="simplified", characters="臺台灣湾機机")


def test_words_in_any_spelling():
    labels = {"臺灣": ("GPE",), "ABC公司": ("ORG",), "iPhone": ("BRAND", "PHONE"), "手機": ("X",)}
    others = [LexiconEntry("台灣大学"), LexiconEntry("手機", label="v"), LexiconEntry("智能手机")]
    labeller = Labeller(Dictionary(labels, {"臺灣銀行"}, NORMALIZATION), others)
    texts = ["臺灣的ＡＢＣ公司", "台湾大学和台灣銀行", "買IPHONE", "手機", "智能手機", "智能手机壳"]
    assert [[(each.word, each.kind) for each in found] for found in labeller.label(texts)] == [
        [("台湾", KNOWN), ("abc公司", KNOWN)],
        [("台湾", PART), ("台湾", PART)],
        [("iphone", SEVERAL)],
        [("手机", COMMON)],
        [("手机", PART)],
        [("手机", PART)],
    ]
    labeller.doubt(["台湾"])
    assert [each.kind for each in labeller.label(["臺灣"])[0]] == ["improbable"]


def test_unknown_and_held_words_in_any_spelling():
    labeller = Labeller(Dictionary({"台湾": ("GPE",)}, (), NORMALIZATION), [LexiconEntry("天機")])
    text = "臺灣的天机"
    [found] = labeller.label([text])
    assert [(each.word, each.kind) for each in found] == [("台湾", KNOWN), ("天机", UNKNOWN)]
    doc = annotate(spacy.blank("zh").make_doc(text), found, frozenset(["台湾"]), ["GPE"])
    assert [(span.text, span.label_) for span in doc.spans["weak_held"]] == [("臺灣", "GPE")] and not doc.ents


def test_other_words_are_unknown():
    assert kinds("南京的天气") == [("南京", KNOWN), ("天气", UNKNOWN)]


def test_no_word_within_a_latin_word():
    assert kinds("iPhone和phone", {"phone": ("PRODUCT",)}) == [("phone", KNOWN)]


def test_what_a_doc_gets():
    nlp = spacy.blank("zh")
    labeller = Labeller(Dictionary(dict(WORDS), set()), OTHERS)
    text = "南京小米长江的天气很好"
    doc = annotate(nlp.make_doc(text), labeller.label([text])[0], frozenset(["长江"]), ["LOC", "GPE"])
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("南京", "GPE")]
    assert [token.ent_iob for token in doc][2:] == [0] * 9  # missing, not outside
    spans = {key: [(span.text, span.label_) for span in group] for key, group in doc.spans.items()}
    assert spans == {
        "weak_doubtful": [("小米", SEVERAL), ("好", COMMON)],
        "weak_held": [("长江", "LOC")],
        "weak_unknown": [("天气", "")],
        "lex_one_of": [("小米", "BRAND"), ("小米", "FOOD")],
        "lex_possible": [("长江", "LOC"), ("长江", "GPE")],
    }


def test_overlapping_words_are_possible():
    nlp = spacy.blank("zh")
    labeller = Labeller(Dictionary(dict(WORDS), set()), OTHERS)
    doc = annotate(nlp.make_doc("南京市长"), labeller.label(["南京市长"])[0])
    assert [(span.text, span.label_) for span in doc.spans["lex_possible"]] == [("南京市", "GPE"), ("市长", "TITLE")]
    assert not doc.ents


@given(st.text("南京市长江小米好天气大桥 ", max_size=30))
def test_occurrences_are_words_of_the_text_and_known_ones_overlap_nothing(text):
    labeller = Labeller(Dictionary(dict(WORDS), set()), OTHERS)
    [found] = labeller.label([text])
    assert all(text[each.start : each.end] == each.word for each in found) and found == sorted(found)
    assert {each.kind for each in found} <= {KNOWN, UNKNOWN, *REASONS}
    for a in found:
        if a.kind in (KNOWN, UNKNOWN):
            assert not any(b.start < a.end and a.start < b.end for b in found if b is not a)
