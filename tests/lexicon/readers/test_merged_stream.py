from spacy_lexner.lexicon import LexiconEntry
from spacy_lexner.lexicon.entry import EntryStream
from spacy_lexner.lexicon.readers.merged_stream import MergedStream


def test_merged_stream_names_the_current_one():
    first, second = (EntryStream(name, [(1, LexiconEntry(name))]) for name in "ab")
    empty = EntryStream("none", [])
    merged = MergedStream([first, empty, second])
    assert [(entry.word, merged.source, merged.line) for entry in merged] == [("a", "a", 1), ("b", "b", 1)]
