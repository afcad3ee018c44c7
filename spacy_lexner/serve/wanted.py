"""What a client wants to know of each text."""

from dataclasses import asdict, dataclass
from typing import Any, Dict, Optional, Tuple


@dataclass(frozen=True)
class Wanted:
    """What is asked of a text besides its entities."""

    words: bool = False
    alternatives: int = 0
    uncertain: Optional[Tuple[float, float]] = None
    explain: Optional[str] = None  # "attention", or "changes" too
    tokens: bool = False
    utf16: bool = False

    def to_json(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): Its fields."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Dict[str, Any]) -> "Wanted":
        """RETURNS (Wanted): That of `to_json`."""
        bounds = fields["uncertain"]
        return cls(**{**fields, "uncertain": None if bounds is None else tuple(bounds)})
