import json
from collections import Counter

import numpy as np
import pytest
import spacy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_lexner.candidates.batch_words import place_words
from spacy_lexner.candidates.storage import find_candidates
from spacy_lexner.encoders.flat.batches import _longest, make_batches, words_in_windows
from spacy_lexner.encoders.shared.characters import read_characters
from spacy_lexner.encoders.shared.vocab import END, build_vocab, load_vocab
from spacy_lexner.encoders.shared.windows import cut_windows
from spacy_lexner.encoders.shared.words import WordTable
from spacy_lexner.lexicon.entry import LexiconEntry
from spacy_lexner.lexicon.lexicon import Lexicon
from spacy_lexner.lexicon.matcher import Matcher, keep_single_chars

NLP = spacy.blank("zh")
TABLE = WordTable(3, 0, np.zeros(0, "u8"))


def lexicon_of(words):
    return Lexicon.from_entries([LexiconEntry(word) for word in words])


def place(docs, lexicon, characters, single_chars):
    found = [(candidates, lexicon) for candidates in find_candidates(Matcher(lexicon), docs)]
    words = place_words(docs, found, characters.counts)
    return words.take(keep_single_chars(words.starts, words.ends, single_chars))


def lattices(docs, lexicon, *, window=1000, stride=1000, max_words=100.0, max_tokens=10**6, single_chars="drop"):
    characters = read_characters(docs)
    words = place(docs, lexicon, characters, single_chars)
    windows = cut_windows(np.diff(characters.doc_ends, prepend=0), window, stride)
    vocab_settings = build_vocab([doc.text for doc in docs])
    batches = make_batches(
        characters,
        load_vocab(vocab_settings),
        windows,
        words,
        TABLE,
        max_words=max_words,
        max_tokens=max_tokens,
        device=torch.device("cpu"),
    )
    return vocab_settings, characters, windows, words, list(batches)


@pytest.mark.parametrize("case,single_chars", [("drop_characters", "drop"), ("with_single_chars", "keep")])
def test_as_the_original(fixtures_dir, case, single_chars):
    given_ = json.loads((fixtures_dir / "pipeline" / "inputs.json").read_text("utf8"))
    recorded = json.loads((fixtures_dir / "pipeline" / "flat.json").read_text("utf8"))["cases"][case]
    texts = [sentence["text"] for sentence in given_["sentences"]]
    docs = [Doc(NLP.vocab, words=text, spaces=[False] * len(text)) for text in texts]
    settings_, characters, _, _, batches = lattices(docs, lexicon_of(given_["lexicon"]), single_chars=single_chars)
    joined = "".join(map("".join, texts))
    bigrams = [None, None] + [settings_["bigrams"][0][i : i + 2] for i in range(0, len(settings_["bigrams"][0]), 2)]
    seen = set()
    for batch, row in ((padded.batch, row) for padded in batches for row in range(len(padded.batch.characters))):
        n = int((batch.characters[row] != 0).sum())
        doc = int(np.searchsorted(characters.doc_ends, batch.tokens[row, 0], side="right"))
        seen.add(doc)
        expected = recorded[doc]
        offset = int(batch.tokens[row, 0])
        assert (n, int((batch.word_ids[row] != 0).sum())) == (expected["seq_len"], expected["lex_num"])
        words = [
            [start, end - 1, joined[offset + start : offset + end]]
            for start, end in zip(batch.word_starts[row].tolist(), batch.word_ends[row].tolist())
        ][: expected["lex_num"]]
        assert words == expected["skip_path"]
        assert [joined[offset + i] for i in range(n)] + [word for _, _, word in words] == expected["lattice"]
        found = [bigrams[i].replace(END, "<end>") for i in batch.bigrams[row, :n].tolist()]
        assert found == expected["bigrams"]
    assert seen == set(range(len(docs)))


@st.composite
def batches_of_docs(draw):
    docs = []
    for _ in range(draw(st.integers(1, 4))):
        tokens = draw(st.lists(st.text("甲乙丙 ", min_size=1, max_size=3), max_size=12))
        spaces = draw(st.lists(st.booleans(), min_size=len(tokens), max_size=len(tokens)))
        docs.append(Doc(NLP.vocab, words=tokens, spaces=spaces))
    words = draw(st.sets(st.text("甲乙丙", min_size=1, max_size=4), min_size=1))
    return docs, lexicon_of(sorted(words))


@given(batches_of_docs())
@settings(deadline=None)
def test_characters_are_those_of_the_tokens(case):
    docs, _ = case
    characters = read_characters(docs)
    texts = ["".join(token.text for token in doc) for doc in docs]
    assert "".join(map(chr, characters.codes)) == "".join(texts)
    assert characters.doc_ends.tolist() == np.cumsum([len(text) for text in texts]).tolist()
    assert characters.counts.tolist() == [len(token) for doc in docs for token in doc]


