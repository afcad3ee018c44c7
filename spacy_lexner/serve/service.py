"""A service without HTTP: its model, worker and dictionary, and replacing the model."""

import asyncio
import logging
from typing import Any, Callable, Dict, List, Optional, Sequence

from thinc.api import require_gpu

from ..visualize.label_colors import label_color
from .dictionary.dictionary import Dictionary
from .dictionary.errors import StateError
from .dictionary.state import StateDirectory
from .inference.model import ServedModel, load_served
from .inference.tasks import Task
from .inference.worker import Batch, Worker
from .settings import Settings

logger = logging.getLogger(__name__)


class Service:
    """A model that annotates the texts of many clients, and a dictionary that some of them change."""

    def __init__(self, settings: Settings, *, on_batch: Callable[[Batch], None] = lambda batch: None) -> None:
        """Load the model, and apply the changes kept in the state directory. Raises ValueError or OSError if the model
        cannot be loaded or the changes do not fit it, StateError if the directory cannot be used."""
        self.settings = settings
        self.draining = False
        self._reloading = asyncio.Lock()
        self._use_gpu()
        state = None if settings.state is None else StateDirectory(settings.state)
        try:
            self.model = load_served(settings.model)
            if state is not None and self.model.pipe is None:
                raise StateError(
                    f"{settings.model} has no lex_matcher, so there is no dictionary to change: leave out --state."
                )
            self.dictionary = None if self.model.pipe is None else Dictionary(self.model.pipe, state)
        except BaseException:
            if state is not None:
                state.close()
            raise
        sizes = settings.batching.max_tokens, settings.limits.waiting_texts
        self.worker = Worker(*sizes, on_start=self._use_gpu, on_batch=on_batch)

    def _use_gpu(self) -> None:
        """Use the GPU in this thread, since thinc selects it per thread."""
        if self.settings.gpu_id >= 0:
            require_gpu(self.settings.gpu_id)

    @property
    def can_change(self) -> bool:
        """RETURNS (bool): Whether the dictionary can be changed."""
        return self.dictionary is not None and self.settings.token is not None and self.settings.state is not None

    @property
    def version(self) -> Optional[str]:
        """RETURNS (Optional[str]): The version of the dictionary; None if there is none."""
        return None if self.dictionary is None else self.dictionary.version

    @property
    def fault(self) -> str:
        """RETURNS (str): Why the service is not ready; empty if all is well."""
        if self.dictionary is not None and self.dictionary.broken:
            return f"The journal cannot be written: {self.dictionary.broken}."
        return "The service is stopping." if self.draining else ""

    async def run(self, task: Task, texts: Sequence[str]) -> List[Any]:
        """RETURNS (List[Any]): A task's result for each text, in order. Raises TimeoutError if it takes too long."""
        return await asyncio.wait_for(self.worker.run(task, texts), self.settings.limits.seconds)

    async def reload(self) -> ServedModel:
        """Load the model again from the same place, and apply the changes of the dictionary to its lexicon. Waiting
        texts go through the old model. Raises ValueError, OSError or LexiconError, and keeps the old model, if the new
        one does not work or the changes do not fit it.

        RETURNS (ServedModel): The new model.
        """
        async with self._reloading:
            new = await asyncio.to_thread(self._load)
            logger.info("%s was reloaded", self.settings.model)
            return new

    def _load(self) -> ServedModel:
        self._use_gpu()
        new = load_served(self.settings.model)
        if self.dictionary is not None:
            if new.pipe is None:
                raise ValueError(
                    f"{self.settings.model} has no lex_matcher to hold the dictionary. Add one to the pipeline."
                )
            self.dictionary.use_model(new.pipe)
        elif new.pipe is not None:  # the old model had no lex_matcher
            self.dictionary = Dictionary(new.pipe)
        self.model = new
        return new

    def describe(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): A description of the model and the dictionary."""
        model, dictionary = self.model, self.dictionary
        return {
            "model": model.describe(),
            "labels": list(model.labels),
            "rule_labels": list(model.rule_labels),
            "colors": {label: label_color(label) for label in (*model.labels, *model.rule_labels)},
            "lex_version": self.version,
            "words": None if dictionary is None else len(dictionary.matcher.lexicon),
            "can": {**model.can, "changes": self.can_change},
            "state": {
                "changes": 0 if dictionary is None else dictionary.history.number,
                "torn_bytes": 0 if dictionary is None else dictionary.torn_bytes,
            },
        }

    def close(self) -> None:
        """Finish waiting texts, and save the dictionary."""
        self.draining = True
        self.worker.stop()
        if self.dictionary is not None:
            self.dictionary.close()
