"""spaCy's training loop, in a form that can be stopped anywhere and resumed.

It does the same as `spacy.training.loop.train`, step by step, and ends with the same weights. At each evaluation it
writes a checkpoint in addition to the pipelines; every folder is written atomically.
"""

import sys
from pathlib import Path
from timeit import default_timer as timer
from typing import Any, Dict, List, Optional

from spacy.errors import Errors
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.loop import (
    DIR_MODEL_BEST,
    DIR_MODEL_LAST,
    create_before_to_disk_callback,
    create_evaluation_callback,
    create_train_batches,
    subdivide_batch,
    update_meta,
)
from spacy.util import registry, resolve_dot_names
from thinc.api import Config, Optimizer, constant, fix_random_seed, set_gpu_allocator

from ..integrity.folders import remove_folder
from ..integrity.pipelines import save
from .batch_stream import BatchStream, fixed_draws
from .checkpoint import Checkpoint, Progress, write_checkpoint
from .digests import DocDigest, digest_files
from .log import LoggerT

CHECKPOINT = "checkpoint"


class Run:
    """A training run: the resolved parts of the config, and the progress."""

    def __init__(
        self, nlp: Language, config: Config, *, checkpoint: Optional[Checkpoint] = None, use_gpu: int = -1
    ) -> None:
        """Create optimiser, corpora, batches and schedules. Arguments as for `train`. Raises ValueError if the data
        are not those of the checkpoint's run."""
        settings = nlp.config.interpolate()
        if settings["training"]["seed"] is not None:
            fix_random_seed(settings["training"]["seed"])
        if use_gpu >= 0 and settings["training"]["gpu_allocator"]:
            set_gpu_allocator(settings["training"]["gpu_allocator"])
        T = registry.resolve(settings["training"], schema=ConfigSchemaTraining)
        train_corpus, dev_corpus = resolve_dot_names(settings, [T["train_corpus"], T["dev_corpus"]])
        self.nlp, self.config, self.T = nlp, config, T
        self.optimizer: Optimizer = T["optimizer"]
        self.batches = BatchStream(create_train_batches(nlp, train_corpus, T["batcher"], T["max_epochs"]))
        self.evaluate = create_evaluation_callback(nlp, dev_corpus, T["score_weights"])
        self.before_to_disk = create_before_to_disk_callback(T["before_to_disk"])
        self.dropouts: Any = constant(T["dropout"]) if isinstance(T["dropout"], float) else T["dropout"]
        self.progress = Progress()
        self.losses: Dict[str, float] = {}
        with fixed_draws():  # of a corpus that shuffles, for example
            dev = DocDigest().update(example.reference for example in dev_corpus(nlp))
        self.inputs = {**digest_files(config), T["dev_corpus"]: dev.hexdigest()}
        if checkpoint is not None:
            self._resume(checkpoint)

    def _resume(self, checkpoint: Checkpoint) -> None:
        self.inputs = checkpoint.check_inputs(self.inputs)
        self.progress = checkpoint.progress
        for _ in range(self.progress.step + 1):
            next(self.dropouts)
        checkpoint.restore(self.nlp, self.optimizer, self.batches)

    @property
    def is_done(self) -> bool:
        """RETURNS (bool): Whether the maximum number of steps is reached, or the patience is exhausted."""
        step, results = self.progress.step, self.progress.results
        if not results:
            return False
        best = -max((score, -step) for score, step in results)[1]
        patience, max_steps = self.T["patience"], self.T["max_steps"]
        return bool(patience and step - best >= patience) or bool(max_steps and step >= max_steps)

    def learn(self, epoch: int, batch: List[Example]) -> None:
        """Update the pipeline with a batch."""
        T, step = self.T, self.progress.step + 1
        if T["before_update"]:
            T["before_update"](self.nlp, {"step": step, "epoch": epoch})
        settings = {"drop": next(self.dropouts), "losses": self.losses, "sgd": False}
        settings.update(exclude=T["frozen_components"], annotates=T["annotating_components"])
        for part in subdivide_batch(batch, T["accumulate_gradient"]):
            self.nlp.update(part, **settings)
        for name, pipe in self.nlp.pipeline:
            is_trained = name not in T["frozen_components"] and getattr(pipe, "is_trainable", False)
            if is_trained and getattr(pipe, "model", None) not in (True, False, None):
                pipe.finish_update(self.optimizer)  # type: ignore[attr-defined]
        self.optimizer.step_schedules()
        words = self.progress.words + sum(len(example) for example in batch)
        self.progress = self.progress._replace(step=step, words=words)

    def judge(self, epoch: int) -> Dict[str, Any]:
        """Evaluate the averaged weights. RETURNS (Dict[str, Any]): The information for loggers."""
        with self.nlp.use_params(self.optimizer.averages or {}):
            score, other_scores = self.evaluate()
        results = (*self.progress.results, (score, self.progress.step))
        self.progress = self.progress._replace(results=results)
        info = {"epoch": epoch, "score": score, "other_scores": other_scores, "losses": self.losses}
        info.update(step=self.progress.step, words=self.progress.words, seconds=int(self.progress.seconds))
        with self.nlp.select_pipes(disable=self.T["frozen_components"]):
            update_meta(self.T, self.nlp, info)
        return {**info, "checkpoints": list(results)}

    def save(self, folder: Path) -> None:
        """Save the pipeline with averaged weights."""
        with self.nlp.use_params(self.optimizer.averages or {}):
            save(self.before_to_disk(self.nlp), folder)


