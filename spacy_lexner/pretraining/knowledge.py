"""Training entity vectors on a knowledge graph: TransE, with PyKEEN."""

import logging
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from ..lexicon.errors import LexiconError
from ..lexicon.lines import read_lines

MISSING = 'Knowledge embeddings need PyKEEN: pip install "spacy-lexner[knowledge]"'


class KnowledgeEmbedding(NamedTuple):
    """Entity vectors, and their quality on held-out triples."""

    ids: List[str]  # the entities
    vectors: np.ndarray  # float32[n, width]
    mean_rank: Optional[float]  # of the right entity among all, for head and tail; None without held-out triples
    hits_at_10: Optional[float]  # share of ranks up to 10; None without held-out triples
    n_training: int  # number of training triples
    n_held_out: int  # number of held-out triples


def read_triples(path: Path) -> np.ndarray:
    """Read the triples of a knowledge graph.

    path (Path): A table with head, relation and tail on each line, separated by tabs; plain or compressed, UTF-8.
    RETURNS (numpy.ndarray): str[n, 3], without duplicates. Raises LexiconError, with file and line, for an incomplete
        line.
    """
    triples: Dict[Tuple[str, ...], None] = {}
    for number, line in read_lines(Path(path)):
        if not line.strip():
            continue
        fields = tuple(field.strip() for field in line.split("\t"))
        if len(fields) != 3 or not all(fields):
            raise LexiconError(
                f"{path}:{number}: expected head, relation and tail, separated by tabs, not {line[:60]!r}."
            )
        triples[fields] = None
    return np.array(list(triples), dtype="U").reshape(-1, 3)


def train_transe(
    triples: np.ndarray,
    *,
    width: int = 100,
    epochs: int = 100,
    batch_size: int = 1024,
    learn_rate: float = 0.01,
    negatives: int = 8,
    held_out: float = 0.02,
    seed: int = 0,
    device: str = "cpu",
    progress_bar: bool = True,
) -> KnowledgeEmbedding:
    """Train TransE (Bordes et al. 2013): the vector of a relation leads from the head's vector to the tail's. Raises
    ImportError if PyKEEN is not installed, and ValueError for fewer than 2 triples.

    triples (numpy.ndarray): str[n, 3], head, relation and tail.
    width (int): Width of the vectors.
    epochs (int): Passes over the triples.
    batch_size (int): Triples per update.
    learn_rate (float): Learning rate of Adam.
    negatives (int): Corrupted triples for each training triple.
    held_out (float): Share of triples held out for evaluation; never an entity's only triple.
    seed (int): Random seed.
    device (str): A torch device.
    progress_bar (bool): Show progress bars.
    RETURNS (KnowledgeEmbedding): The vectors, and their quality.
    """
    try:
        from pykeen.pipeline import pipeline
        from pykeen.triples import TriplesFactory
    except ImportError as error:
        raise ImportError(MISSING) from error
    from ..tensors.convert import numpy_of

    if len(triples) < 2:
        raise ValueError(f"The knowledge graph has {len(triples)} triples; expected at least 2.")
    logging.getLogger("pykeen").setLevel(logging.WARNING)
    every: Any = TriplesFactory.from_labeled_triples(triples)
    n_held_out = round(held_out * len(triples))
    training, testing = every, every
    if n_held_out:
        training, testing = every.split([1 - held_out, held_out], random_state=seed)
    result = pipeline(
        training=training,
        testing=testing,
        model="TransE",
        model_kwargs={"embedding_dim": width, "scoring_fct_norm": 1},
        optimizer="Adam",
        optimizer_kwargs={"lr": learn_rate},
        training_loop="sLCWA",
        training_kwargs={"num_epochs": epochs, "batch_size": batch_size, "use_tqdm": progress_bar},
        negative_sampler_kwargs={"num_negs_per_pos": negatives},
        evaluation_kwargs={"use_tqdm": progress_bar, "batch_size": 256},
        random_seed=seed,
        device=device,
    )
    model: Any = result.model
    vectors = numpy_of(model.entity_representations[0](indices=None)).astype("f4")
    ids = [label for label, _ in sorted(every.entity_to_id.items(), key=lambda item: item[1])]
    return KnowledgeEmbedding(
        ids,
        vectors,
        float(result.get_metric("mean_rank")) if n_held_out else None,
        float(result.get_metric("hits_at_10")) if n_held_out else None,
        training.num_triples,
        testing.num_triples if n_held_out else 0,
    )
