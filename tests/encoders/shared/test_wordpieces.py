import json
from collections import Counter

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_lexner.encoders.shared.read_as import save_normalization
from spacy_lexner.encoders.shared.wordpieces import (
    SPECIAL_PIECES,
    build_vocab,
    check_pieces,
    load_wordpieces,
    read_vocab,
    vocab_settings,
)
from spacy_lexner.lexicon.normalization import Normalization

SPECIAL = list(SPECIAL_PIECES.values())
VOCAB = [*SPECIAL, "南", "京", "a", "b", "##b", "##c", "1", "\u2028", "##\u2028", "e", "A"]


def make_doc(*words):
    return Doc(Vocab(), words=list(words))


@pytest.fixture
def wordpieces():
    return load_wordpieces(vocab_settings(VOCAB))


def names(wordpieces, text):
    return [wordpieces.tokenizer.id_to_token(piece) for piece in wordpieces.pieces(text)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("南", ["南"]),
        ("南京", ["南", "京"]),
        ("市", ["[UNK]"]),
        ("A", ["a"]),
        ("É", ["e"]),
        ("abc", ["a", "##b", "##c"]),
        ("abd", ["[UNK]"]),
        (" ", ["[UNK]"]),
        ("\u3000", ["[UNK]"]),
        ("\u2028", ["[UNK]"]),
        ("\x00", ["[UNK]"]),
        ("\u200d", ["[UNK]"]),
        ("𠮷", ["[UNK]"]),
        ("b1", ["[UNK]"]),
        ("[SEP]", ["[UNK]"] * 3),
    ],
)
def test_pieces(wordpieces, text, pieces):
    assert names(wordpieces, text) == pieces


def test_case_may_matter():
    wordpieces = load_wordpieces(vocab_settings(VOCAB, lower_case=False))
    assert names(wordpieces, "A") == ["A"] and names(wordpieces, "É") == ["[UNK]"]


def test_a_batch_is_looked_up_token_by_token(wordpieces):
    docs = [make_doc("南", "abc", "南京"), make_doc(), make_doc("abc", " ", "1")]
    for _ in range(2):  # the second time from the cache
        ids, counts = wordpieces.encode(docs)
        assert counts.tolist() == [1, 3, 2, 3, 1, 1]
        assert ids.tolist() == [piece for doc in docs for token in doc for piece in wordpieces.pieces(token.text)]


def test_no_tokens(wordpieces):
    for docs in ([], [make_doc()]):
        ids, counts = wordpieces.encode(docs)
        assert ids.shape == counts.shape == (0,) and ids.dtype == np.int64


def test_special_pieces(wordpieces):
    assert [wordpieces.pad, wordpieces.unk, wordpieces.cls, wordpieces.sep, wordpieces.mask] == [0, 1, 2, 3, 4]
    assert len(wordpieces) == len(VOCAB)


def test_the_same_settings_share_one_lookup():
    settings = vocab_settings(VOCAB)
    assert load_wordpieces(settings) is load_wordpieces(dict(settings))
    assert load_wordpieces(settings) is not load_wordpieces(vocab_settings(VOCAB, lower_case=False))


def test_a_vocabulary_without_special_pieces_is_refused():
    with pytest.raises(ValueError, match=r"vocabulary of 2 pieces lacks \[PAD\].*Expected a BERT vocab.txt"):
        vocab_settings(["a", "b"])


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_read_vocab_ends_lines_with_line_feeds_only(tmp_path, line_end):
    path = tmp_path / "vocab.txt"
    path.write_bytes((line_end.join(VOCAB) + line_end).encode("utf8"))
    assert read_vocab(path) == VOCAB
    path.write_bytes("\n".join(VOCAB).encode("utf8"))
    assert read_vocab(path) == VOCAB


def test_a_byte_order_mark_is_no_part_of_the_first_piece(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes("\n".join(VOCAB).encode("utf-8-sig"))
    assert read_vocab(path) == VOCAB


def test_vocab_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ValueError, match=r"none\.txt' cannot be read \(No such file"):
        read_vocab(tmp_path / "none.txt")
    (tmp_path / "gbk.txt").write_bytes("南京".encode("gbk"))
    with pytest.raises(ValueError, match=r"gbk\.txt' is not UTF-8 \(byte 0\)"):
        read_vocab(tmp_path / "gbk.txt")
    (tmp_path / "empty.txt").write_bytes(b"")
    assert read_vocab(tmp_path / "empty.txt") == []


def test_bert_base_chinese(data_dir):
    """Every character in the vocabulary is tokenized as itself, except the line separator, which is white space."""
    vocab = read_vocab(data_dir / "vocab" / "bert-base-chinese-vocab.txt")
    assert len(vocab) == 21128 and vocab[343] == "\u2028" and vocab[13502] == "##\u2028"
    wordpieces = load_wordpieces(vocab_settings(vocab))
    lost = [piece for i, piece in enumerate(vocab) if len(piece) == 1 and wordpieces.pieces(piece) != [i]]
    assert lost == ["\u2028"]


def test_build_vocab_counts_characters():
    tokens = Counter({"南": 3, "京": 5, "Ab": 2, " ": 9, "南京": 1})
    assert build_vocab(tokens) == [*SPECIAL, "京", "南", "##b", "a"]
    assert build_vocab(tokens, min_count=3) == [*SPECIAL, "京", "南"]
    assert build_vocab(tokens, lower_case=False) == [*SPECIAL, "京", "南", "##b", "A"]


def test_any_training_word_can_be_spelled():
    doc = spacy.blank("en").make_doc("The quick brown fox, naïve as ever: x2-3")
    wordpieces = load_wordpieces(vocab_settings(build_vocab(Counter(token.text for token in doc))))
    assert all(wordpieces.unk not in wordpieces.pieces(token.text) for token in doc)


def test_tokens_are_normalised_before_they_are_looked_up():
    normalization = Normalization(width=True, script="simplified")
    settings = {**vocab_settings([*SPECIAL, "台", "a", "##b"]), **save_normalization(normalization)}
    wordpieces = load_wordpieces(json.loads(json.dumps(settings)))
    assert names(wordpieces, "臺") == ["台"] and names(wordpieces, "Ａb") == ["a", "##b"]
    assert wordpieces is load_wordpieces(settings)
    assert names(load_wordpieces(vocab_settings([*SPECIAL, "台"])), "臺") == ["[UNK]"]


def test_wordpieces_fit_the_rows_of_the_encoder():
    pieces = vocab_settings([*SPECIAL_PIECES.values(), "南", "京"])
    check_pieces({"wordpieces": pieces, "encoder": {"vocab_size": 7}})
    check_pieces({"encoder": {}})
    with pytest.raises(ValueError, match="7 wordpieces, and the model 6 rows"):
        check_pieces({"wordpieces": pieces, "encoder": {"vocab_size": 6}})
    with pytest.raises(ValueError, match="id of cls is 1000"):
        check_pieces({"wordpieces": {**pieces, "cls": 1000}, "encoder": {"vocab_size": 7}})


def test_a_piece_on_two_lines_has_the_number_of_the_last_and_a_row_for_each():
    pieces = load_wordpieces(vocab_settings([*SPECIAL, "南", "京", "南"]))
    assert (pieces.pieces("南京"), len(pieces)) == ([7, 6], 8)
