"""Prometheus metrics of requests, counted in the HTTP process."""

from typing import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class RequestMetrics:
    """Counters of requests, and the resources of the HTTP process."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(namespace="lexner_http", registry=registry)
        self._requests = Counter(
            "lexner_requests", "Requests answered", ["path", "method", "status"], registry=registry
        )
        self._latency = Histogram(
            "lexner_request_seconds", "Time to answer a request", ["path"], buckets=SECONDS, registry=registry
        )

        self._waiting = Gauge("lexner_requests_waiting", "Requests that wait for the model", registry=registry)

    def watch(self, waiting: Callable[[], int]) -> None:
        """Set the function that returns the number of waiting requests."""
        self._waiting.set_function(waiting)

    def count(self, path: str, method: str, status: int, seconds: float) -> None:
        """Count a request.

        path (str): The pattern of its path.
        method (str): The HTTP method.
        status (int): The HTTP status; 0 if there was no answer.
        seconds (float): The time until the answer.
        """
        self._requests.labels(path, method, str(status)).inc()
        self._latency.labels(path).observe(seconds)

    def text(self) -> bytes:
        """RETURNS (bytes): All metrics in Prometheus' text format."""
        return generate_latest(self.registry)
