"""The words of `lex_segmenter` under rules, compared with all segmentations of a text by brute force."""

import numpy as np
import pytest
import spacy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from path_oracle import NEVER, Oracle

from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher
from spacy_lexner.lexicon.rules import FORCE, PREFER, Rule, RuleReader
from spacy_lexner.pipeline.char_tokenizer import CharTokenizer
from spacy_lexner.pipeline.segmenter.constraints import WORD, Constraints, allowed_tags, apply_word_rules
from spacy_lexner.pipeline.segmenter.word_search import find_words
from spacy_lexner.tagging.heads import CRFHead
from spacy_lexner.tagging.spans.head import TaggerOutput
from spacy_lexner.tagging.spans.span_rules import SpanRules
from spacy_lexner.tagging.spans.tag_scheme import TagScheme, TagSpan
from spacy_lexner.tagging.spans.word_borders import fixed_borders
from spacy_lexner.tagging.spans.word_rules import find_rule_matches

TOKENIZER = CharTokenizer(spacy.blank("zh").vocab)
SCHEME = TagScheme(["NN", "VV"])
READER = RuleReader("words", frozenset(SCHEME.labels), frozenset([FORCE, PREFER]), any_label=WORD)
TEXT = "一二三四五"
WORDS = sorted({TEXT[i:j] for i in range(5) for j in range(i + 1, 6)})


def rules_of(doc, rules, edges=()):
    entries = [LexiconEntry(word, rules=(Rule(*rule),)) for word, rule in rules.items()]
    [words] = find_rule_matches([doc], [Matcher(Lexicon.from_entries(entries))], READER)
    return apply_word_rules(doc, words, SCHEME.labels, fixed_borders(doc), np.array(edges, dtype=np.int64))


RULE = st.one_of(
    st.tuples(st.just("force"), st.sampled_from(["", WORD, "NN", "VV"])),
    st.tuples(st.just("forbid"), st.sampled_from([WORD, "NN", "VV"])),
    st.tuples(st.just("prefer"), st.sampled_from(["", WORD, "VV"]), st.sampled_from([-3.0, 2.0])),
)
DICTIONARIES = st.dictionaries(st.sampled_from(WORDS), RULE, max_size=4)


@settings(max_examples=60)
@example({"一": ("forbid", WORD)}, {1}, 0)
@given(
    st.dictionaries(st.sampled_from(WORDS), RULE, max_size=4),
    st.sets(st.integers(1, 4), max_size=1),
    st.integers(0, 99),
)
def test_against_all_segmentations(rules, edges, seed):
    doc, edges = TOKENIZER(TEXT), sorted(edges)
    rng = np.random.default_rng(seed)
    emissions, transitions = rng.normal(size=(5, 9)).astype("f"), rng.normal(size=(10, 10)).astype("f")
    known = Constraints(fixed_borders(doc), np.array(edges, dtype=np.int64), rules_of(doc, rules, edges))
    forced, weights, refused = [], {}, 0
    for word, (mode, label, *weight) in rules.items():
        start = TEXT.index(word)
        spans = [
            TagSpan(start, start + len(word), k) for k, name in enumerate(SCHEME.labels) if label in ("", WORD, name)
        ]
        if mode == "force" and any(start < edge < start + len(word) for edge in edges):
            refused += 1
        elif mode == "force":
            forced += spans
        elif (mode, label, len(word)) == ("forbid", WORD, 1) and {start, start + 1} <= {0, 5, *edges}:
            pass  # what is known to be a word cannot be forbidden
        else:
            weights.update(dict.fromkeys(spans, NEVER if mode == "forbid" else weight[0]))
    allowed = allowed_tags(doc, known.all_borders, 2)
    oracle = Oracle(
        SCHEME, emissions.astype("f8"), transitions.astype("f8"), allowed, SpanRules(tuple(forced), weights)
    )
    if not oracle.paths:
        with pytest.raises(ValueError, match="words: no analysis of '一二三四五' follows the rules of its words: '"):
            find_words(CRFHead(), TaggerOutput([emissions], transitions), [doc], [known], SCHEME, "words")
        return
    [found] = find_words(CRFHead(), TaggerOutput([emissions], transitions), [doc], [known], SCHEME, "words")
    ends = [*found.starts[1:].tolist(), 5]
    spans = tuple(TagSpan(*row) for row in zip(found.starts.tolist(), ends, found.labels.tolist()))
    assert oracle.paths[spans] == pytest.approx(max(oracle.paths.values()))
    there = sum(1 for each in known.rules.forced if set(each.spans) & set(spans))
    assert found.report["forced_words"] == there
    assert found.report["refused_words"] == refused + len(known.rules.forced) - there
    assert len([c for c in found.conflicts if c.rule.startswith("force")]) == found.report["refused_words"]


def test_a_doc_in_words_keeps_them():
    doc = spacy.tokens.Doc(TOKENIZER.vocab, ["南京", "市", "长江"], spaces=[False] * 3)
    rules = rules_of(doc, {"南京市": ("force",), "长江": ("forbid", WORD), "市": ("forbid", "NN"), "京市": ("force",)})
    assert [c[:6] for c in rules.conflicts] == [
        ("南京市", "force", 0, 3, "kept", "南京|市"),
        ("京市", "force", 1, 3, "tokens", "南京市"),
        ("长江", "forbid WORD", 3, 5, "kept", "长江"),
    ]
    assert rules.spans.forced == () and rules.spans.weights == {TagSpan(1, 2, 0): NEVER}


def test_without_words():
    assert not rules_of(TOKENIZER("甲乙"), {"一": ("force",)}).spans
