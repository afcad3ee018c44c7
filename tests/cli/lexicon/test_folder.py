import re

import pytest

from spacy_lexner.cli.lexicon.folder import check_output, save
from spacy_lexner.cli.lexicon.sources import WatchedStream, report_skipped
from spacy_lexner.lexicon import Lexicon, LexiconEntry, LexiconError
from spacy_lexner.lexicon.entry import EntryStream


def test_nothing_is_written_over(folder, tmp_path):
    check_output(tmp_path / "new", force=False)
    check_output(folder, force=True)
    with pytest.raises(LexiconError, match="already holds a lexicon"):
        check_output(folder, force=False)
    for path in (tmp_path, folder / "manifest.json"):
        with pytest.raises(LexiconError, match="is not a lexicon"):
            check_output(path, force=True)


def test_entries_pass_unchanged():
    entries = [LexiconEntry("南京"), LexiconEntry("大桥")]
    stream = WatchedStream([EntryStream("a", [(1, entries[0])]), EntryStream("b", [(1, entries[1])])])
    assert [(entry, stream.line) for entry in stream] == [(entries[0], 1), (entries[1], 1)]


def test_what_is_said(tmp_path, capsys):
    lexicon = Lexicon.from_entries([LexiconEntry("南京"), LexiconEntry(" 南京"), LexiconEntry("南\n京")])
    save(lexicon, tmp_path / "out", force=False)
    report_skipped(lexicon.report, duplicates=True)
    output = " ".join(re.sub("\x1b.*?m", "", capsys.readouterr().out).split())
    assert "out: 1 words" in output and "1 entries repeat earlier words" in output
    assert "1 words had white space at their edges: trimmed" in output
    assert "1 entries left out: white space in the word, other than single spaces entries:3" in output
    report_skipped(lexicon.report, duplicates=False)
    assert "came before" not in capsys.readouterr().out
