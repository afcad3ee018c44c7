"""Memory of readers: a large file in each format, generated here, is read in a separate process.

    python benchmarks/streaming.py [--megabytes 100] [FORMAT ...]

`.spacy` files are spaCy's own and are read as a whole. The last line is a JSON object: for each format the peak memory
in MB, including everything its reader imports, of a process that reads a small file and of one that reads the large
one.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable, Dict, Iterable, Iterator

TEXT = "我在南京市长江大桥上看见了北京大学的张三和李四，今天天气很好。" * 3
WORDS = [TEXT[i : i + 2] for i in range(0, len(TEXT), 2)]
VECTOR = " ".join(["0.123456"] * 50)


def lines(line: str) -> Callable[[], Iterator[str]]:
    def make() -> Iterator[str]:
        while True:
            yield f"{line}\n"

    return make


def numbered(line: str) -> Callable[[], Iterator[str]]:
    def make() -> Iterator[str]:
        number = 0
        while True:
            yield f"{line.replace('#', str(number))}\n"
            number += 1

    return make


def headed(head: str, line: str) -> Callable[[], Iterator[str]]:
    def make() -> Iterator[str]:
        yield f"{head}\n"
        yield from numbered(line)()

    return make


def listed(item: str) -> Callable[[], Iterator[str]]:
    def make() -> Iterator[str]:
        yield f"[{item}\n"
        while True:
            yield f",{item}\n"

    return make


COLUMNS = "\t".join("_" * 5)
CONLLU = "".join(f"{i}\t{word}\t_\tNOUN\tNN\t{COLUMNS}\n" for i, word in enumerate(WORDS, 1))
REGION = '{"type": "labels", "value": {"start": 2, "end": 4, "text": "南京", "labels": ["GPE"]}}'
FILES: Dict[str, Callable[[], Iterable[str]]] = {
    "conll": lines("".join(f"{c} {'B-GPE' if c == '南' else 'O'}\n" for c in TEXT)),
    "word-tags": lines("".join(f"{word[0]} B-NOUN\n" for word in WORDS)),
    "word-text": lines(" ".join(WORDS)),
    "conllu": lines(CONLLU),
    "clue": lines(f'{{"text": "{TEXT}", "label": {{"GPE": {{"南京": [[2, 3]]}}}}}}'),
    "prodigy": lines(f'{{"text": "{TEXT}", "spans": [{{"start": 2, "end": 4, "label": "GPE"}}], "answer": "accept"}}'),
    "doccano": lines(f'{{"text": "{TEXT}", "label": [[2, 4, "GPE"]]}}'),
    "label-studio": listed(f'{{"data": {{"text": "{TEXT}"}}, "annotations": [{{"result": [{REGION}]}}]}}'),
    "spacy-llm": listed(f'{{"text": "{TEXT}", "entities": {{"GPE": ["南京"]}}}}'),
    "words": numbered("南京#"),
    "jieba": numbered("南京# 3 ns"),
    "vectors": numbered(f"南京# {VECTOR}"),
    "table": numbered("南京#\t3\tGPE"),
    "txt": lines(TEXT),
    "jsonl": lines(f'{{"text": "{TEXT}", "id": 1}}'),
    "csv": headed("id,text", f'#,"{TEXT}"'),
    "tsv": headed("id\ttext", f"#\t{TEXT}"),
    "yaml": lines(f'- text: "{TEXT}"\n  entities:\n    GPE: ["南京"]'),
}
SPECIAL = ("parquet", "brat", "spacy")
WORDS_ONLY = ("words", "jieba", "vectors", "table")  # read by `spacy_lexner.lexicon`
TEXTS = ("txt", "jsonl", "csv", "tsv", "parquet", "spacy")  # read by `lexner annotate`


def write(path: Path, format: str, size: int) -> None:
    """Write a file (for brat, a folder of files) of at least `size` bytes."""
    if format in SPECIAL:
        return {"parquet": write_parquet, "brat": write_brat, "spacy": write_spacy}[format](path, size)
    with path.open("w", encoding="utf8") as file:
        for piece in FILES[format]():
            file.write(piece)
            if (size := size - len(piece.encode("utf8"))) <= 0:
                break
        file.write("]" if format in ("label-studio", "spacy-llm") else "")


def write_parquet(path: Path, size: int) -> None:
    """One group of rows, as pandas writes it."""
    import pyarrow
    import pyarrow.parquet

    texts = [f"{i}{TEXT}" for i in range(size // len(TEXT.encode("utf8")))]
    pyarrow.parquet.write_table(pyarrow.table({"text": texts}), path, compression=None, use_dictionary=False)


def write_brat(path: Path, size: int) -> None:
    path.mkdir(exist_ok=True)
    text = TEXT * 100
    for i in range(1 + size // len(text.encode("utf8"))):
        (path / f"{i:06d}.txt").write_text(text, "utf8")
        (path / f"{i:06d}.ann").write_text("T1\tGPE 2 4\t南京\n", "utf8")


def write_spacy(path: Path, size: int) -> None:
    import spacy
    from spacy.tokens import DocBin

    nlp = spacy.blank("zh")
    per_doc = 12 * 8 * len(TEXT)  # bytes of its tokens, before they are packed
    DocBin(docs=[nlp.make_doc(TEXT)] * (1 + size // per_doc)).to_disk(path)


def read(path: str, format: str) -> None:
    """Read a file, importing only what its reader needs."""
    count = sum(1 for _ in items(path, format))
    # Not ru_maxrss, which on Linux includes the parent's memory from before it started this process.
    peak = int(re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024  # type: ignore[index]
    print(json.dumps({"items": count, "peak_mb": round(peak)}))


def items(path: str, format: str) -> Iterable[object]:
    if format in WORDS_ONLY:
        from spacy_lexner.lexicon.readers.any_file import read_any

        return read_any(path, format)
    if format in TEXTS:
        from spacy_lexner.scale.inputs import read_records as read_texts
        from spacy_lexner.scale.records import InputOptions

        return read_texts([path], InputOptions(format=format))
    from spacy_lexner.formats.read import list_inputs, read_records
    from spacy_lexner.formats.record import ReadOptions
    from spacy_lexner.formats.report import Report

    format = "spacy-llm" if format == "yaml" else format
    [source] = list_inputs(path, format)
    return read_records(source, format, ReadOptions(), Report())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("formats", nargs="*", metavar="FORMAT", choices=[*FILES, *SPECIAL, []])
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--read", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.read:
        return read(args.read, *args.formats)
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        for format in args.formats or [*FILES, *SPECIAL]:
            path = Path(folder) / f"file.{format}"
            peaks = []
            for megabytes in (0.01, args.megabytes):
                write(path, format, int(megabytes * 1e6))
                command = [sys.executable, __file__, format, "--read", str(path)]
                output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                peaks.append(json.loads(output)["peak_mb"])
            print(f"{format}: {peaks[1]} MB, a small file {peaks[0]}", flush=True)
            result[format] = peaks
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
