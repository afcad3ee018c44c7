"""`spacy-lexner.warmup_linear.v1` and `spacy-lexner.warmup_constant.v1`: learning rates that start with a warm-up."""

from typing import Iterator, Optional


def warmup_linear(
    initial_rate: float,
    total_steps: int,
    warmup_steps: Optional[int] = None,
    warmup_share: Optional[float] = None,
) -> "WarmupSchedule":
    """Create a schedule with a warm-up, then a linear decay to 0.

    initial_rate (float): The highest rate.
    total_steps (int): The number of updates of the training run. `training.max_steps` may refer to it, but not vice
        versa: spaCy resolves the optimiser's section on its own, without variables.
    warmup_steps (Optional[int]): The length of the warm-up; 0 by default.
    warmup_share (Optional[float]): The length as a share of `total_steps`, instead of `warmup_steps`.
    RETURNS (WarmupSchedule): The schedule.
    """
    steps = _count_warmup_steps(total_steps, warmup_steps, warmup_share)
    if total_steps <= 0:
        raise ValueError(
            f"total_steps is {total_steps}; a linear decay needs the number of updates, above 0. Set it, or use "
            "spacy-lexner.warmup_constant.v1."
        )
    if steps > total_steps:
        raise ValueError(
            f"The warm-up is {steps} steps; expected at most {total_steps}, the steps of the training run."
        )
    return WarmupSchedule(initial_rate, steps, total_steps)


def warmup_constant(
    initial_rate: float,
    warmup_steps: Optional[int] = None,
    warmup_share: Optional[float] = None,
    total_steps: Optional[int] = None,
) -> "WarmupSchedule":
    """Create a schedule with a warm-up, then a constant rate.

    initial_rate, warmup_steps, warmup_share: As in `warmup_linear`.
    total_steps (Optional[int]): The number of updates of the training run, for `warmup_share`.
    RETURNS (WarmupSchedule): The schedule.
    """
    return WarmupSchedule(initial_rate, _count_warmup_steps(total_steps, warmup_steps, warmup_share), None)


class WarmupSchedule(Iterator[float]):
    """An endless iterator over the rates of updates, which can be copied and pickled at any point. In the warm-up, the
    n-th update, from 1, has n / warmup_steps of the highest rate, so that none is wasted on a rate of 0. With
    `total_steps`, the update after the warm-up has the highest rate, and the one after `total_steps` has 0."""

    def __init__(self, rate: float, warmup_steps: int, total_steps: Optional[int]) -> None:
        """rate (float): The highest rate.
        warmup_steps (int): The length of the warm-up.
        total_steps (Optional[int]): The number of updates after which the rate is 0; None: it stays constant.
        """
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
            "leave out one of them."
        )
    if warmup_share is not None:
        if total_steps is None or total_steps <= 0:
            raise ValueError(f"warmup_share = {warmup_share} needs total_steps, the total number of updates.")
        if not 0 <= warmup_share <= 1:
            raise ValueError(f"warmup_share is {warmup_share}; expected a number from 0 to 1.")
        return round(warmup_share * total_steps)
    if warmup_steps is not None and warmup_steps < 0:
        raise ValueError(f"warmup_steps is {warmup_steps}; expected at least 0.")
    return warmup_steps or 0
