from itertools import chain

import pytest
import spacy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_lexner.encoders.elmo.batches import BEGIN, END, FIRST_WORD, make_batch
from spacy_lexner.encoders.elmo.character_ids import ByteCharacters

IDS = ByteCharacters(9)
NLP = spacy.blank("zh")
WORDS = st.lists(st.sampled_from(["长", "江", "大桥", " ", "\n", "a" * 30]), min_size=1, max_size=6)


@settings(deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4))
def test_rows_spell_the_docs(sentences):
    docs = [Doc(NLP.vocab, words=words) for words in sentences]
    batch = make_batch(docs, IDS)
    assert sorted(batch.words) == sorted(set(chain(*sentences)))
    assert torch.equal(batch.characters[:2], torch.from_numpy(IDS.boundary_words()))
    assert torch.equal(batch.characters[2:], torch.from_numpy(IDS.encode(batch.words)))
    assert batch.lengths.tolist() == [len(words) + 2 for words in sentences]
    spelt = [["<S>", *words, "</S>"] for words in sentences]
    names = {BEGIN: "<S>", END: "</S>", **dict(enumerate(batch.words, FIRST_WORD))}
    assert [names[row] for row in batch.rows.tolist()] == list(chain(*spelt))
    assert [names[row] for row in batch.rows[batch.tokens].tolist()] == list(chain(*sentences))


@pytest.mark.parametrize("other", [NLP.vocab, spacy.blank("zh").vocab])
def test_docs_of_several_vocabularies(other):
    docs = [Doc(NLP.vocab, words=["长江", "新词一"]), Doc(other, words=["新词二", "长江"])]
    assert sorted(make_batch(docs, IDS).words) == sorted(["长江", "新词一", "新词二"])
