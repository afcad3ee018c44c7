from spacy_lexner.lexicon import LexiconEntry
from spacy_lexner.lexicon.stream import EntryStream, MergedStream, to_stream


def test_stream_knows_where_it_is():
    stream = EntryStream("a.txt", [(3, LexiconEntry("甲")), (7, LexiconEntry("乙"))])
    assert [(entry.word, stream.source, stream.line) for entry in stream] == [("甲", "a.txt", 3), ("乙", "a.txt", 7)]


def test_merged_stream_names_the_current_one():
    first, second = (EntryStream(name, [(1, LexiconEntry(name))]) for name in "ab")
    empty = EntryStream("none", [])
    merged = MergedStream([first, empty, second])
    assert [(entry.word, merged.source, merged.line) for entry in merged] == [("a", "a", 1), ("b", "b", 1)]


def test_plain_entries_are_numbered():
    stream = to_stream([LexiconEntry("甲"), LexiconEntry("乙")])
    assert [(entry.word, stream.source, stream.line) for entry in stream] == [
        ("甲", "entries", 1),
        ("乙", "entries", 2),
    ]
    assert to_stream(stream) is stream
