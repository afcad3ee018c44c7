from spacy_lexner.encoders.shared.state_check import find_mismatch


def test_what_fits():
    assert find_mismatch({"a": (2, 3), "b": [1]}, {"a": [2, 3], "b": (1,)}) is None
    assert find_mismatch({"a": (2,), "x.ids": ()}, {"a": (2,), "mask": (4,)}, derived=("ids", "mask")) is None


def test_what_does_not():
    problem = find_mismatch({"b": (1,), "c": (2,)}, {"a": (1,), "c": (2, 1)})
    assert problem == "a is missing; b is not known; c has shape [2] instead of [2, 1]"
    many = {f"w{i}": (1,) for i in range(7)}
    assert find_mismatch({}, many) == "w0 is missing; w1 is missing; w2 is missing; w3 is missing; and 3 more"
