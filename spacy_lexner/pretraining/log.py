"""The log of a pretraining run: losses, accuracies, perplexity and speed."""

import math
import sys
import time
from pathlib import Path
from typing import Any, Dict, Optional

import srsly
from tqdm import tqdm

from .heads import HeadLoss

MAX_LOSS = 700.0  # its exponential is still finite


class PretrainingLog:
    """Averages the results of the heads, shows them in a progress bar, and logs a line every `every` updates."""

    def __init__(self, *, every: int = 100, path: Optional[str] = None, progress_bar: bool = True, total: int = 0):
        """Create a log.

        every (int): Updates between two log lines; 0 for none.
        path (Optional[str]): A file to which the lines are also appended, as JSON.
        progress_bar (bool): Show a bar, on a terminal.
        total (int): Updates of the whole run, for the bar; 0 if unknown.
        """
        if every < 0:
            raise ValueError(f"log_every is {every}; expected a number of updates, or 0 for no log lines.")
        self.every = every
        self.path = Path(path) if path else None
        self.progress_bar = progress_bar
        self.total = total
        self._bar: Any = None
        self._reset()

    def is_due(self, n_updates: int) -> bool:
        """Whether update number `n_updates`, counted from 1, writes a line."""
        return bool(self.every) and n_updates % self.every == 0

    def update(self, n_updates: int, parts: Dict[str, HeadLoss], n_tokens: int) -> None:
        """Add update number `n_updates` (from 1) with `n_tokens` tokens. The loss "perplexity" is shown as its
        exponential."""
        self._n_tokens += n_tokens
        for name, part in parts.items():
            if part.n_labels:
                sums = self._sums.setdefault(name, [0.0, None if part.n_correct is None else 0, 0])
                sums[0] += float(part.loss.detach()) * part.n_labels
                sums[1] = None if part.n_correct is None else sums[1] + int(part.n_correct)
                sums[2] += part.n_labels
        if self.progress_bar:
            if self._bar is None:
                self._bar = tqdm(total=self.total or None, initial=n_updates - 1, unit=" updates", disable=None)
            self._bar.set_postfix(self._averages(), refresh=False)
            self._bar.update()
        if self.is_due(n_updates):
            self._write({"update": n_updates, **self._averages()})
            self._reset()

    def _averages(self) -> Dict[str, float]:
        averages: Dict[str, float] = {}
        for name, (loss, n_correct, n_labels) in self._sums.items():
            if name == "perplexity":
                averages[name] = round(math.exp(min(loss / n_labels, MAX_LOSS)), 2)
                continue
            averages[f"{name}_loss"] = round(loss / n_labels, 4)
            if n_correct is not None:
                averages[f"{name}_accuracy"] = round(n_correct / n_labels, 4)
        averages["tokens_per_second"] = round(self._n_tokens / max(time.perf_counter() - self._since, 1e-9))
        return averages

    def _write(self, record: Dict[str, float]) -> None:
        tqdm.write("  ".join(f"{name} {value}" for name, value in record.items()), file=sys.stderr)
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf8") as file_:
                file_.write(srsly.json_dumps(record) + "\n")

    def _reset(self) -> None:
        self._sums: Dict[str, Any] = {}
        self._n_tokens = 0
        self._since = time.perf_counter()
