"""Memory of readers: a large file of each format, made on the fly, read in a process of its own.

    python benchmarks/streaming.py [--megabytes 100] [FORMAT ...]

The last line is a JSON object: for each format the peak memory of the process in MB, all that it imports included, and
`without`, the peak of one that reads a small file.
"""

import argparse
import json
import resource
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
}


def write(path: Path, format: str, size: int) -> None:
    """Write a file of at least `size` bytes."""
    with path.open("w", encoding="utf8") as file:
        for piece in FILES[format]():
            file.write(piece)
            if (size := size - len(piece.encode("utf8"))) <= 0:
                break
        file.write("]" if format in ("label-studio", "spacy-llm") else "")


def read(path: str, format: str) -> None:
    from spacy_lexner.formats.read import READERS, list_inputs, read_records
    from spacy_lexner.formats.record import ReadOptions
    from spacy_lexner.formats.report import Report
    from spacy_lexner.lexicon.readers.any_file import read_any
    from spacy_lexner.scale.inputs import read_records as read_texts
    from spacy_lexner.scale.records import InputOptions

    if format in READERS:
        [source] = list_inputs(path, format)
        items: Iterable = read_records(source, format, ReadOptions(), Report())
    elif format in ("txt", "jsonl"):
        items = read_texts([path], InputOptions(format=format))
    else:
        items = read_any(path, format)
    count = sum(1 for _ in items)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"items": count, "peak_mb": round(peak)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("formats", nargs="*", metavar="FORMAT", choices=[*FILES, []])
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--read", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.read:
        return read(args.read, *args.formats)
    result = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        for format in args.formats or FILES:
            for name, megabytes in (("without", 0.01), (format, args.megabytes)):
                if name not in result:
                    write(path, format, int(megabytes * 1e6))
                    command = [sys.executable, __file__, format, "--read", str(path)]
                    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                    result[name] = json.loads(output)["peak_mb"]
            print(f"{format}: {result[format]} MB", flush=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
