"""Saving and loading of trainable pipes, with checksums."""

import re
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, ClassVar, Dict, Iterable, Iterator, TypeVar, Union

import srsly
from spacy import util
from spacy.pipeline import TrainablePipe

from ..integrity.seal import SEALED, SealedFolder, SealError, seal_bytes, unseal_bytes, write_seal
from ..lexicon.errors import LexiconError
from ..lexicon.limits import QUOTED, shorten
from .saved_model import load_model
from .settings import Setting, check_settings

SHOWN = 1000  # characters of an error
Self = TypeVar("Self", bound="SealedPipe")


class SealedPipe(TrainablePipe):
    """A trainable pipe whose settings and weights are saved with the checksum of both, and loaded only if they belong
    together. A subclass says in `check_loaded` what else has to fit."""

    SETTINGS: ClassVar[Dict[str, Setting]] = {}  # what the values of `cfg` may be
    cfg: Dict[str, Any]

    def check_loaded(self) -> None:
        """Raise an error if what was loaded does not fit."""

    def _load_cfg(self, cfg: Dict[str, Any]) -> None:
        check_settings(self.name, cfg, self.SETTINGS)
        self.cfg.update(cfg)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """RETURNS (bytes): Settings and weights, with their checksum. `exclude` may name "cfg", "vocab", "model"."""
        return seal_bytes(super().to_bytes(exclude=tuple(exclude)))

    def from_bytes(self: Self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """RETURNS (SealedPipe): The component, from `to_bytes`. Raises SealError for other bytes."""
        data = unseal_bytes(bytes_data, self.name)
        readers: Dict[str, Callable[[bytes], Any]] = {
            "cfg": lambda b: self._load_cfg(srsly.json_loads(b)),
            "vocab": lambda b: self.vocab.from_bytes(b, exclude=exclude),
            "model": lambda b: load_model(self.model, b),
        }
        with loading(self.name, "bytes"):
            util.from_bytes(data, readers, exclude)
            self.check_loaded()
        return self

    def to_disk(self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> None:
        """Save settings and weights, and the checksums that belong to both."""
        super().to_disk(path, exclude=tuple(exclude))
        write_seal(Path(path), [name for name in SEALED["lex_ner"] if name not in exclude])

    def from_disk(self: Self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> Self:
        """RETURNS (SealedPipe): The component, from `to_disk`. Raises SealError, which names the file, if it is
        damaged or of another training."""
        with loading(self.name, str(path)), SealedFolder(path) as files:
            readers: Dict[str, Callable[[Path], Any]] = {
                "cfg": lambda p: self._load_cfg(srsly.json_loads(files.read("cfg"))),
                "vocab": lambda p: self.vocab.from_disk(p, exclude=exclude),
                "model": lambda p: load_model(self.model, files.read("model")),
            }
            util.from_disk(path, readers, exclude)
            self.check_loaded()
        return self


@contextmanager
def loading(component: str, source: str) -> Iterator[None]:
    """Raise SealError or LexiconError, whatever a file does to what reads it, and say which component was being loaded
    from where."""
    try:
        yield
    except (SealError, LexiconError):
        raise
    except Exception as error:  # forged contents fail in as many ways as there are settings
        raise SealError(
            f"{component} cannot be loaded from {source}: it is damaged, or was saved with another model or version "
            f"({type(error).__name__}: {_cut(str(error))}). Load it with the config it was saved with."
        ) from error


def _cut(message: str) -> str:
    """An error of what reads a file, which may quote any value in it."""
    return re.sub(rf"\S{{{QUOTED},}}", lambda found: shorten(found[0]), message[:SHOWN])
