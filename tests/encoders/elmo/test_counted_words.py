import pytest

from spacy_lexner.encoders.elmo.counted_words import read_counted_words, write_counted_words

WORDS = [("的", 7), ("长江 大桥", 3), ("\u2028", 2), ("#", 1)]


def test_round_trip(tmp_path):
    write_counted_words(WORDS, tmp_path / "words.tsv")
    assert read_counted_words(tmp_path / "words.tsv") == WORDS


def test_an_interruption_leaves_the_earlier_file(tmp_path):
    def interrupted():
        yield from WORDS[:1] * 10_000
        raise KeyboardInterrupt

    write_counted_words(WORDS, tmp_path / "words.tsv")
    with pytest.raises(KeyboardInterrupt):
        write_counted_words(interrupted(), tmp_path / "words.tsv")
    assert read_counted_words(tmp_path / "words.tsv") == WORDS


def test_a_file_that_an_editor_on_windows_has_saved(tmp_path):
    (tmp_path / "words.tsv").write_bytes("\ufeff的\t7\r\n长江 大桥\t3\r\n".encode())
    assert read_counted_words(tmp_path / "words.tsv") == WORDS[:2]


@pytest.mark.parametrize(
    "content, message",
    [
        (b"a\t1\nb\n", "line 2 is not a word, a tab and a count"),
        (b"a\t1\n\t2\n", "line 2 is not"),
        (b"a\tmany\n", "line 1 is not"),
        (b"a\t1\na\t2\n", "line 2 repeats a word"),
        (b"", "contains no words"),
        ("长\t1\n".encode("gbk"), "is not UTF-8 after line 0"),
    ],
)
def test_wrong_files(tmp_path, content, message):
    (tmp_path / "words.tsv").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_counted_words(tmp_path / "words.tsv")


def test_missing_file(tmp_path):
    with pytest.raises(ValueError, match="count-words"):
        read_counted_words(tmp_path / "words.tsv")
