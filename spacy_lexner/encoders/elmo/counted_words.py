"""Files of words with their counts: one `word<TAB>count` per line, most frequent first."""

from pathlib import Path
from typing import Iterable, List, Tuple, Union

from ...lexicon.writing import whole_file

CountedWords = List[Tuple[str, int]]


def read_counted_words(path: Union[str, Path]) -> CountedWords:
    """Read a file written by `spacy lexner count-words`.

    path (Union[str, Path]): The file, UTF-8.
    RETURNS (CountedWords): Words and counts in file order. Raises ValueError with the number of the first bad line.
    """
    if not Path(path).is_file():
        raise ValueError(f"{path} does not exist. Make a file of counted words with 'spacy lexner count-words'.")
    words: CountedWords = []
    seen = set()
    with open(path, encoding="utf-8-sig", newline="\n") as file:  # some editors write a byte-order mark
        try:
            for number, line in enumerate(file, 1):
                word, tab, count = line.rstrip("\r\n").rpartition("\t")
                if not (word and tab and count.isdecimal()) or word in seen:
                    problem = "repeats a word" if word in seen else "is not a word, a tab and a count"
                    raise ValueError(f"{path}, line {number} {problem}: {line.rstrip()!r}.")
                seen.add(word)
                words.append((word, int(count)))
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not UTF-8 after line {len(words)}: {error}.") from error
    if not words:
        raise ValueError(f"{path} contains no words.")
    return words


def write_counted_words(words: Iterable[Tuple[str, int]], path: Union[str, Path]) -> None:
    """Write words, which must not contain tabs or line ends, and their counts: all of them, or no file."""
    with whole_file(Path(path)) as file:
        file.writelines(f"{word}\t{count}\n".encode() for word, count in words)
