"""Pretrain the language model of an ELMo on raw text, and measure its perplexity on held-out text."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Dict, List, Optional

import typer
from pretraining_run import configure, epoch_of, open_run, read_base, run_settings, run_spacy
from wasabi import msg

TOKENIZERS: Dict[str, Dict[str, Any]] = {
    "char": {"@tokenizers": "spacy-lexner.CharTokenizer.v1"},
    "jieba": {"@tokenizers": "spacy.zh.ChineseTokenizer", "segmenter": "jieba"},
}


def main(
    config: Annotated[Path, typer.Argument(help="A config that pretrains with PretrainBiLM.v1.")],
    text: Annotated[Path, typer.Argument(help="Raw text: a file, or a folder of *.txt and *.txt.gz files.")],
    output: Annotated[Path, typer.Argument(help="Folder for words.tsv, config.cfg and the files of the run.")],
    dev: Annotated[Optional[Path], typer.Option(help="Held-out text, for the perplexity.")] = None,
    steps: Annotated[int, typer.Option(help="Total number of updates.", min=1)] = 10_000,
    save_every: Annotated[int, typer.Option(help="Updates between two saved files to resume from.", min=1)] = 1000,
    tokenizer: Annotated[str, typer.Option(help=f"What a word is: {', '.join(TOKENIZERS)}.")] = "char",
    softmax: Annotated[str, typer.Option(help="full, sampled or adaptive.")] = "full",
    min_count: Annotated[int, typer.Option(help="Rarer words are unknown.")] = 3,
    max_words: Annotated[int, typer.Option(help="Maximum number of words.")] = 50_000,
    seed: Annotated[int, typer.Option()] = 0,
    gpu_id: Annotated[int, typer.Option(help="GPU, or -1 for the CPU.")] = -1,
    options: Annotated[str, typer.Option(help="More settings: '--pretraining.objective.cutoffs [1000,3000] …'.")] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Resume a stopped run in that folder, if any.")] = False,
) -> None:
    """Run `spacy lexner count-words`, `spacy pretrain` for a number of updates and `spacy lexner perplexity`."""
    if tokenizer not in TOKENIZERS:
        msg.fail(f"Unknown tokenizer {tokenizer!r}", f"Known are {', '.join(TOKENIZERS)}.", exits=1)
    words = output / "words.tsv"
    settings = {
        **run_settings(text, output, steps, save_every, seed),
        "paths.words": str(words),
        "pretraining.objective.softmax": softmax,
    }
    complete = configure(read_base(config), settings, options)
    complete["nlp"]["tokenizer"] = TOKENIZERS[tokenizer]
    # A section that spaCy ignores, and that a resumed run is compared with.
    complete["count_words"] = {"min_count": min_count, "max_words": max_words}
    run = open_run(complete, output / "elmo.cfg", output, resume=resume)
    if run.last is None:
        limits = ["--min-count", str(min_count), "--max-words", str(max_words)]
        run_spacy(["lexner", "count-words", str(words), str(text), "--tokenizer", str(run.config), *limits])
    run.train(gpu_id)
    if dev is not None:
        measure(output, run.config, dev, gpu_id)


def measure(output: Path, config: Path, dev: Path, gpu_id: int) -> None:
    """Write the perplexity of each saved epoch to perplexity.jsonl, and print it."""
    arguments: List[str] = ["--text", str(dev), "--json", "--gpu-id", str(gpu_id)]
    saved = sorted(output.glob("model[0-9]*.bin"), key=epoch_of)
    with (output / "perplexity.jsonl").open("w", encoding="utf8") as file:
        for path in saved:
            command = [sys.executable, "-m", "spacy", "lexner", "perplexity", str(config), str(path), *arguments]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                msg.fail(f"The perplexity of {path} cannot be measured", done.stderr or done.stdout, exits=1)
            line = {"file": path.name, **json.loads(done.stdout.splitlines()[-1])}
            file.write(json.dumps(line) + "\n")
            msg.text(json.dumps(line))


if __name__ == "__main__":
    typer.run(main)
