import json

import pytest

from spacy_lexner.integrity.seal import (
    LARGE,
    SEAL,
    SealedFolder,
    SealError,
    SealWarning,
    read_seal,
    seal_bytes,
    unseal_bytes,
    write_seal,
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cfg").write_bytes(b"settings")
    (tmp_path / "model").write_bytes(bytes(LARGE))
    write_seal(tmp_path, ["cfg", "model"])
    return tmp_path


def read(folder, *names):
    with SealedFolder(folder) as files:
        return [files.read(name) for name in names]


def test_files_are_handed_out(folder):
    assert read(folder, "cfg", "model") == [b"settings", bytes(LARGE)]


@pytest.mark.parametrize("name", ["cfg", "model"])
@pytest.mark.parametrize(
    ("change", "message"), [("flip", "SHA-256"), ("cut", "truncated"), ("remove", "cannot be read")]
)
def test_a_difference_names_the_file(folder, name, change, message):
    path = folder / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.unlink() if change == "remove" else path.write_bytes(bytes(data) if change == "flip" else data[:-1])
    with pytest.raises(SealError, match=rf"{name}: .*{message}.*lexner seal"):
        read(folder, "cfg", "model")


def test_a_file_that_is_not_sealed(folder):
    (folder / "rules").write_text("")
    with pytest.raises(SealError, match=r"rules: .*does not list this file"):
        read(folder, "rules")


def test_a_difference_matters_more_than_what_came_of_it(folder):
    (folder / "model").write_bytes(bytes([1] * LARGE))
    with pytest.raises(SealError, match="SHA-256"), SealedFolder(folder) as files:
        files.read("model")
        raise KeyError("what a parser makes of it")


def test_every_byte_of_the_seal_counts(folder):
    original = (folder / SEAL).read_bytes()
    for i in range(len(original)):
        flipped = bytearray(original)
        flipped[i] ^= 1
        (folder / SEAL).write_bytes(flipped)
        try:
            read(folder, "cfg", "model")
        except SealError:
            continue
        assert json.loads(flipped) == json.loads(original)  # white space


@pytest.mark.parametrize("seal", ["", "[]", "null", "{}", "[" * 100_000, '{"format": 1, "format_version": 1}'])
def test_what_is_no_seal(folder, seal):
    (folder / SEAL).write_text(seal)
    with pytest.raises(SealError, match=f"{SEAL}: not a seal"):
        read_seal(folder)


def test_without_a_seal_there_is_a_warning(folder):
    (folder / SEAL).unlink()
    with pytest.warns(SealWarning, match="lexner seal"):
        assert read(folder, "cfg") == [b"settings"]


def test_a_link_out_of_the_folder_is_refused(folder, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "cfg"
    outside.write_bytes(b"settings")
    (folder / "cfg").unlink()
    (folder / "cfg").symlink_to(outside)
    with pytest.raises(SealError, match="link to a file outside"):
        read(folder, "cfg")


def test_bytes():
    sealed = seal_bytes(b"data")
    assert unseal_bytes(sealed, "ner") == b"data"
    for i in range(len(sealed)):
        flipped = bytearray(sealed)
        flipped[i] ^= 1
        with pytest.raises(SealError, match="ner: these are not the bytes"):
            unseal_bytes(bytes(flipped), "ner")
    with pytest.raises(SealError):
        unseal_bytes(b"", "ner")


def test_a_component_that_was_not_saved(tmp_path):
    with pytest.raises(SealError, match=r"no such folder.*leave it out here too: exclude=\['lex_matcher'\]"):
        read(tmp_path / "lex_matcher", "cfg")
