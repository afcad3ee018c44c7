import itertools

from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.tagging.spans.span_rules import Cluster, find_clusters
from spacy_lexner.tagging.spans.tag_scheme import TagSpan

SPAN = st.builds(lambda start, n: TagSpan(start, start + n, 0), st.integers(0, 10), st.integers(1, 5))
SPANS = st.lists(SPAN, min_size=1, max_size=8)


def overlap(first, second):
    return first.start < second.end and second.start < first.end


@given(SPANS)
def test_clusters(spans):
    clusters = list(find_clusters(spans))
    assert [span for cluster in clusters for span in cluster.spans] == sorted(set(spans))
    for cluster in clusters:
        assert (cluster.start, cluster.end) == (min(s.start for s in cluster.spans), max(s.end for s in cluster.spans))
        joined = [cluster.spans[0]]
        while more := [s for s in cluster.spans if s not in joined and any(overlap(s, other) for other in joined)]:
            joined.extend(more)
        assert len(joined) == len(cluster.spans)
    for first, second in itertools.pairwise(clusters):
        assert first.end <= second.start


@given(SPANS)
def test_runs_end_before_they_hold_a_forced_span(spans):
    """For every beginning of a run, the tokens that it may have are those of its reach; others are told by colour."""
    for cluster in find_clusters(spans):
        runs = {run.reach: run for run in cluster.runs()}
        for start in {cluster.start, *(span.end for span in cluster.spans)}:
            run = runs[cluster.reach(start)]
            may_have = {
                token
                for token in range(start, cluster.end)
                if not any(start <= span.start and span.end <= token + 1 for span in cluster.spans)
            }
            assert may_have == set(range(start, min(run.end, cluster.end)))
        there = [run for run in runs.values() if run.start < run.end]
        for i, first in enumerate(there):
            for second in there[i + 1 :]:
                if first.start <= second.end and second.start <= first.end:
                    assert first.colour != second.colour
        assert runs[None].colour == 0 == runs[min(span.end for span in cluster.spans)].colour


def test_no_choice():
    assert Cluster([TagSpan(1, 3, 0), TagSpan(1, 3, 2)]).leaves_no_choice
    assert not Cluster([TagSpan(1, 3, 0), TagSpan(1, 4, 0)]).leaves_no_choice
