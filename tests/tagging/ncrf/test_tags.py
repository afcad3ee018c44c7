import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ncrf_oracle import read

from spacy_lexner.tagging.ncrf.tags import labels_of, ncrf_states
from spacy_lexner.tagging.spans.states import FRAME
from spacy_lexner.tagging.spans.tag_scheme import TagScheme

TAGS = ("O", "B-A", "M-A", "E-A", "S-A", "B-B", "I-B", "E-C")


def paths_of_states(states, columns):
    """All legal paths of states for these tags, with [CLS] and [SEP] around them."""
    frames = np.flatnonzero(states.tags == FRAME)
    paths = [[frames[0]]]
    for column in columns:
        own = np.flatnonzero((states.columns == column) & (states.tags != FRAME))
        paths = [[*path, state] for path in paths for state in own if states.legal[path[-1], state]]
    return [path[1:] for path in paths if states.legal[path[-1], frames[-1]] and states.legal[frames[-1], -1]]


@given(st.lists(st.sampled_from(TAGS), max_size=7))
def test_each_path_of_tags_is_one_path_of_states_that_means_its_spans(tags):
    states, scheme = ncrf_states(TAGS), TagScheme(labels_of(TAGS))
    paths = paths_of_states(states, [TAGS.index(tag) for tag in tags])
    assert len(paths) == 1
    spans = scheme.decode(states.tags[paths[0]]) if tags else []
    assert [(span.start, span.end, scheme.labels[span.label]) for span in spans] == read(tags)


def test_start_and_stop_are_outside_and_follow_anything():
    states = ncrf_states(TAGS)
    start, stop = len(TAGS), len(TAGS) + 1
    (path,) = paths_of_states(states, [TAGS.index("B-A"), start, stop, TAGS.index("E-A"), TAGS.index("O")])
    assert TagScheme(labels_of(TAGS)).decode(states.tags[path])[0][:2] == (0, 1)
    assert states.tags[path][1:3].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("tags", "spelled"),
    [
        (("O", "B-A", "I-A", "E-A", "S-A"), {"B": "B-A", "I": "I-A", "E": "E-A", "S": "S-A"}),
        (("O", "B-A", "I-A"), {"B": "B-A", "I": "I-A", "E": "I-A", "S": "B-A"}),
        (("I-A", "O"), {"B": "I-A", "I": "I-A", "E": "I-A", "S": "I-A"}),
    ],
)
def test_annotation_is_spelled_by_the_tags_that_there_are(tags, spelled):
    states = ncrf_states(tags)
    for kind, prefix in enumerate("BIES"):
        columns = states.columns[(states.tags == 1 + kind) & states.spells]
        assert [tags[column] for column in columns] == [spelled[prefix]]
    outside = states.columns[(states.tags == 0) & states.spells]
    assert [tags[column] for column in outside] == ["O"]


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ((), r"The tags \(none\) have no label"),
        (("O",), "have no label"),
        (("O", "X-A"), "'X-A' is not known"),
        (("O", "B-"), "'B-' is not known"),
        (("B-A", "I-A", "M-A"), "'I-A' and 'M-A' are the same"),
        (("B-A", "O", "O"), "'O' and 'O' are the same"),
    ],
)
def test_what_is_no_tag_set(tags, message):
    with pytest.raises(ValueError, match=message):
        ncrf_states(tags)
