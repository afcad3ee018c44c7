"""The progress of a batch through workers that may die or hang.

If a worker is lost, the texts are given to the next worker one by one, until those at fault are found: texts at which
two workers are lost. The others are then annotated together as before, so that the output does not depend on when a
worker was lost.
"""

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from .results import Result

MAX_LOSSES = 3  # of workers at a whole batch; after that the results of texts annotated one by one are used


class Task(NamedTuple):
    """Texts for a worker."""

    batch: "Batch"
    indices: Tuple[int, ...]  # into the texts of the batch
    one_by_one: bool = False

    @property
    def texts(self) -> List[str]:
        return [self.batch.texts[index] for index in self.indices]


class Batch:
    """A batch, and the results of its texts so far."""

    def __init__(self, shard: int, indices: Sequence[int], texts: Sequence[str]) -> None:
        self.shard = shard
        self.indices = list(indices)  # into the records of the shard
        self.texts = list(texts)
        self.results: Dict[int, Result] = {}
        self._alone: Dict[int, Result] = {}  # results of texts that were annotated one by one
        self._suspect: Optional[int] = None  # the text at which a worker was last lost
        self._losses = 0

    def start(self) -> Task:
        """RETURNS (Task): The first task, of all texts."""
        return Task(self, tuple(range(len(self.texts))))

    @property
    def finished(self) -> bool:
        """RETURNS (bool): Whether there is a result for each text."""
        return len(self.results) == len(self.texts)

    def succeed(self, task: Task, results: Sequence[Result]) -> Optional[Task]:
        """Take the results of a task. RETURNS (Optional[Task]): The next task, if any."""
        if not task.one_by_one:
            self.results.update(zip(task.indices, results))
            return None
        self._alone.update(zip(task.indices, results))
        return self._together()

    def lose(self, task: Task, results: Sequence[Result], reason: str) -> Optional[Task]:
        """Handle the loss of a worker at a task, of which it had done the first texts if it was given them one by one.
        RETURNS (Optional[Task]): The next task, if any."""
        left = task.indices
        if task.one_by_one:
            self._alone.update(zip(task.indices, results))
            left = left[len(results) :]
            if left[0] == self._suspect:
                self.results[left[0]] = Result(None, reason)
                left = left[1:]
            else:
                self._suspect = left[0]
        else:
            self._losses += 1
        return Task(self, left, one_by_one=True) if left else self._together()

    def _together(self) -> Optional[Task]:
        left = tuple(index for index in range(len(self.texts)) if index not in self.results)
        if self._losses >= MAX_LOSSES:
            self.results.update((index, self._alone[index]) for index in left)
            return None
        return Task(self, left) if left else None
