"""The text that benchmarks read."""

import gzip
import os
import random
from pathlib import Path

DATA = Path(os.environ.get("LEXNER_DATA", Path(__file__).parents[2] / "shared" / "data"))


def read_text(n_characters: int) -> str:
    """Real text if the data folder has the public data sets, otherwise random characters."""
    path = DATA / "text" / "lctt.txt.gz"
    if not path.is_file():
        return "".join(random.Random(0).choices([chr(code) for code in range(0x4E00, 0x5200)], k=n_characters))
    with gzip.open(path, "rt", encoding="utf8") as file:
        return file.read(n_characters)
