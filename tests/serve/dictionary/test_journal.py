import errno
import os
import resource
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lexner.serve.dictionary.errors import StateError
from spacy_lexner.serve.dictionary.journal import Journal, dump_record

RECORDS = [{"number": 1, "words": ["长江", "a\tb\nc"]}, {"number": 2}, {"number": 3, "text": "\ud800"}]


def write(path, records=RECORDS):
    journal = Journal(path)
    for record in records:
        journal.append(record)
    journal.close()


def read(path):
    journal = Journal(path)
    found = journal.recover()
    journal.close()
    return found


def test_records_come_back(tmp_path):
    write(tmp_path / "journal")
    assert read(tmp_path / "journal") == (RECORDS, 0)


@given(cut=st.integers(0, len(dump_record(RECORDS[2])) - 1))
def test_a_torn_last_record_is_dropped_wherever_it_was_torn(tmp_path_factory, cut):
    path = tmp_path_factory.mktemp("journal") / "journal"
    whole = b"".join(map(dump_record, RECORDS))
    size = len(whole) - len(dump_record(RECORDS[2])) + cut
    path.write_bytes(whole[:size])
    assert read(path) == (RECORDS[:2], cut)
    write(path, [RECORDS[2]])  # continues after the last complete record
    assert read(path) == (RECORDS, 0)


def test_a_last_record_with_a_wrong_byte_is_dropped(tmp_path):
    path = tmp_path / "journal"
    write(path)
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    assert read(path) == (RECORDS[:2], len(dump_record(RECORDS[2])))


def test_a_record_after_a_clearing_that_failed_late(tmp_path, monkeypatch):
    path = tmp_path / "journal"
    journal = Journal(path)
    journal.append(RECORDS[0])

    def fail(*args):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError):
        journal.clear()  # the records are gone all the same
    with pytest.raises(OSError):
        journal.append(RECORDS[1])
    monkeypatch.undo()
    journal.close()
    assert read(path) == ([], 0)


def test_damage_before_the_last_record_is_an_error(tmp_path):
    path = tmp_path / "journal"
    write(path)
    data = bytearray(path.read_bytes())
    data[len(dump_record(RECORDS[0])) + 3] ^= 1
    path.write_bytes(data)
    with pytest.raises(StateError, match=r"record 2 .* is damaged"):
        read(path)
    assert path.read_bytes() == data


def test_what_is_no_record_is_damage(tmp_path):
    path = tmp_path / "journal"
    path.write_bytes(dump_record([1]) + dump_record(RECORDS[0]))  # a valid checksum, but not an object
    with pytest.raises(StateError, match="record 1 "):
        read(path)


def test_clear(tmp_path):
    journal = Journal(tmp_path / "journal")
    journal.append(RECORDS[0])
    journal.clear()
    journal.append(RECORDS[1])
    assert journal.recover() == ([RECORDS[1]], 0)
    journal.close()


def test_a_record_that_does_not_fit_on_the_disk_leaves_nothing(tmp_path):
    """The limit on file sizes simulates a full disk: part of the record is written, then an error is raised."""
    path = tmp_path / "journal"
    journal = Journal(path)
    journal.append(RECORDS[0])
    size, limits = path.stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, limits[1]))
        with pytest.raises(OSError):
            journal.append(RECORDS[1])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert path.stat().st_size == size and not journal.broken
    journal.append(RECORDS[2])
    assert journal.recover().records == [RECORDS[0], RECORDS[2]]
    journal.close()


def test_a_record_that_may_be_there_or_not_is_not_followed_by_others(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "journal")

    def fail(*args):
        raise OSError(errno.EIO, "the disk is gone")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="the disk is gone"):
        journal.append(RECORDS[0])
    monkeypatch.undo()
    with pytest.raises(OSError, match="can no longer be written"):
        journal.append(RECORDS[1])
    assert journal.broken
    journal.close()
