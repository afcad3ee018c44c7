"""`spacy-lexner.warmup_linear.v1` and `spacy-lexner.warmup_constant.v1`: learning rates that start with a warm-up."""

from typing import Iterator, Optional


def warmup_linear(
    initial_rate: float,
    total_steps: int,
    warmup_steps: Optional[int] = None,
    warmup_share: Optional[float] = None,
) -> "WarmupSchedule":
    """A warm-up, then a linear fall to 0.

    initial_rate (float): The highest rate.
    total_steps (int): The number of updates of the training. `training.max_steps` may refer to it, but not vice versa:
        spaCy resolves the optimiser's section alone, without variables.
    warmup_steps (Optional[int]): The length of the warm-up; 0 by default.
    warmup_share (Optional[float]): Its length as a share of `total_steps`, instead of `warmup_steps`.
    """
    steps = _count_warmup_steps(total_steps, warmup_steps, warmup_share)
    if total_steps <= 0:
        raise ValueError(
            f"total_steps must be above 0, but is {total_steps}: a linear fall needs to know where it ends. "
            "Set it, or use spacy-lexner.warmup_constant.v1."
        )
    if steps > total_steps:
        raise ValueError(f"The warm-up of {steps} steps must not be longer than the training of {total_steps} steps.")
    return WarmupSchedule(initial_rate, steps, total_steps)


def warmup_constant(
    initial_rate: float,
    warmup_steps: Optional[int] = None,
    warmup_share: Optional[float] = None,
    total_steps: Optional[int] = None,
) -> "WarmupSchedule":
    """A warm-up, then a constant rate.

    initial_rate, warmup_steps, warmup_share: As in `warmup_linear`.
    total_steps (Optional[int]): The number of updates of the training, for `warmup_share`.
    """
    return WarmupSchedule(initial_rate, _count_warmup_steps(total_steps, warmup_steps, warmup_share), None)


class WarmupSchedule(Iterator[float]):
    """The rates of all updates, without end. Can be copied and pickled at any point. In the warm-up, the n-th update,
    from 1, has n / warmup_steps of the highest rate, so that none is wasted on a rate of 0. With `total_steps` the next
    update has the highest rate, and the one after `total_steps` has 0."""

    def __init__(self, rate: float, warmup_steps: int, total_steps: Optional[int]) -> None:
        """`rate` is the highest; after `total_steps` updates the rate is 0, or, if that is None, it stays constant."""
        self.rate = rate
        self.warmup_steps = warmup_steps
        self.total_steps = total_steps
        self.step = 0

    def __next__(self) -> float:
        factor = self.get_factor(self.step)
        self.step += 1
        return factor * self.rate

    def get_factor(self, step: int) -> float:
        """The share of the highest rate, 0 to 1, after `step` updates."""
        if step < self.warmup_steps:
            return (step + 1) / self.warmup_steps
        if self.total_steps is None:
            return 1.0
        return max(0.0, (self.total_steps - step) / max(1, self.total_steps - self.warmup_steps))


def _count_warmup_steps(total_steps: Optional[int], warmup_steps: Optional[int], warmup_share: Optional[float]) -> int:
    if warmup_steps is not None and warmup_share is not None:
        raise ValueError(
            f"The warm-up is given twice, as warmup_steps = {warmup_steps} and as warmup_share = {warmup_share}: "
            "give one of them."
        )
    if warmup_share is not None:
        if total_steps is None or total_steps <= 0:
            raise ValueError(f"warmup_share = {warmup_share} needs total_steps, the number of updates in all.")
        if not 0 <= warmup_share <= 1:
            raise ValueError(f"warmup_share must be between 0 and 1, but is {warmup_share}.")
        return round(warmup_share * total_steps)
    if warmup_steps is not None and warmup_steps < 0:
        raise ValueError(f"warmup_steps must be at least 0, but is {warmup_steps}.")
    return warmup_steps or 0
