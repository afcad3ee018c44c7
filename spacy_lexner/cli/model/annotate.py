"""`spacy lexner annotate`: find the entities of many texts, from files to files."""

import sys
import time
from pathlib import Path
from typing import Annotated, Any, List, Optional, Tuple

import typer
from tqdm import tqdm
from wasabi import msg

from ...scale.annotate import ENGINES, MIN_TIMEOUT, Summary, annotate
from ...scale.processes import WorkerError
from ...scale.readers import READERS
from ...scale.records import Progress
from ...scale.store import QUARANTINE
from ...scale.writers import FORMATS
from ..shared import GpuOption, failing

LOG_SECONDS = 60.0


def annotate_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A pipeline, by folder or name")],
    inputs: Annotated[
        List[str],
        typer.Argument(metavar="INPUT...", help=f"Files ({', '.join(READERS)}), folders, patterns, or - for stdin"),
    ],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write, or to resume")],
    column: Annotated[
        str, typer.Option("--column", "--field", "-c", help="The column or JSON field with the text", metavar="NAME")
    ] = "text",
    format: Annotated[
        str, typer.Option("--format", "-f", help="Format of the inputs; auto: by suffix", metavar="NAME")
    ] = "auto",
    to: Annotated[
        str, typer.Option("--to", help=f"Format of the output: {', '.join(FORMATS)}", metavar="NAME")
    ] = "jsonl",
    words: Annotated[bool, typer.Option("--words", help="Write candidate words too")] = False,
    alternatives: Annotated[int, typer.Option(help="Also write this many of the most probable paths", min=0)] = 0,
    uncertain: Annotated[
        Optional[Tuple[float, float]],
        typer.Option(help="Also write spans whose probability lies between these", metavar="LOW HIGH"),
    ] = None,
    lex_version: Annotated[bool, typer.Option("--lex-version", help="Also write the lexicon's version")] = False,
    engine: Annotated[str, typer.Option(help=f"Where to run: {', '.join(ENGINES)}", metavar="NAME")] = "local",
    workers: Annotated[
        Optional[int],
        typer.Option(
            "--workers", "-n", help="Number of processes; default: 1, or as many as fit with another engine", min=1
        ),
    ] = None,
    threads: Annotated[int, typer.Option(help="torch threads per process", min=1)] = 1,
    timeout: Annotated[float, typer.Option(help="Seconds before giving up on a text", min=MIN_TIMEOUT)] = 300.0,
    batch_characters: Annotated[int, typer.Option("--batch-tokens", help="Characters per batch", min=1)] = 10_000,
    shard_texts: Annotated[int, typer.Option(help="Most texts per output file", min=1)] = 10_000,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if a text could not be annotated")] = False,
    gpu_id: GpuOption = -1,
    gpu_share: Annotated[
        float, typer.Option("--gpu-share", help="With ray: share of a GPU per process", min=0.0)
    ] = 1.0,
    address: Annotated[
        Optional[str],
        typer.Option("--address", help="With ray: HOST:PORT of the cluster's head, or auto", metavar="ADDRESS"),
    ] = None,
) -> None:
    """Annotate many texts: files in, files of entities out. Other columns are kept, and each text gets an id.

    The run can be stopped at any time: the same command resumes it, with the same output. A text that fails, hangs or
    kills its process goes to quarantine.jsonl with the reason.

    \b
    Examples:
      python -m spacy lexner annotate training/model-best texts.jsonl.gz out
      python -m spacy lexner annotate training/model-best "news/*.parquet" out --column body --to parquet -n 8
      zcat texts.txt.gz | python -m spacy lexner annotate training/model-best - out --words
    """
    with failing("The texts were not all annotated"), _Bar() as bar:
        try:
            summary = annotate(
                model,
                inputs,
                output,
                column=column,
                format=format,
                to=to,
                words=words,
                alternatives=alternatives,
                uncertain=uncertain,
                lex_version=lex_version,
                engine=engine,
                workers=workers,
                threads=threads,
                gpu_id=gpu_id,
                gpu_share=gpu_share,
                address=address,
                timeout=timeout,
                batch_characters=batch_characters,
                shard_texts=shard_texts,
                report=bar.show,
            )
        except WorkerError as error:
            raise ValueError(str(error)) from None
    msg.good(
        f"{output}: {summary.texts} texts, {summary.characters} characters, {summary.entities} entities",
        f"{summary.seconds:.1f} seconds, {summary.speed:.0f} characters per second"
        + (f"; {summary.resumed} of {summary.shards} files were already there" if summary.resumed else ""),
    )
    if summary.quarantined:
        msg.warn(f"{summary.quarantined} texts could not be annotated: {output / QUARANTINE}")
        raise typer.Exit(1 if strict else 0)


class _Bar:
    """A progress bar of the bytes read; without a terminal, a line per minute."""

    def __enter__(self) -> "_Bar":
        self._bar: Any = tqdm(unit="B", unit_scale=True, leave=False) if sys.stderr.isatty() else None
        self._logged = time.monotonic()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, summary: Summary, progress: Progress) -> None:
        """Show the progress of the run."""
        if self._bar is not None:
            self._bar.total = progress.total or None
            self._bar.set_postfix_str(f"{summary.speed:.0f} characters/s, {summary.quarantined} quarantined")
            self._bar.update(progress.done - self._bar.n)
        elif time.monotonic() - self._logged > LOG_SECONDS:
            self._logged = time.monotonic()
            share = f"{progress.done / progress.total:.0%}, " if progress.total else ""
            typer.echo(f"{share}{summary.texts} texts, {summary.speed:.0f} characters/s", err=True)
