"""The log of a training run that is one step of a larger job: a JSON line per evaluation, and a progress bar."""

import json
import sys
from pathlib import Path
from typing import IO, Any, Callable, Dict, Optional, Tuple

from spacy.language import Language
from tqdm import tqdm

LoggerT = Callable[[Language, IO, IO], Tuple[Callable[[Optional[Dict[str, Any]]], None], Callable[[], None]]]


def log_to_file(path: Path) -> LoggerT:
    """Create a spaCy logger. Evaluations are written as by spaCy's own logger, but at once, and a resumed run appends.

    path (Path): The file, of JSON lines.
    RETURNS (Callable): The logger, which shows a bar of the updates on a terminal.
    """

    def set_up(nlp: Language, stdout: IO = sys.stdout, stderr: IO = sys.stderr) -> Any:
        settings = nlp.config["training"]
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a", encoding="utf8")
        bar = tqdm(
            total=settings["max_steps"] or None,
            desc="training",
            unit=" updates",
            disable=None,
            leave=False,
            file=stderr,
        )

        def log_step(info: Optional[Dict[str, Any]]) -> None:
            if info is None:
                bar.update()
                return
            found = info["other_scores"]
            kept = [key for key, weight in settings["score_weights"].items() if weight is not None]
            scores = {key: float(found.get(key) or 0.0) * (1 if key == "speed" else 100) for key in kept}
            losses = {name: float(loss) for name, loss in info["losses"].items()}
            row = {"epoch": info["epoch"], "step": info["step"], "losses": losses, "scores": scores}
            file.write(json.dumps({**row, "score": float(info["score"])}) + "\n")
            file.flush()
            bar.update(info["step"] - bar.n)
            bar.set_postfix(score=f"{100 * info['score']:.1f}")

        def finalize() -> None:
            bar.close()
            file.close()

        return log_step, finalize

    return set_up
