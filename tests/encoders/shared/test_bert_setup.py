import pytest
import torch
from tolerance import assert_close
from torch import nn
from vector_text import write_vectors

from spacy_lexner.encoders.lebert.architecture import build_lebert_v1
from spacy_lexner.encoders.shared.bert_setup import start_from_characters
from spacy_lexner.encoders.shared.wordpieces import load_wordpieces, vocab_settings

WORDPIECES = load_wordpieces(vocab_settings(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"南京市长"]))
ROWS = {"南": [3, 4], "京": [1, 0], "长": [-2, 1], "火": [0, 2]}


def test_pieces_with_a_vector_start_from_it_and_keep_all_angles(tmp_path):
    path = write_vectors(tmp_path / "c.vec", ROWS)
    table = nn.Embedding(len(WORDPIECES), 6)
    before = table.weight.detach().clone()
    assert start_from_characters(table, WORDPIECES, path) == 3
    added = (table.weight - before).detach()
    known = [WORDPIECES.tokenizer.token_to_id(character) for character in "南京长"]
    assert not added[[row for row in range(len(added)) if row not in known]].any()
    vectors = torch.tensor(list(ROWS.values()), dtype=torch.float)
    centred = nn.functional.normalize(vectors - vectors.mean(0), dim=1)[:3]
    n_terms = 2 * (4 + 6 + 2)  # of both factors the mean, the rotation, the length
    assert_close(added[known] @ added[known].T, centred @ centred.T, n_terms)


def test_files_that_do_not_fit(tmp_path):
    path = write_vectors(tmp_path / "c.vec", ROWS)
    with pytest.raises(ValueError, match=r"vectors of 2 values, more than the 1 of a wordpiece"):
        start_from_characters(nn.Embedding(len(WORDPIECES), 1), WORDPIECES, path)
    other = write_vectors(tmp_path / "other.vec", {"火": [0, 2], "车": [1, 2]})
    with pytest.raises(ValueError, match="vectors of 2 characters, none of which is in the vocabulary"):
        start_from_characters(nn.Embedding(len(WORDPIECES), 6), WORDPIECES, other)


def test_a_checkpoint_brings_its_own(tmp_path):
    with pytest.raises(ValueError, match=r"piece_vectors = 'c\.vec' is for random weights, but there is a checkpoint"):
        build_lebert_v1(checkpoint="some/folder", piece_vectors="c.vec")
