"""Reading files and their lines: plain, compressed or in a zip archive, in any encoding, with line numbers."""

import bz2
import codecs
import gzip
import io
import lzma
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union, cast

from ..lexicon.limits import Unpacking, exceeded, limit, quote, unpack
from .record import FormatError, ReadOptions
from .report import Report

OPENERS: Dict[str, Callable] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
DAMAGED = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError, OSError, UnicodeDecodeError)
CHUNK = 1 << 20  # bytes read at a time
REPLACED = "line with bytes that are not {}, replaced by U+FFFD"
BYTE_ORDER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Source(NamedTuple):
    """A file, or a member of a zip archive."""

    path: Path  # the file or the archive
    member: Optional[str] = None

    @property
    def name(self) -> str:
        return str(self.path) if self.member is None else f"{self.path}/{self.member}"

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file as a stream of decompressed bytes."""
        if self.member is not None:
            with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as member:
                packed = archive.getinfo(self.member).compress_size
                buffered = io.BufferedReader(member, 1 << 16)  # type: ignore[type-var]
                yield cast(BinaryIO, Unpacking(buffered, self.name, packed, FormatError))
        elif (suffix := self.path.suffix.lower()) in OPENERS:
            file = unpack(OPENERS[suffix], self.path, FormatError)
            try:
                yield file
            finally:
                file.close()
        else:
            with self.path.open("rb") as plain:
                yield plain


def list_sources(path: Union[str, Path]) -> List[Source]:
    """List the files of a path, sorted by name: a file, a folder (all files in it and below except hidden ones), a zip
    archive (all its members) or a member of one (`archive.zip/member`). Raises FileNotFoundError if there are none."""
    path = Path(path)
    archive = next((parent for parent in path.parents if is_archive(parent) and parent.is_file()), None)
    if archive is not None:
        members = _list_members(archive)
        sources = [source for source in members if source.member == path.relative_to(archive).as_posix()]
        if not sources:
            names = ", ".join(str(source.member) for source in members)
            raise FileNotFoundError(f"No such member of the archive: {path}. {archive} has: {names}")
    elif path.is_file():
        sources = _list_file(path)
    elif path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        visible = (file for file in files if not _is_hidden(file.relative_to(path)))
        sources = [source for file in visible for source in _list_file(file)]
    else:
        raise FileNotFoundError(f"No such file or folder: {path}")
    if not sources:
        raise FileNotFoundError(f"There are no files in {path}")
    return sources


def is_archive(path: Path) -> bool:
    """RETURNS (bool): Whether a file is a zip archive, by its name."""
    return path.suffix.lower() == ".zip"


def read_lines(source: Source, options: ReadOptions, report: Report) -> Iterator[Tuple[int, str]]:
    """Read the lines of a file as pairs: the number, from 1, and the line without its end or a byte order mark. Only a
    line feed ends a line, since texts may contain U+2028 and the like. `report` collects lines with replaced bytes."""
    wide = codecs.lookup(options.encoding).name.startswith(("utf-16", "utf-32"))
    try:
        with source.open() as file:
            for number, line in (_read_wide_lines if wide else _read_byte_lines)(file, source, options, report):
                yield number, line.removeprefix("\ufeff") if number == 1 else line
    except DAMAGED as error:
        raise _unreadable(source, error) from error


def read_chunks(source: Source, options: ReadOptions, report: Report) -> Iterator[str]:
    """Read a file piece by piece, with its line ends as they are. See `read_lines`."""
    decoder = codecs.getincrementaldecoder(options.encoding)(options.errors)
    first, n_read, n_lost = True, 0, 0
    try:
        with source.open() as file:
            while raw := file.read(CHUNK):
                text = _decode_chunk(decoder, raw, source, options, n_read, final=False)
                n_read, n_lost = n_read + len(raw), n_lost + text.count("\ufffd")
                yield text.removeprefix("\ufeff") if first else text
                first = False
            yield _decode_chunk(decoder, b"", source, options, n_read, final=True)
    except DAMAGED as error:
        raise _unreadable(source, error) from error
    if n_lost and options.errors == "replace":
        report.add_problem(f"file with bytes that are not {options.encoding}, replaced by U+FFFD", source.name)


def _decode_chunk(
    decoder: codecs.IncrementalDecoder, raw: bytes, source: Source, options: ReadOptions, at: int, *, final: bool
) -> str:
    try:
        return decoder.decode(raw, final)
    except UnicodeError as error:  # a plain UnicodeError, without a place, if UTF-16 has no byte order mark
        hint = _guess_encoding(raw[:-4] or raw, options.encoding)
        start, reason = getattr(error, "start", 0), getattr(error, "reason", error)
        where = f"byte {at + start + 1} or before"
        raise FormatError(f"{source.name}: {where} is not {options.encoding} ({reason}). {hint}") from None


def read_text(source: Source, options: ReadOptions, report: Report) -> str:
    """Read a whole file, with its line ends as they are. See `read_lines`."""
    try:
        with source.open() as file:
            raw = file.read(limit("file") + 1)
    except DAMAGED as error:
        raise _unreadable(source, error) from error
    if len(raw) > limit("file"):
        raise FormatError(f"{source.name}: {exceeded('file', 'more bytes')}; or split the file into several.")
    try:
        text = raw.decode(options.encoding)
    except UnicodeDecodeError as error:
        if options.errors == "strict":
            hint = _guess_encoding(raw, options.encoding)
            raise FormatError(
                f"{source.name}: byte {error.start + 1} is not {options.encoding} ({error.reason}). {hint}"
            ) from None
        report.add_problem(f"file with bytes that are not {options.encoding}, replaced by U+FFFD", source.name)
        text = raw.decode(options.encoding, options.errors)
    return text.removeprefix("\ufeff")


def _unreadable(source: Source, error: Exception) -> FormatError:
    return FormatError(f"{source.name}: the archive is damaged or cannot be read ({error}).")


def _list_file(path: Path) -> List[Source]:
    return _list_members(path) if is_archive(path) else [Source(path)]


def _list_members(path: Path) -> List[Source]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(info.filename for info in archive.infolist() if not info.is_dir())
    except DAMAGED as error:
        raise FormatError(f"{path} is not a zip archive, or is damaged: {error}.") from error
    for name in names:
        if ".." in PurePosixPath(name).parts or name.startswith(("/", "\\")) or ":" in name[:3]:
            raise FormatError(f"{path}: the member {quote(name)} would be outside the archive. Pack its files again.")
    return [Source(path, name) for name in names if not _is_hidden(Path(name))]


def _is_hidden(path: Path) -> bool:
    return any((part.startswith(".") and part.strip(".")) or part == "__MACOSX" for part in path.parts)


def _read_byte_lines(file: BinaryIO, source: Source, options: ReadOptions, report: Report) -> Iterator[Tuple[int, str]]:
    """Lines in an encoding in which the byte 0x0A is always a line feed."""
    number = 0
    most = limit("line")
    while raw := file.readline(most + 1):
        number += 1
        if len(raw) > most:
            raise FormatError(f"{source.name}:{number}: {exceeded('line', 'a line of more bytes')}. Is it a text file?")
        try:
            line = raw.decode(options.encoding)
        except UnicodeDecodeError as error:
            if options.errors == "strict":
                found = f"byte {error.start + 1} of the line is not {options.encoding} ({error.reason})"
                hint = _guess_encoding(raw, options.encoding)
                raise FormatError(f"{source.name}:{number}: {found}. {hint}") from None
            report.add_problem(REPLACED.format(options.encoding), f"{source.name}:{number}")
            line = raw.decode(options.encoding, options.errors)
        yield number, line.rstrip("\r\n")


def _read_wide_lines(file: BinaryIO, source: Source, options: ReadOptions, report: Report) -> Iterator[Tuple[int, str]]:
    number = 0
    try:
        with io.TextIOWrapper(file, encoding=options.encoding, errors=options.errors, newline="\n") as text:
            while line := text.readline(limit("line") + 1):
                number += 1
                if len(line) > limit("line"):
                    raise FormatError(f"{source.name}:{number}: {exceeded('line', 'a line of more characters')}.")
                if options.errors == "replace" and "\ufffd" in line:  # or it was there before
                    report.add_problem(REPLACED.format(options.encoding), f"{source.name}:{number}")
                yield number, line.rstrip("\r\n")
    except UnicodeError as error:
        raise FormatError(f"{source.name}:{number + 1} or later: not {options.encoding} ({error}).") from None


def _guess_encoding(raw: bytes, encoding: str) -> str:
    """Describe the remedy for bytes that cannot be decoded."""
    for guess in ("utf-16",) if raw[:2] in BYTE_ORDER_MARKS else ("utf-8", "gb18030"):
        try:
            raw.decode(guess, "replace" if guess == "utf-16" else "strict")
        except UnicodeDecodeError:
            continue
        if codecs.lookup(guess).name != codecs.lookup(encoding).name:
            return (
                f"It looks like {guess}: read it with that encoding (convert --encoding {guess}), or save it as UTF-8."
            )
    return (
        "Give the right encoding (convert --encoding), replace what cannot be decoded (convert --errors replace), or "
        "save it as UTF-8."
    )
