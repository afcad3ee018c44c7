import pytest

from spacy_lexner.training.optimizers.parameter_groups import ParameterGroup, parse_groups


def test_lists_and_named_groups_keep_their_order():
    groups = [{"pattern": "bias", "weight_decay": 0}, {"pattern": "^bert", "learn_rate_factor": 0.1}]
    parsed = parse_groups(groups)
    assert [group.pattern.pattern for group in parsed] == ["bias", "^bert"]
    assert parsed[0].weight_decay == 0 and parsed[0].learn_rate_factor is None
    assert parsed[1].weight_decay is None and parsed[1].learn_rate_factor == 0.1
    assert parse_groups({"z": groups[0], "a": groups[1]}) == parsed
    assert parse_groups(None) == parse_groups([]) == ()


def test_a_pattern_is_searched():
    [group] = parse_groups([{"pattern": r"layer\.\d+\.bias$", "weight_decay": 0}])
    assert isinstance(group, ParameterGroup)
    assert group.matches("bert.layer.11.bias")
    assert not group.matches("bert.layer.11.bias_ih")


@pytest.mark.parametrize(
    "group, message",
    [
        ({"pattern": "(", "weight_decay": 0}, r"pattern '\(' of parameter group 'x' is invalid"),
        ({"pattern": 3, "weight_decay": 0}, "The pattern of parameter group 'x' is 3; expected a regular"),
        ({"weight_decay": 0}, "The pattern of parameter group 'x' is None; expected a regular"),
        ({"pattern": "a"}, "changes nothing"),
        ({"pattern": "a", "learn_rate": 0.1}, r"unknown keys \['learn_rate'\]"),
        ({"pattern": "a", "weight_decay": -1}, "is -1; expected a number of at least 0"),
        ({"pattern": "a", "learn_rate_factor": float("nan")}, "is nan; expected"),
        ({"pattern": "a", "learn_rate_factor": "0.1"}, "is '0.1'; expected"),
        (
            {"pattern": "a", "weight_decay": 0, "optional": "no"},
            "optional of parameter group 'x' is 'no'; expected true",
        ),
        ("bias", "is 'bias'; expected a dict"),
    ],
)
def test_wrong_groups_are_named(group, message):
    with pytest.raises(ValueError, match=message):
        parse_groups({"x": group})
