from spacy_lexner.lexicon.find_words import find_words


def spelled(lexicon, text, min_length=1, max_length=None):
    starts, ends, _ = find_words(lexicon._levels.levels, text, min_length, max_length)
    return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist())]


def test_base_and_changes_in_one_order(lexicon):
    changed = lexicon.with_words(["长江大", "江", "市"]).without_words(["大桥", "京"])
    assert spelled(changed, "市长江大桥") == ["市", "市长", "长江", "长江大", "长江大桥", "江", "江大桥"]
    assert spelled(changed, "市长江大桥", 2, 3) == ["市长", "长江", "长江大", "江大桥"]
