"""How much of each ELMo layer a trained pipeline mixes in, as a bar chart.

python scripts/study.py run studies/elmo.yml metrics/elmo.jsonl --dataset weibo --keep
python scripts/elmo_layers.py training/elmo
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Annotated, Dict, List

import spacy
import typer
from wasabi import msg

BAR = 40


def show_layers(folder: Annotated[Path, typer.Argument(help="Folder of kept pipelines, one per run.")]) -> None:
    """Plot the weight of each layer, averaged over seeds."""
    shares: Dict[str, List[List[float]]] = {}
    for path in sorted(folder.glob("*/model-best")):
        if found := layer_shares(path):
            shares.setdefault(path.parent.name.rpartition("-")[0], []).append(found)
    if not shares:
        msg.fail(f"{folder} has no pipelines with ELMo", "Run the study with --keep.", exits=1)
    for run, seeds in shares.items():
        print(f"{run} ({len(seeds)} seeds)")
        for number, layer in enumerate(zip(*seeds)):
            mean, spread = statistics.mean(layer), statistics.stdev(layer) if len(layer) > 1 else 0.0
            print(f"  layer {number}  {'█' * round(mean * BAR):<{BAR}} {mean:.3f} ± {spread:.3f}")


def layer_shares(path: Path) -> List[float]:
    """path (Path): A saved pipeline.
    RETURNS (List[float]): The weights of its ELMo's layers, which sum to 1; empty if it has no ELMo.
    """
    for _, pipe in spacy.load(path).components:
        for node in pipe.model.walk() if hasattr(pipe, "model") else ():
            if node.name == "elmo":
                return node.shims[0].module.mixes[0].scalars.detach().softmax(dim=0).tolist()
    return []


if __name__ == "__main__":
    typer.run(show_layers)
