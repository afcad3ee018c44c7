"""The study of ELMo: as study.py, for encoders with random and with pretrained weights.

    python scripts/study_elmo.py run metrics/elmo-random.jsonl --dataset weibo --dataset resume
    python scripts/study_elmo.py run metrics/elmo.jsonl --dataset weibo --dataset resume --keep \\
        --paths.words pretrained/elmo/words.tsv --paths.init_tok2vec pretrained/elmo/model-last.bin
    python scripts/study_elmo.py table metrics/elmo.jsonl
    python scripts/study_elmo.py layers training/study
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Annotated, Dict, List

import spacy
import study
import typer
from wasabi import msg

BAR = 40

SYSTEMS = {
    "elmo": study.System("elmo", None, "`lex_ner` with ELMo"),
    "elmo-ner": study.System("elmo_ner", None, "spaCy's `ner` with ELMo"),
}


def show_layers(folder: Annotated[Path, typer.Argument(help="Folder of kept pipelines, one for each run.")]) -> None:
    """Plot how much of each layer the trained pipelines mix, as a mean over seeds."""
    shares: Dict[str, List[List[float]]] = {}
    for path in sorted(folder.glob("*/model-best")):
        run, _, _ = path.parent.name.rpartition("-")
        if any(run.endswith(f"-{system}") for system in SYSTEMS):
            shares.setdefault(run, []).append(layer_shares(path))
    if not shares:
        msg.fail(f"{folder} holds no pipelines with ELMo", "Run the study with --keep.", exits=1)
    for run, seeds in shares.items():
        print(f"{run} ({len(seeds)} seeds)")
        for number, layer in enumerate(zip(*seeds)):
            mean, spread = statistics.mean(layer), statistics.stdev(layer) if len(layer) > 1 else 0.0
            print(f"  layer {number}  {'█' * round(mean * BAR):<{BAR}} {mean:.3f} ± {spread:.3f}")


def layer_shares(path: Path) -> List[float]:
    """path (Path): A saved pipeline.
    RETURNS (List[float]): The weights of the layers that its ELMo mixes; they add up to 1.
    """
    for _, pipe in spacy.load(path).components:
        for node in pipe.model.walk() if hasattr(pipe, "model") else ():
            if node.name == "elmo":
                return node.shims[0].module.mixes[0].scalars.detach().softmax(dim=0).tolist()
    raise ValueError(f"{path} holds no ELMo.")


if __name__ == "__main__":
    study.SYSTEMS.clear()
    study.SYSTEMS.update(SYSTEMS)
    study.app.command("layers")(show_layers)
    study.app()
