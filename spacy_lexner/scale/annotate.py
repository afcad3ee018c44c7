"""`annotate`: files of texts in, files of entities out, for any number of texts, without losing one."""

import os
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, NamedTuple, Optional, Sequence, Tuple, Union

from .. import about
from .cluster import RayEngine
from .inputs import list_inputs, read_records
from .model_files import hash_model
from .parquet import ParquetWriter
from .processes import ProcessEngine
from .records import InputOptions, Progress, import_arrow
from .results import Result, Wanted, rename_fields
from .shards import Shard, cut_shards
from .store import Store, open_store
from .tasks import Batch
from .writers import FORMATS, WRITERS

ENGINES = ("local", "processes", "ray")
MIN_TIMEOUT = 1.0  # seconds; a shorter one may end every process before it can answer


class Summary(NamedTuple):
    """The figures of a run, including its earlier parts before an interruption."""

    texts: int
    characters: int
    entities: int
    quarantined: int
    shards: int
    resumed: int  # shards that an earlier run had finished
    seconds: float  # of this run
    speed: float  # characters per second annotated by this run


class _Open:
    """A shard in progress."""

    def __init__(self, shard: Shard, batches: int) -> None:
        self.shard, self.left = shard, batches
        self.results: Dict[int, Result] = {}


def annotate(
    model: str,
    inputs: Sequence[Union[str, Path]],
    output: Union[str, Path],
    *,
    column: str = "text",
    format: str = "auto",
    to: str = "jsonl",
    words: bool = False,
    alternatives: int = 0,
    uncertain: Optional[Tuple[float, float]] = None,
    lex_version: bool = False,
    engine: str = "local",
    workers: Optional[int] = None,
    threads: int = 1,
    gpu_id: int = -1,
    gpu_share: float = 1.0,
    address: Optional[str] = None,
    timeout: float = 300.0,
    batch_characters: int = 10_000,
    shard_texts: int = 10_000,
    shard_characters: int = 1_000_000,
    report: Optional[Callable[[Summary, Progress], None]] = None,
) -> Summary:
    """Annotate the texts of files. Called again with the same arguments, an interrupted run resumes where it stopped,
    and its output is byte for byte that of an uninterrupted run.

    model (str): A pipeline, by folder or package name.
    inputs (Sequence[Union[str, Path]]): Files, folders and patterns; see `list_inputs`. "-" is the standard input.
    output (Union[str, Path]): The folder to write.
    column (str): The column or JSON field with the text.
    format (str): Format of the inputs; "auto": by suffix.
    to (str): "jsonl", "parquet" or "spacy".
    words, alternatives, uncertain, lex_version: What to write in addition to entities; see `Wanted`.
    engine (str): "local", in one process; "processes", on this machine; or "ray", on a cluster. Several workers make
        "local" "processes", and an address makes it "ray".
    workers (Optional[int]): Number of processes; None: one per processor, or as many as fit on the cluster.
    threads (int): torch threads per process. Another number may change the last digits of scores.
    gpu_id (int): The GPU, or -1 for the CPU. Ray chooses which GPU a process gets.
    gpu_share (float): With Ray, the share of a GPU per process.
    address (Optional[str]): The head of a Ray cluster, as HOST:PORT, or "auto"; None starts Ray on this machine.
    timeout (float): Seconds before a batch is split into texts, and before giving up on a single text; at
        least MIN_TIMEOUT.
    batch_characters (int): Most characters per batch.
    shard_texts, shard_characters (int): Most texts and characters per output file.
    report (Optional[Callable[[Summary, Progress], None]]): Called after each batch.
    RETURNS (Summary): The figures of the run. Raises OutputError if the folder holds the output of other arguments.
    """
    if isinstance(inputs, (str, Path)):
        raise ValueError(f"inputs is {str(inputs)!r}; expected a list. Put a single one in a list.")
    if to not in FORMATS:
        raise ValueError(f"to is {to!r}; expected one of {', '.join(FORMATS)}.")
    if engine not in ENGINES:
        raise ValueError(f"engine is {engine!r}; expected one of {', '.join(ENGINES)}.")
    if engine == "processes" and address:
        raise ValueError(
            f"address is {address!r}, but processes run on this machine. Leave it out, or choose the engine ray."
        )
    if engine == "local":
        engine = "ray" if address else "processes" if (workers or 1) > 1 else engine
    if to == "parquet":
        import_arrow("parquet")
    for name, number, least in (
        ("alternatives", alternatives, 0),
        ("workers", workers, 1),
        ("threads", threads, 1),
        ("batch_characters", batch_characters, 1),
        ("shard_texts", shard_texts, 1),
        ("shard_characters", shard_characters, 1),
    ):
        if number is not None and number < least:
            raise ValueError(f"{name} is {number}; expected at least {least}.")
    if gpu_id >= 0 and not gpu_share > 0:
        raise ValueError(f"gpu_share is {gpu_share}; expected more than 0. To annotate on the CPU, leave out gpu_id.")
    if not timeout >= MIN_TIMEOUT:
        raise ValueError(f"timeout is {timeout}; expected at least {MIN_TIMEOUT:g} second.")
    if uncertain is not None and not 0 < uncertain[0] <= uncertain[1] <= 1:
        raise ValueError(f"uncertain is {uncertain}; expected two probabilities above 0, the lower one first.")
    options = InputOptions(column, format)
    names = list_inputs(map(str, inputs), options, Path(output))
    wanted = Wanted(words, alternatives, uncertain, lex_version, to == "spacy")
    settings = {
        "spacy_lexner": about.__version__,
        "model": hash_model(model),
        "inputs": [name if name == "-" else Path(name).name for name in names],
        "column": column,
        "format": to,
        "wanted": wanted._asdict(),
        "batch_characters": batch_characters,
        "shard_texts": shard_texts,
        "shard_characters": shard_characters,
        "threads": threads,
        "gpu": gpu_id >= 0,
    }
    write = ParquetWriter(names, options, wanted) if to == "parquet" else WRITERS[to]
    progress = Progress(names)
    shards = cut_shards(read_records(names, options, progress), shard_texts, shard_characters)
    with open_store(Path(output), settings, write) as store:
        if engine == "ray":
            share = gpu_share if gpu_id >= 0 else 0.0
            pool: Any = RayEngine(
                model, wanted, workers=workers, threads=threads, gpu_share=share, timeout=timeout, address=address
            )
        else:
            n_workers = 1 if engine == "local" else workers or max(1, (os.cpu_count() or 1) // threads)
            pool = ProcessEngine(model, wanted, workers=n_workers, threads=threads, gpu_id=gpu_id, timeout=timeout)
        run = _Run(store, batch_characters, report, progress)
        with closing(pool):
            for batch in pool.run(run.batches(shards)):
                run.take(batch)
        store.close(run.n_shards)
        return run.summary()


class _Run:
    """The shards in progress, and the counts so far."""

    def __init__(self, store: Store, batch_characters: int, report: Any, progress: Progress) -> None:
        self.store, self.batch_characters = store, batch_characters
        self.report, self.progress = report, progress
        self.open: Dict[int, _Open] = {}
        self.counts = dict.fromkeys(("texts", "characters", "entities", "quarantined"), 0)
        self.n_shards = self.n_resumed = self.characters = 0
        self.started = time.monotonic()

    def batches(self, shards: Iterator[Shard]) -> Iterator[Batch]:
        """The batches of the shards that are not finished."""
        for shard in shards:
            self.n_shards += 1
            done = self.store.finished(shard)
            if done is not None:
                self.n_resumed += 1
                self._count(done)
                continue
            parts = list(shard.batches(self.batch_characters))
            self.open[shard.number] = _Open(shard, len(parts))
            if not parts:
                self._finish(shard.number)
            for part in parts:
                yield Batch(shard.number, part, [shard.records[index].text for index in part])

    def take(self, batch: Batch) -> None:
        """Keep the results of a batch, and write its shard if it was the last one."""
        shard = self.open[batch.shard]
        shard.results.update((batch.indices[index], result) for index, result in batch.results.items())
        shard.left -= 1
        self.characters += sum(map(len, batch.texts))
        if not shard.left:
            self._finish(batch.shard)
        if self.report is not None:
            self.report(self.summary(), self.progress)

    def _finish(self, number: int) -> None:
        shard, results = self.open[number].shard, self.open[number].results
        rows, faults = [], []
        for index, record in enumerate(shard.records):
            result = results.get(index) or Result(None, record.fault or "")
            if result.row is not None:
                rows.append({"id": record.id, **rename_fields(record.fields), "text": record.text, **result.row})
            else:
                faults.append(
                    {"place": record.place, "id": record.id, "reason": result.reason, "traceback": result.traceback}
                    | {"text": record.text}
                )
        counts = {
            "texts": len(shard.records),
            "characters": sum(len(record.text) for record in shard.records),
            "entities": sum(len(row["entities"]) for row in rows),
            "quarantined": len(faults),
        }
        self.store.finish(shard, rows, faults, counts)
        del self.open[number]
        self._count(counts)

    def _count(self, counts: Dict[str, int]) -> None:
        for name, number in counts.items():
            self.counts[name] += number

    def summary(self) -> Summary:
        seconds = time.monotonic() - self.started
        return Summary(
            **self.counts,
            shards=self.n_shards,
            resumed=self.n_resumed,
            seconds=seconds,
            speed=self.characters / max(seconds, 1e-9),
        )
