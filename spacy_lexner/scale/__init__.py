"""Annotating many texts: files in, files out."""

from .annotate import Summary, annotate

__all__ = ["Summary", "annotate"]
