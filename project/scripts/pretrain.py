"""Pretrain a BERT or an ERNIE on raw text, and export it as a Hugging Face folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pretraining_run import FINAL, configure, open_run, read_base, run_settings, run_spacy
from wasabi import msg


def main(
    config: Annotated[Path, typer.Argument(help="A config with a [pretraining] section.")],
    text: Annotated[Path, typer.Argument(help="Raw text: a file, or a folder of *.txt and *.txt.gz files.")],
    output: Annotated[Path, typer.Argument(help="Folder for the files of the run.")],
    checkpoint: Annotated[Path, typer.Argument(help="Hugging Face folder to write.")],
    steps: Annotated[int, typer.Option(help="Total number of updates.", min=1)] = 10_000,
    save_every: Annotated[int, typer.Option(help="Updates between two saved files to resume from.", min=1)] = 1000,
    masking: Annotated[str, typer.Option(help="piece, whole_word or ngram.")] = "piece",
    lexicon: Annotated[
        Path, typer.Option(help="Lexicon that defines whole words, and which words name entities.")
    ] = Path("lexicon/main"),
    vectors: Annotated[str, typer.Option(help="File of character vectors to start from; empty for none.")] = "",
    seed: Annotated[int, typer.Option()] = 0,
    gpu_id: Annotated[int, typer.Option(help="GPU, or -1 for the CPU.")] = -1,
    options: Annotated[str, typer.Option(help="More settings: '--pretraining.objective.share 0.4 …'.")] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Resume a stopped run in that folder, if any.")] = False,
) -> None:
    """Run `spacy pretrain` for a number of updates, then `spacy lexner export-hf`."""
    base = read_base(config)
    has_matcher = "lex_matcher" in base["nlp"]["pipeline"]
    needs_lexicon = has_matcher or masking != "piece"
    if needs_lexicon and not lexicon.is_dir():
        reason = f"{config.name} reads one" if masking == "piece" else f"masking {masking!r} takes whole words from it"
        msg.fail(f"There is no lexicon {lexicon}", f"It is needed, since {reason}.", exits=1)
    settings = {**run_settings(text, output, steps, save_every, seed), "pretraining.objective.masking": masking}
    if needs_lexicon:
        settings["paths.lexicon" if has_matcher else "pretraining.objective.lexicon"] = str(lexicon)
    if vectors:
        settings["components.tok2vec.model.piece_vectors"] = vectors
    file = output.with_name(f"{output.name}.cfg")
    run = open_run(configure(base, settings, options), file, output, resume=resume)
    run.train(gpu_id)
    run_spacy(["lexner", "export-hf", str(output / FINAL), str(checkpoint), "--force"])


if __name__ == "__main__":
    typer.run(main)
