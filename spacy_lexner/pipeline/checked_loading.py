"""Trainable pipes that say what is wrong with what they are loaded from."""

from contextlib import contextmanager
from pathlib import Path
from typing import Iterable, Iterator, Union

from spacy.pipeline import TrainablePipe


class CheckedLoading(TrainablePipe):
    """A trainable pipe whose errors at loading name the source and the component."""

    name: str

    def tell_labels(self) -> None:
        """Called when the labels may have changed."""

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> "CheckedLoading":
        """Load what `to_bytes` saved.

        bytes_data (bytes): The result of `to_bytes`.
        exclude (Iterable[str]): Names of parts to leave as they are.
        RETURNS (CheckedLoading): The component.
        """
        with self._loading("bytes"):
            return super().from_bytes(bytes_data, exclude=tuple(exclude))

    def from_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> "CheckedLoading":
        """Load what `to_disk` saved.

        path (Union[str, Path]): The folder.
        exclude (Iterable[str]): Names of parts to leave as they are.
        RETURNS (CheckedLoading): The component.
        """
        with self._loading(str(path)):
            return super().from_disk(path, exclude=tuple(exclude))

    @contextmanager
    def _loading(self, source: str) -> Iterator[None]:
        try:
            yield
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(
                f"{self.name} cannot be loaded from {source}: it is damaged, or not of this component's model ({error})"
            ) from error
        self.tell_labels()
