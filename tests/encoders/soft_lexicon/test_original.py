"""Against the authors' code (v-mipeng/LexiconAugmentedNER at 4975b8b): invented texts and words, random weights.
Recorded are the word sets and weights of each character, and what their networks give."""

import json
from pathlib import Path

import numpy as np
import pytest
import spacy
import torch
from tolerance import assert_close
from vector_text import write_vectors

from spacy_lexner.candidates.training_texts import show_training_docs
from spacy_lexner.encoders.soft_lexicon.architecture import build_soft_lexicon_v1
from spacy_lexner.encoders.soft_lexicon.word_sets import N_SETS, count_words, sort_into_sets
from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher, MatchOptions
from spacy_lexner.lexicon.shared_matcher import SharedMatcher

RECORDED = json.loads((Path(__file__).parents[2] / "fixtures" / "soft_lexicon" / "original.json").read_text("utf8"))
N_TERMS = 7 * (4 + 2 + 4 * 3 + 6)  # the steps of the longest text; in each characters, bigrams, sets and state
NLP = spacy.blank("zh")


@pytest.fixture(scope="module")
def matcher():
    vectors = RECORDED["embeddings"]["lexicon"]
    entries = [LexiconEntry(word, np.array(vectors[word], "f4")) for word in RECORDED["words"]]
    return Matcher(Lexicon.from_entries(entries), MatchOptions(min_length=1))


def test_words_are_counted_where_no_longer_one_covers_them(matcher):
    hashes, counts = count_words(matcher, RECORDED["counted"])
    names = {}
    for word in RECORDED["words"]:
        inside, _ = matcher.match([word])
        names[inside.hashes[np.argmax(inside.ends - inside.starts)]] = word
    found = {names[key]: count for key, count in zip(hashes, counts.tolist())}
    assert found == {word: count for word, count in RECORDED["counts"].items() if count}


@pytest.mark.parametrize("text", RECORDED["texts"])
def test_sets_and_weights(matcher, text):
    number = RECORDED["texts"].index(text)
    found, _ = matcher.match([text])
    words = [text[start:end] for start, end in zip(found.starts, found.ends)]
    counts = np.array([RECORDED["counts"][word] for word in words], "f8")
    sets = sort_into_sets(found.starts.astype("i8"), found.ends.astype("i8"), counts, len(text))
    borders = np.append(0, np.cumsum(sets.sizes.reshape(-1)))
    for place in range(len(text) * N_SETS):
        some = slice(borders[place], borders[place + 1])
        ours = {words[word] if word >= 0 else "": weight for word, weight in zip(sets.words[some], sets.weights[some])}
        names, weights = (RECORDED[key][number][place // N_SETS][place % N_SETS] for key in ("sets", "weights"))
        theirs = dict(zip(names, weights))
        assert set(ours) == set(theirs)
        assert_close([ours[name] for name in theirs], list(theirs.values()), 10)


@pytest.mark.parametrize("network", ["lstm", "cnn"])
def test_vectors(matcher, network, tmp_path):
    embeddings, recorded = RECORDED["embeddings"], RECORDED["networks"][network]
    characters = {key: row for key, row in embeddings["characters"].items() if len(key) == 1}
    bigrams = {
        key.replace("-null-", "<end>"): row for key, row in embeddings["bigrams"].items() if not key.startswith("<")
    }
    model = build_soft_lexicon_v1(
        width=6,
        network=network,
        layers=1 if network == "lstm" else 2,
        words="frozen",
        smoothing=0.0,
        dropout=0.0,
        embedding={
            "character_vectors": write_vectors(tmp_path / "characters.vec", characters),
            "bigram_vectors": write_vectors(tmp_path / "bigrams.vec", bigrams),
            "normalize": False,
        },
    )
    model.layers[0].attrs["link"].source = SharedMatcher(matcher)
    show_training_docs(model, [NLP.make_doc(text) for text in RECORDED["counted"]])
    model.initialize(X=[])
    module = model.shims[0].module
    weights = {name: torch.tensor(values) for name, values in recorded["weights"].items()}
    if network == "lstm":
        own = {name.replace("lstm.", ""): values for name, values in weights.items()}
    else:
        own = {name.replace("cnn.cnn_layers", "layers"): values for name, values in weights.items()}
        own = {name.replace("cnn.cnn_layer0", "project"): values for name, values in own.items()}
        own["project.weight"] = own["project.weight"].squeeze(-1)
    module.network.load_state_dict(own)
    module.embedding.words.padding.data.copy_(torch.tensor([recorded["none"]]))
    docs = [NLP.make_doc(text) for text in RECORDED["texts"]]
    for rows, expected in zip(model.predict(docs), recorded["outputs"], strict=True):
        assert_close(rows, np.array(expected), N_TERMS)
