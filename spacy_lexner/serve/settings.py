"""The settings of a service."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional, Tuple

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Limits:
    """Limits of requests and of time."""

    body_bytes: int = 4 << 20  # of a request; JSON escapes take up to 12 bytes a character
    upload_bytes: int = 32 << 20  # of an uploaded file
    texts: int = 256  # of a request
    characters: int = 100_000  # of all texts of a request
    explain_characters: int = 500  # of all texts of a request for changes of scores, since each word is a model run
    words: int = 10_000  # changed by one request, except by an upload
    waiting_texts: int = 4096  # further ones are refused
    body_seconds: float = 20.0  # until a request has arrived
    seconds: float = 60.0  # until the answer


@dataclass(frozen=True)
class Batching:
    """How waiting texts are batched."""

    max_tokens: int = 8192  # per batch, padding included; 0: one text at a time
    max_wait: float = 0.005  # seconds that an idle model waits for more texts


@dataclass(frozen=True)
class Settings:
    """The settings of a service.

    model (str): The folder or name of the pipeline.
    state (Optional[Path]): The folder that keeps changes to the dictionary; None: it cannot be changed.
    token (Optional[str]): The token that a client must present to change it; None: it cannot be changed.
    hosts (Tuple[str, ...]): Names under which the service answers; empty for any.
    gpu_id (int): The GPU, or -1 for the CPU.
    """

    model: str
    state: Optional[Path] = None
    token: Optional[str] = field(default=None, repr=False)
    hosts: Tuple[str, ...] = ()
    gpu_id: int = -1
    limits: Limits = Limits()
    batching: Batching = Batching()


def read_token(path: Path) -> str:
    """Read a token from a file. Raises ValueError if it is too short, or not printable ASCII."""
    token = path.read_text("ascii", "replace").strip()
    if len(token) < 16 or not (token.isascii() and token.isprintable()) or " " in token:
        raise ValueError(
            f"{path}: expected a token of 16 or more printable ASCII characters without spaces, such as the output of "
            "`openssl rand -hex 32`."
        )
    return token
