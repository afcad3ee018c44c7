from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.pretraining.overlap import ProtectedTexts

LONG = "昨天下午我们在南京市长江大桥边上看见了很多从各地来的游客他们都在拍照留念。"
SHORT = "转发这条微博的人都会有好运气的。"


def found(texts, **options):
    protected = ProtectedTexts([("weibo dev", LONG), ("weibo test", SHORT), ("weibo test", "转发微博")], **options)
    return [(overlap.source, overlap.line) for overlap in protected.find(texts)]


def test_whole_texts_and_long_runs_are_found_wherever_they_stand():
    texts = ["无关的一行。", f"他说：{SHORT}真的吗？", LONG[3:35], f"前言{LONG}", "转发微博"]
    assert found(texts) == [("weibo test", 2), ("weibo dev", 3), ("weibo dev", 4)]


def test_shorter_runs_are_not():
    assert found([LONG[:29], SHORT[:-1], LONG[:20] + LONG[21:]]) == []


def test_white_space_hides_nothing():
    assert found([" ".join(SHORT), "\u3000" + LONG.replace("长江", "长 江")]) == [("weibo test", 1), ("weibo dev", 2)]


def test_a_text_is_reported_once():
    assert len(found([SHORT * 3 + LONG])) == 1


@given(st.lists(st.text("天地人和", max_size=12), max_size=8), st.text("天地人和", max_size=30))
def test_the_same_as_a_loop(protected, text):
    run, shortest = 6, 3
    long_enough = [other for other in protected if len(other) >= shortest]
    expected = any(
        other in text if len(other) < run else any(other[i : i + run] in text for i in range(len(other) - run + 1))
        for other in long_enough
    )
    index = ProtectedTexts([("set", other) for other in protected], run=run, shortest=shortest)
    assert index.n_texts == len(long_enough)
    assert bool(list(index.find([text]))) == expected
