import pytest

from spacy_lexner.pretraining.log import PretrainingLog


def test_a_line_is_due_every_so_many_updates():
    due = [[number for number in range(1, 7) if PretrainingLog(every=every).is_due(number)] for every in (0, 1, 3)]
    assert due == [[], [1, 2, 3, 4, 5, 6], [3, 6]]
    with pytest.raises(ValueError, match="log_every is -1; expected a number of updates, or 0 for no log lines"):
        PretrainingLog(every=-1)
