import copy
import gc
import pickle
import threading

import numpy as np

from spacy_lexner.lexicon import Lexicon, LexiconEntry, Matcher, SharedMatcher
from spacy_lexner.lexicon.shared_matcher import find_matcher


def matcher(*words):
    return Matcher(Lexicon.from_entries(map(LexiconEntry, words)))


def test_current_and_the_last_few():
    source = SharedMatcher()
    assert source.matcher is None and source.get(1) is None
    matchers = [matcher(f"词{i}") for i in range(12)]
    for each in matchers:
        source.set(each)
        assert source.matcher is each
    assert [source.get(each.version) is each for each in matchers] == [False] * 4 + [True] * 8


def test_setting_a_known_one_again_keeps_the_others():
    first, second = matcher("甲"), matcher("乙")
    source = SharedMatcher(first)
    for each in [second, first] * 20:
        source.set(each)
    assert source.matcher is first and source.get(second.version) is second


def test_a_copy_is_the_same_source():
    source = SharedMatcher(matcher("甲"))
    assert copy.deepcopy({"link": source})["link"] is source
    assert pickle.loads(pickle.dumps(source)).matcher.version == source.matcher.version


def test_pinned():
    """A thread that has pinned a source sees it as it was; others, and it itself afterwards, see it as it is."""
    first, second, third = matcher("甲"), matcher("乙"), matcher("丙")
    source, other = SharedMatcher(first), SharedMatcher(second)
    with source.pinned():
        source.set(second)
        assert source.matcher is first and source.get(second.version) is None
        with other.pinned(), source.pinned():
            other.set(third)
            source.set(third)
            assert source.matcher is first and other.matcher is second
        assert other.matcher is third
        seen = []
        thread = threading.Thread(target=lambda: seen.append(source.matcher))
        thread.start()
        thread.join()
        assert seen == [third]
    assert source.matcher is third and source.get(first.version) is first


def test_pinned_to_a_matcher_of_its_own():
    first, other = matcher("甲"), matcher("乙")
    source = SharedMatcher(first)
    with source.pinned(other):
        assert source.matcher is other and source.get(first.version) is None
        with source.pinned():
            assert source.matcher is other
        assert find_matcher(other.version) is other  # for the labels of its words
    assert source.matcher is first and source.get(other.version) is None


def test_readers_see_one_lexicon_or_the_other():
    """Threads match while others replace the lexicon: a batch's matches are from one lexicon, with known hashes."""
    texts = ["南京市长江大桥"] * 50
    matchers = [matcher("南京", "长江"), matcher("南京市", "长江大桥"), matcher("市长", "江大桥")]
    expected = {each.version: [array.tolist() for array in each.match(texts)[0]] for each in matchers}
    source = SharedMatcher(matchers[0])
    stop, wrong = threading.Event(), []

    def swap():
        while not stop.is_set():
            for each in matchers:
                source.set(each)

    def read():
        for _ in range(150):
            current = source.matcher
            words, _ = current.match(texts)
            if [array.tolist() for array in words] != expected[current.version]:
                wrong.append(current.version)
            if source.get(current.version) is None or (current.lexicon.rows(words.hashes) < 0).any():
                wrong.append(current.version)

    swapper = threading.Thread(target=swap)
    readers = [threading.Thread(target=read) for _ in range(4)]
    swapper.start()
    for thread in readers:
        thread.start()
    for thread in readers:
        thread.join()
    stop.set()
    swapper.join()
    assert not wrong


def test_threads_share_a_changed_lexicon():
    """The overlay is compiled at the first match: in whichever thread, all find the same."""
    for _ in range(20):
        changed = Matcher(matcher("南京").lexicon.with_words(["长江", "大桥"]))
        barrier = threading.Barrier(4)
        found = []

        def match(each=changed, barrier=barrier, found=found):
            barrier.wait()
            found.append(each.match(["南京市长江大桥"] * 10)[0].starts.tolist())

        threads = [threading.Thread(target=match) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 4 and all(np.array_equal(each, [0, 3, 5] * 10) for each in found)


def test_matchers_in_use_are_known_by_their_version():
    first, second = matcher("在用"), matcher("不在用")
    source = SharedMatcher(first)
    assert find_matcher(first.version) is first and find_matcher(second.version) is None
    source.set(second)
    assert find_matcher(second.version) is second
    version = first.version
    del source, first
    gc.collect()
    assert find_matcher(version) is None
    loaded = pickle.loads(pickle.dumps(SharedMatcher(second)))
    assert find_matcher(second.version).version == loaded.matcher.version
