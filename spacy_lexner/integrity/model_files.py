"""Files that thinc's `Model.to_bytes` fills: pretrained weights, and the models of components."""

from pathlib import Path
from typing import Any, Dict

import srsly


def read_model_file(path: Path) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): What a model saved in a file. Raises ValueError, with the file's name, if it is not a
    model's, or is incomplete; thinc's own error does not say which file it is."""
    try:
        saved = srsly.msgpack_loads(path.read_bytes())
        if not all("name" in node for node in saved["nodes"]):
            raise KeyError("name")
        return saved
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is not a model file, or is incomplete ({error}). Give another one: `spacy pretrain` and `spacy "
            "lexner pretrain` write model-last.bin and one file per epoch."
        ) from error