@given(batches_of_docs(), st.integers(1, 9), st.data())
@settings(deadline=None)
def test_every_window_has_its_characters_and_whole_words(case, window, data):
    docs, lexicon = case
    stride = data.draw(st.integers(1, window))
    max_tokens = data.draw(st.integers(1, 60))
    _, characters, windows, words, batches = lattices(
        docs, lexicon, window=window, stride=stride, max_tokens=max_tokens, single_chars="keep"
    )
    taken = np.concatenate([np.zeros(0, "i8"), *(padded.rows for padded in batches)])
    assert sorted(taken.tolist()) == list(range(len(characters.codes)))
    token_of = np.repeat(np.arange(len(characters.counts)), characters.counts)
    all_words = list(zip(words.starts.tolist(), words.ends.tolist()))
    expected: Counter = Counter()
    for start, end in zip(windows.starts.tolist(), windows.ends.tolist()):
        inside = [(a - start, b - start) for a, b in all_words if start <= a and b <= end]
        expected[tuple(token_of[start:end].tolist()), tuple(inside)] += 1
    found: Counter = Counter()
    for padded in batches:
        batch = padded.batch
        assert batch.tokens.flatten()[batch.kept].tolist() == token_of[padded.rows].tolist()
        for row, n in enumerate((batch.characters != 0).sum(1).tolist()):
            m = int((batch.word_ids[row] != 0).sum())
            spans = list(zip(batch.word_starts[row].tolist(), batch.word_ends[row].tolist()))
            found[tuple(batch.tokens[row, :n].tolist()), tuple(spans[:m])] += 1
            assert (batch.word_ids[row, m:] == 0).all()
    assert found == expected


def test_a_word_has_one_number_wherever_it_stands():
    docs = [NLP.make_doc(text) for text in ("甲乙丙甲乙", "甲乙")]
    *_, words, (padded,) = lattices(docs, lexicon_of(["甲乙", "乙丙"]))
    ids = padded.batch.word_ids
    assert len(padded.batch.words.known) == 2
    assert ids[0, 0] == ids[0, 2] == ids[1, 0] != ids[0, 1]
    assert padded.batch.words.lengths.tolist() == [2, 2]
    assert words.lengths.tolist() == [2, 2, 2, 2]


def test_where_words_are_too_many_the_longest_stay():
    doc = NLP.make_doc("甲乙丙丁戊")
    text = doc.text
    lexicon = lexicon_of({text[i:j] for i in range(5) for j in range(i + 2, 6)})
    characters = read_characters([doc])
    words = place([doc], lexicon, characters, "drop")
    windows = cut_windows(np.array([5]), 5, 5)
    numbers, counts = words_in_windows(windows, words, 0.8)
    assert counts.tolist() == [4]
    assert list(zip(words.starts[numbers].tolist(), words.ends[numbers].tolist())) == [(0, 3), (0, 4), (0, 5), (1, 5)]
    assert words_in_windows(windows, words, 9)[1].tolist() == [10]


def test_docs_without_characters_have_no_batch():
    *_, batches = lattices([NLP.make_doc(""), NLP.make_doc("")], lexicon_of(["甲"]))
    assert batches == []


@given(st.lists(st.lists(st.integers(1, 9), max_size=12), min_size=1, max_size=5), st.integers(0, 8))
def test_the_longest_are_the_first_of_all_by_length(lengths, limit):
    window = np.repeat(np.arange(len(lengths)), list(map(len, lengths)))
    expected = []
    for own in lengths:
        best = sorted(range(len(own)), key=lambda i: (-own[i], i))[:limit]
        expected += [i in best for i in range(len(own))]
    flat = np.array([length for own in lengths for length in own], "i8")
    assert _longest(window, flat, np.full(len(lengths), limit)).tolist() == expected


@pytest.mark.parametrize("length,kept", [(64, 4 * 64), (65, 65 // 2)])
def test_a_repetition_has_no_more_words_than_a_text(length, kept):
    doc = NLP.make_doc("甲" * length)
    characters = read_characters([doc])
    words = place([doc], lexicon_of(["甲" * n for n in range(2, 9)]), characters, "drop")
    windows = cut_windows(np.array([length]), length, length)
    numbers, counts = words_in_windows(windows, words, 4.0)
    assert counts.tolist() == [kept] and words.lengths[numbers].tolist().count(8) == min(kept, length - 7)
    assert words_in_windows(windows, words, 15.0)[1].tolist() == [sum(length - n + 1 for n in range(2, 9))]
