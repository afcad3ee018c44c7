import pytest

from spacy_lexner.lexicon import Lexicon, LexiconError
from spacy_lexner.lexicon.readers import read_word_list


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("#define\n南京\n\n  长江 \n北\t京\n南京\nair max\n", "utf8")
    return path


def test_words_with_their_lines(path):
    stream = read_word_list(path)
    assert [(stream.line, entry.word) for entry in stream][:4] == [
        (1, "#define"),
        (2, "南京"),
        (4, "  长江 "),
        (5, "北\t京"),
    ]
    lexicon = Lexicon.from_entries(read_word_list(path))
    assert list(lexicon) == ["#define", "南京", "长江", "air max"]
    assert lexicon.report.places == {
        "white_space": [f"{path}:5"],
        "duplicate": [f"{path}:6"],
    }
    assert lexicon.report.n_trimmed == 1 and "1 x white space or invisible" in str(lexicon.report)
    assert str(Lexicon.from_bytes(lexicon.to_bytes()).report) == str(lexicon.report)


def test_comments_and_limit(path):
    assert [entry.word for entry in read_word_list(path, comment="#", limit=1)] == ["南京"]


def test_blank_file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("# nothing\n", "utf8")
    with pytest.raises(LexiconError, match=r"words\.txt: the file holds no words"):
        list(read_word_list(path, comment="#"))
