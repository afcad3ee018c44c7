import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kills import leftovers

from spacy_lexner.lexicon import Lexicon, LexiconEntry, LexiconError, Matcher, part_file
from spacy_lexner.lexicon.checksum import checksum_of

TEXTS = ["南京市长江大桥", "武汉 长江大桥", ""]


def described(lexicon):
    """All that a lexicon holds."""
    entries = [
        (entry.word, None if entry.vector is None else entry.vector.tolist(), *entry[2:]) for entry in lexicon.entries()
    ]
    return entries, lexicon.version, lexicon.dim, lexicon.normalization, vars(lexicon.report)


def found(lexicon):
    words, borders = Matcher(lexicon).match(TEXTS)
    return [array.tolist() for array in (*words, borders)]


@pytest.fixture
def saved(lexicon, tmp_path):
    lexicon.save(tmp_path / "lexicon")
    return tmp_path / "lexicon"


def part(folder, name):
    return next(folder.glob(f"{name}-*"))


@pytest.mark.parametrize("verify", [False, True])
def test_folder_round_trip(lexicon, saved, verify):
    opened = Lexicon.open(saved, verify=verify)
    assert described(opened) == described(lexicon) and found(opened) == found(lexicon)
    assert (part(saved, "words").read_text("utf8").splitlines()) == list(lexicon)


def test_bytes_round_trip(lexicon):
    copy = Lexicon.from_bytes(lexicon.to_bytes())
    assert described(copy) == described(lexicon) and found(copy) == found(lexicon)


@pytest.mark.parametrize("entries", [[], [LexiconEntry("甲")], [LexiconEntry("甲", np.ones(2)), LexiconEntry("乙乙")]])
def test_round_trips_of_small_lexicons(tmp_path, entries):
    lexicon = Lexicon.from_entries(entries, dtype="float16")
    lexicon.save(tmp_path)
    assert described(Lexicon.open(tmp_path, verify=True)) == described(lexicon)
    assert described(Lexicon.from_bytes(lexicon.to_bytes())) == described(lexicon)


def test_arrays_are_mapped_not_read(saved):
    opened = Lexicon.open(saved)
    base = opened.base
    arrays = [base.hashes, base.rows, base.trie.keys, base.trie.words, base.table.vectors, base.table.words.data]
    for array in arrays:
        while not isinstance(array, np.memmap) and array is not None:
            array = array.base
        assert isinstance(array, np.memmap)


def test_changes_are_saved(lexicon, saved):
    changed = Lexicon.open(saved).with_words(["武汉"]).without_words(["长江"])
    changed.save(saved)
    opened = Lexicon.open(saved, verify=True)
    assert opened.version == changed.version and found(opened) == found(changed)
    assert not leftovers(saved)  # the old parts are deleted
    assert found(changed) != found(lexicon)


def test_saving_again_changes_no_file(lexicon, saved):
    before = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in saved.iterdir()}
    Lexicon.open(saved).save(saved)
    assert {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in saved.iterdir()} == before


def test_foreign_files_in_the_folder_stay(lexicon, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "words-of-mine.txt").write_text("mine")
    lexicon.save(tmp_path)
    lexicon.with_words(["新"]).save(tmp_path)
    assert (tmp_path / "notes.txt").exists() and (tmp_path / "words-of-mine.txt").exists()


def test_leftovers_of_a_broken_save_go(lexicon, tmp_path):
    for name in (".part-0", "words-0123456789abcdef.txt", "notes.txt"):
        (tmp_path / name).write_bytes(b"x")
    lexicon.save(tmp_path)
    assert leftovers(tmp_path) == {"notes.txt"}


@pytest.mark.parametrize("name", ["words", "index", "trie", "vectors"])
@pytest.mark.parametrize("damage", ["cut", "longer", "empty", "missing"])
def test_part_of_another_size_is_refused_by_name(saved, name, damage):
    file = part(saved, name)
    data = file.read_bytes()
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes({"cut": data[:-1], "longer": data + b"x", "empty": b""}[damage])
    with pytest.raises(LexiconError, match=file.name):
        Lexicon.open(saved)


@pytest.mark.parametrize("name", ["index", "trie", "vectors"])
def test_foreign_part_of_the_same_size_is_refused(saved, name):
    file = part(saved, name)
    file.write_bytes(os.urandom(8).replace(b"\0", b"\1") + b"x" * (file.stat().st_size - 8))
    with pytest.raises(LexiconError, match=file.name):
        Lexicon.open(saved)