def train(
    nlp: Language,
    output: Path,
    config: Config,
    *,
    checkpoint: Optional[Checkpoint] = None,
    logger: Optional[LoggerT] = None,
    use_gpu: int = -1,
) -> None:
    """Train a pipeline, and save it: `finish` for a new `Run`.

    nlp (Language): The initialized pipeline, or that of the checkpoint.
    output (Path): The folder for the pipelines and the checkpoint.
    config (Config): The config of the run. Only a run with the same config can resume from its checkpoint.
    checkpoint (Optional[Checkpoint]): The checkpoint to resume from.
    logger (Optional[Callable]): Replaces `training.logger`.
    use_gpu (int): The GPU, or -1 for the CPU.
    """
    finish(Run(nlp, config, checkpoint=checkpoint, use_gpu=use_gpu), output, logger)


def finish(run: Run, output: Path, logger: Optional[LoggerT] = None) -> None:
    """Train until a run is done, and save its pipeline as `model-best` and `model-last`. The checkpoint is removed at
    the end. Those of an earlier run stay until the first evaluation, so a run that fails at once changes nothing.
    Arguments as for `train`."""
    with run.nlp.select_pipes(disable=run.T["frozen_components"]):
        log_step, finalize_logger = (logger or run.T["logger"])(run.nlp, sys.stdout, sys.stderr)
    started = timer() - run.progress.seconds
    try:
        while not run.is_done and (read := next(run.batches, None)) is not None:
            epoch, batch = read
            run.learn(epoch, batch)
            run.progress = run.progress._replace(seconds=timer() - started)
            if run.progress.step % run.T["eval_frequency"]:
                log_step(None)
                continue
            info = run.judge(epoch)
            if run.progress.step == 0 and (output / CHECKPOINT).exists():
                remove_folder(output / CHECKPOINT)  # of an earlier run, whose models are now replaced
            run.save(output / DIR_MODEL_LAST)
            if info["score"] == max(run.progress.results)[0]:
                run.save(output / DIR_MODEL_BEST)
            log_step({**info, "output_path": str(output / DIR_MODEL_LAST)})
            run.losses = {}
            folder = output / CHECKPOINT
            write_checkpoint(folder, run.config, run.inputs, run.nlp, run.optimizer, run.batches, run.progress)
        if not run.progress.results:
            raise ValueError(Errors.E986)  # the batcher gave no batch
        run.save(output / DIR_MODEL_LAST)
        remove_folder(output / CHECKPOINT)
    finally:
        finalize_logger()
