"""The service, metrics and dictionary that endpoints get from their app."""

from fastapi import Request

from ..dictionary.dictionary import Dictionary
from ..problem import Problem
from ..service import Service
from .metrics import Metrics


def service_of(request: Request) -> Service:
    return request.app.state.service


def metrics_of(request: Request) -> Metrics:
    return request.app.state.metrics


def require_dictionary(service: Service) -> Dictionary:
    """The dictionary. Raises Problem if the pipeline has none."""
    if service.dictionary is None:
        raise Problem(404, "no-dictionary", "The pipeline of this service has no lex_matcher, so it has no dictionary.")
    return service.dictionary
