"""What a client wants to get for each text."""

from dataclasses import asdict, dataclass
from typing import Any, Dict, Optional, Tuple


@dataclass(frozen=True)
class Wanted:
    """What to return for a text in addition to its entities."""

    words: bool = False
    alternatives: int = 0
    uncertain: Optional[Tuple[float, float]] = None
    explain: Optional[str] = None  # "attention", or "changes" for both
    tokens: bool = False
    utf16: bool = False

    def to_json(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): The fields, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Dict[str, Any]) -> "Wanted":
        """RETURNS (Wanted): The object from which `to_json` made these fields."""
        bounds = fields["uncertain"]
        return cls(**{**fields, "uncertain": None if bounds is None else tuple(bounds)})
