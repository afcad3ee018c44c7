"""Train entity vectors on a knowledge graph, and build the lexicon that ERNIE reads."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from wasabi import msg

from spacy_lexner.lexicon import Lexicon, LexiconError
from spacy_lexner.lexicon.readers import read_entity_vectors
from spacy_lexner.pretraining.knowledge import read_triples, train_transe


def main(
    triples: Annotated[Path, typer.Argument(help="Head, relation and tail on each line, separated by tabs.")],
    out: Annotated[Path, typer.Argument(help="Folder for the lexicon.")],
    names: Annotated[
        str, typer.Option(help="Names of entities: name, tab, entity on each line. By default the entities' ids.")
    ] = "",
    width: Annotated[int, typer.Option(help="Width of the vectors.")] = 100,
    epochs: Annotated[int, typer.Option()] = 100,
    held_out: Annotated[float, typer.Option(help="Share of triples held out for evaluation.")] = 0.02,
    seed: Annotated[int, typer.Option()] = 0,
    gpu_id: Annotated[int, typer.Option(help="GPU, or -1 for the CPU.")] = -1,
) -> None:
    """Train TransE, print mean rank and hits@10 on held-out triples, and write the lexicon."""
    try:
        graph = read_triples(triples)
        device = "cpu" if gpu_id < 0 else f"cuda:{gpu_id}"
        found = train_transe(graph, width=width, epochs=epochs, held_out=held_out, seed=seed, device=device)
        with tempfile.TemporaryDirectory() as folder:
            vectors, ids = Path(folder) / "vectors.npy", Path(folder) / "ids.txt"
            np.save(vectors, found.vectors)
            ids.write_text("".join(f"{entity}\n" for entity in found.ids), "utf8")
            lexicon = Lexicon.from_entries(read_entity_vectors(vectors, names=names or None, ids=ids))
    except (LexiconError, ValueError, ImportError, OSError) as error:
        msg.fail("Training on the knowledge graph failed", str(error), exits=1)
    if out.is_dir():
        shutil.rmtree(out)
    lexicon.save(out)
    msg.good(f"{out}: {len(lexicon)} names, {len(found.ids)} entities, {lexicon.dim}-dimensional vectors")
    if found.mean_rank is not None:
        msg.info(
            f"{found.n_training} training triples; on {found.n_held_out} held out: mean rank {found.mean_rank:.1f}, "
            f"hits@10 {found.hits_at_10:.3f}"
        )


if __name__ == "__main__":
    typer.run(main)
