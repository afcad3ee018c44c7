"""Prometheus metrics of the model and its dictionary."""

from typing import Any, Callable, Dict, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, generate_latest

from ..inference.worker import Batch

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CHARACTERS = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)


class Metrics:
    """The counters of one service."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._texts = Histogram("lexner_batch_texts", "Texts in a run of the model", buckets=SIZES, registry=registry)
        self._characters = Histogram(
            "lexner_batch_characters",
            "Characters in a run of the model",
            buckets=CHARACTERS,
            registry=registry,
        )
        self._model_seconds = Counter("lexner_model_seconds", "Time spent in the model", registry=registry)
        self._failed = Counter("lexner_texts_failed", "Texts that could not be processed", registry=registry)
        self._entities = Counter("lexner_entities", "Entities found", ["label"], registry=registry)
        self._changes = Counter("lexner_dictionary_changes", "Changes to the dictionary", ["kind"], registry=registry)
        self._reloads = Counter("lexner_reloads", "Reloads of the model", ["result"], registry=registry)
        self._dictionary = Info("lexner_dictionary", "The state of the dictionary", registry=registry)
        self._waiting = Gauge("lexner_texts_waiting", "Texts that wait for the model", registry=registry)
        self._words = Gauge("lexner_dictionary_words", "Words in the dictionary", registry=registry)
        self._torn = Gauge(
            "lexner_journal_torn_bytes", "Bytes of an incomplete record, dropped at the start", registry=registry
        )

    def watch(self, waiting: Callable[[], int], words: Callable[[], int], torn_bytes: int) -> None:
        """Set the functions that return the numbers of waiting texts and of words, and the journal's torn bytes."""
        self._waiting.set_function(waiting)
        self._words.set_function(words)
        self._torn.set(torn_bytes)

    def count_batch(self, batch: Batch) -> None:
        self._texts.observe(batch.texts)
        self._characters.observe(batch.characters)
        self._model_seconds.inc(batch.seconds)

    def count_answers(self, answers: Iterable[Dict[str, Any]]) -> None:
        for answer in answers:
            if "error" in answer:
                self._failed.inc()
            for entity in answer.get("entities", ()):
                self._entities.labels(entity["label"]).inc()

    def count_change(self, kind: str) -> None:
        self._changes.labels(kind).inc()

    def count_reload(self, result: str) -> None:
        self._reloads.labels(result).inc()

    def text(self, version: str) -> bytes:
        """RETURNS (bytes): All metrics in Prometheus' text format."""
        self._dictionary.info({"version": version})
        return generate_latest(self.registry)