def test_part_of_another_lexicon_is_refused(saved, tmp_path):
    other = tmp_path / "other"
    Lexicon.from_entries([LexiconEntry("甲", np.ones(4))]).save(other)
    parts = json.loads((saved / "manifest.json").read_text("utf8"))["parts"]
    foreign = json.loads((other / "manifest.json").read_text("utf8"))["parts"]["trie"]
    shutil.copy(other / foreign["file"], saved)
    forge(saved, parts={**parts, "trie": foreign})
    with pytest.raises(LexiconError, match=r"in the part 'trie' is .*; expected"):
        Lexicon.open(saved)


@pytest.mark.parametrize(
    "change,message",
    [
        ({"format": "something"}, "not the manifest of a lexicon"),
        ({"format_version": 99}, "format version 99; this version of spacy-lexner reads 1"),
        ({"n_words": 3}, "was changed after it was written"),
        ({"parts": {}}, "was changed after it was written"),
    ],
)
def test_edited_manifest_is_refused(saved, change, message):
    file = saved / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf8")), **change}), "utf8")
    with pytest.raises(LexiconError, match=message):
        Lexicon.open(saved)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", "[" * 100_000, '{"format": 3}'])
def test_foreign_manifest_is_refused(saved, text):
    (saved / "manifest.json").write_text(text)
    with pytest.raises(LexiconError, match=r"manifest\.json: not the manifest of a lexicon"):
        Lexicon.open(saved)


def test_huge_manifest_is_refused(saved):
    (saved / "manifest.json").write_bytes(b" " * (2 << 20))
    with pytest.raises(LexiconError, match="it is too large"):
        Lexicon.open(saved)


def forge(folder, **changes):
    """Change the manifest as someone who knows the format would."""
    file = folder / "manifest.json"
    manifest = {**json.loads(file.read_text("utf8")), **changes}
    manifest["checksum"] = checksum_of(manifest)
    file.write_text(json.dumps(manifest), "utf8")


@pytest.mark.parametrize("name", ["../words-0123456789abcdef.txt", "/etc/passwd", "words.txt", "manifest.json"])
def test_part_outside_the_folder_is_refused(saved, name):
    forge(saved, parts={"words": {"file": name, "bytes": 1, "sha256": ""}})
    with pytest.raises(LexiconError, match=r"manifest\.json, is not the name of a part"):
        Lexicon.open(saved)


@pytest.mark.parametrize(
    "changes",
    [
        {"parts": [1]},
        {"parts": {"words": {}}},
        {"parts": {"words": {"file": 3}}},
        {"parts": {}},
        {"n_words": -1},
        {"n_words": "many"},
        {"dim": 2**60},
        {"dtype": "object"},
        {"columns": 3},
        {"normalization": {"magic": True}},
        {"content": "zz"},
        {"report": None},
    ],
)
def test_forged_manifest_is_refused(saved, changes):
    forge(saved, **changes)
    with pytest.raises(LexiconError, match=f"^{saved}"):
        Lexicon.open(saved)


@pytest.mark.parametrize("path", ["nowhere", "."])
def test_no_lexicon_here(tmp_path, path):
    with pytest.raises(LexiconError, match="no lexicon here"):
        Lexicon.open(tmp_path / path)


def use(lexicon):
    """Use everything that reads the arrays. Raises only errors that say what is wrong."""
    words, _ = Matcher(lexicon).match(TEXTS)
    lexicon.vectors(words.hashes)
    list(lexicon)
    lexicon.get("长江")


@pytest.mark.parametrize("name", ["words", "index", "trie", "vectors", "manifest"])
def test_every_damaged_byte(saved, name):
    """No flipped byte crashes the process, makes it hang, or passes the hash check."""
    file = saved / "manifest.json" if name == "manifest" else part(saved, name)
    data = bytearray(file.read_bytes())
    for i in range(0, len(data), max(1, len(data) // 150)):
        original, data[i] = data[i], data[i] ^ (1 << i % 8)
        file.write_bytes(data)
        with pytest.raises(LexiconError):
            Lexicon.open(saved, verify=True)
        with suppress(LexiconError, IndexError, MemoryError, ValueError):
            use(Lexicon.open(saved))
        data[i] = original


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_bytes(lexicon, data):
    packed = bytearray(lexicon.to_bytes())
    kind = data.draw(st.sampled_from(["flip", "cut", "any"]))
    if kind == "flip":
        packed[data.draw(st.integers(0, len(packed) - 1))] ^= data.draw(st.integers(1, 255))
    elif kind == "cut":
        packed = packed[: data.draw(st.integers(0, len(packed) - 1))]
    else:
        packed = data.draw(st.binary(max_size=100))
    try:
        use(Lexicon.from_bytes(bytes(packed)))
    except LexiconError:
        pass
    else:
        assert kind == "flip"


def test_failed_save_leaves_the_old_lexicon(lexicon, saved, monkeypatch):
    before = described(Lexicon.open(saved))
    files = sorted(file.name for file in saved.iterdir())

    def full_disk(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(part_file.os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        lexicon.with_words(["武汉"]).save(saved)
    assert sorted(file.name for file in saved.iterdir()) == files
    assert described(Lexicon.open(saved, verify=True)) == before


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root may write anywhere")
def test_read_only_folder(lexicon, saved):
    saved.chmod(0o500)
    with pytest.raises(PermissionError):
        lexicon.with_words(["武汉"]).save(saved)
    saved.chmod(0o700)
    assert described(Lexicon.open(saved, verify=True)) == described(lexicon)


@pytest.mark.parametrize("n_replaced", range(6))
def test_killed_save_leaves_the_old_lexicon_or_the_new_one(saved, n_replaced):
    """The process is killed before it moves the first, second, ... file into its place; the manifest is the last."""
    script = f"""
        import os, signal
        from spacy_lexner.lexicon import Lexicon

        replace, count = os.replace, 0

        def killed_replace(source, target):
            global count
            if count == {n_replaced}:
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1
            replace(source, target)

        os.replace = killed_replace
        Lexicon.open({str(saved)!r}).with_words(["武汉"]).save({str(saved)!r})
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    opened = Lexicon.open(saved, verify=True)
    complete = n_replaced == 5
    assert done.returncode == (0 if complete else -signal.SIGKILL)
    assert ("武汉" in opened) == complete
    opened.with_words(["重庆"]).save(saved)
    assert "重庆" in Lexicon.open(saved, verify=True)


def test_unchanged_lexicon_is_linked_not_written_again(saved, tmp_path):
    opened = Lexicon.open(saved)
    opened.save(tmp_path / "copy")
    files = {file.name for file in saved.iterdir()}
    assert {file.name for file in (tmp_path / "copy").iterdir()} == files
    for name in files - {"manifest.json", ".lock"}:
        assert (tmp_path / "copy" / name).samefile(saved / name)
    assert next(iter(Lexicon.open(tmp_path / "copy", verify=True).entries())).word == next(iter(opened))
    opened.save(tmp_path / "copy")
    opened.save(saved)
    assert {file.name for file in saved.iterdir()} == files


def test_without_links_parts_are_copied(saved, tmp_path, monkeypatch):
    def refuse(source, target):
        raise OSError("no links here")

    monkeypatch.setattr("os.link", refuse)
    Lexicon.open(saved).save(tmp_path / "copy")
    assert Lexicon.open(tmp_path / "copy", verify=True).version == Lexicon.open(saved).version


def test_home_that_holds_another_lexicon_is_not_linked(saved, tmp_path):
    opened = Lexicon.open(saved)
    version = opened.version
    Lexicon.from_entries([LexiconEntry("别的")]).save(saved)
    opened.save(tmp_path / "copy")
    assert Lexicon.open(tmp_path / "copy").version == version


def test_large_parts_are_checked_by_pages_all_over(lexicon, tmp_path, monkeypatch):
    monkeypatch.setattr(part_file, "SMALL", 100)
    monkeypatch.setattr(part_file, "PAGE", 8)
    monkeypatch.setattr(part_file, "N_PAGES", 4)
    lexicon.save(tmp_path / "saved")
    large = [part for part in (tmp_path / "saved").glob("*-*") if part.stat().st_size > 100]
    assert large
    for part in large:
        original = part.read_bytes()
        for place in (0, len(original) - 1):
            flipped = bytearray(original)
            flipped[place] ^= 1
            part.write_bytes(flipped)
            with pytest.raises(LexiconError, match=rf"{part.name}: the SHA-256"):
                Lexicon.open(tmp_path / "saved")
        part.write_bytes(original)
    assert described(Lexicon.open(tmp_path / "saved")) == described(lexicon)


def test_a_link_out_of_the_folder_is_refused(saved, tmp_path):
    part = next(saved.glob("words-*"))
    part.rename(tmp_path / "outside.txt")
    part.symlink_to(tmp_path / "outside.txt")
    with pytest.raises(LexiconError, match="a link to a file outside"):
        Lexicon.open(saved)
