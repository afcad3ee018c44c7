"""The checksum of a manifest."""

import hashlib
import json
from typing import Any, Dict


def checksum_of(manifest: Dict[str, Any]) -> str:
    """The SHA-256 of everything in a manifest except its checksum."""
    content = {key: value for key, value in manifest.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode("utf8")).hexdigest()
