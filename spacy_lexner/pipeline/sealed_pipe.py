"""Saving and loading trainable pipes with checksums."""

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

SHOWN = 1000  # most characters quoted of an error
Self = TypeVar("Self", bound="SealedPipe")


class SealedPipe(TrainablePipe):
    """A trainable pipe whose settings and weights are saved with a checksum of both, and loaded only if they belong
    together. Subclasses check in `check_loaded` what else must fit."""

    SETTINGS: ClassVar[Dict[str, Setting]] = {}  # the valid values of `cfg`
    cfg: Dict[str, Any]

    def check_loaded(self) -> None:
        """Raise ValueError if the loaded parts do not fit together."""

    def _load_cfg(self, cfg: Dict[str, Any]) -> None:
        check_settings(self.name, cfg, self.SETTINGS)
        self.cfg.update(cfg)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """RETURNS (bytes): Settings and weights with their checksum. `exclude` may contain "cfg", "vocab", "model"."""
        return seal_bytes(super().to_bytes(exclude=tuple(exclude)))

    def from_bytes(self: Self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """RETURNS (SealedPipe): This component with what `to_bytes` saved. Raises SealError for other bytes."""
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
        """Save settings and weights with their checksums."""
        super().to_disk(path, exclude=tuple(exclude))
        write_seal(Path(path), [name for name in SEALED["lex_ner"] if name not in exclude])

    def from_disk(self: Self, path: Union[str, Path], *, exclude: Iterable[str] = ()) -> Self:
        """RETURNS (SealedPipe): This component with what `to_disk` saved. Raises SealError, naming the file, if one is
        damaged or from another training run."""
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
    """Turn every error of reading a file into a SealError (a LexiconError stays) that names the component and the
    source."""
    try:
        yield
    except (SealError, LexiconError):
        raise
    except Exception as error:  # forged contents can fail anywhere
        raise SealError(
            f"{component} cannot be loaded from {source}: it is damaged, or was saved with another model or version "
            f"({type(error).__name__}: {_cut(str(error))}). Load it with the config it was saved with."
        ) from error


def _cut(message: str) -> str:
    """Shorten the message of an error, which may quote any value of a file."""
    return re.sub(rf"\S{{{QUOTED},}}", lambda found: shorten(found[0]), message[:SHOWN])
