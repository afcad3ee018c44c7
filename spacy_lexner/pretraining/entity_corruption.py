"""What ERNIE's denoising entity auto-encoder is given, and what it has to find."""

from random import Random
from typing import NamedTuple

import numpy as np

NO_ENTITY = 0  # the row of the zero vector


class EntityCorruption(NamedTuple):
    """How the entities of a batch are corrupted. The defaults are those of Zhang et al. 2019, section 3.4; the rest
    is kept."""

    replace_share: float = 0.05  # another entity of the batch, at times the same
    remove_share: float = 0.15  # the mention looks as if it were not aligned


class CorruptedEntities(NamedTuple):
    candidates: np.ndarray  # the distinct entities of the batch in ascending order, without the row of "no entity"
    inputs: np.ndarray  # int64[n]: what each mention shows, NO_ENTITY or 1 + an index of candidates
    labels: np.ndarray  # int64[n]: what it is in truth, 1 + an index of candidates


def check_corruption(corruption: EntityCorruption) -> None:
    """Refuse shares that are none.

    corruption (EntityCorruption): The shares. Raises ValueError.
    """
    replace, remove = corruption
    if replace < 0 or remove < 0 or replace + remove > 1:
        raise ValueError(
            f"{replace} of the entities are to be replaced and {remove} removed: both shares must be at least 0 and "
            f"their sum at most 1."
        )


def corrupt_entities(entities: np.ndarray, corruption: EntityCorruption, rng: Random) -> CorruptedEntities:
    """Corrupt the entities of a batch.

    The label is kept wherever the entity was replaced or removed: that is what the text has to tell.

    entities (Ints[n]): The entity of each mention of the batch, in any numbering.
    corruption (EntityCorruption): The shares. Raises ValueError if they are no shares.
    rng (Random): Source of chance; drawn from in the order of the authors' code.
    RETURNS (CorruptedEntities): Inputs and labels as rows of a table of candidates whose row 0 is the zero vector.
    """
    check_corruption(corruption)
    replace, remove = corruption
    candidates, labels = np.unique(entities, return_inverse=True)
    labels = labels.reshape(-1).astype("int64") + 1
    inputs = labels.copy()
    for i in range(len(inputs)):
        drawn = rng.random()
        if drawn < replace:
            inputs[i] = rng.randint(1, len(candidates))
        elif drawn < replace + remove:
            inputs[i] = NO_ENTITY
    return CorruptedEntities(candidates, inputs, labels)
