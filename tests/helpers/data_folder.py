"""The folder of the public data sets, which may not exist."""

import os
from pathlib import Path

DATA = Path(os.environ.get("LEXNER_DATA", Path(__file__).parents[3] / "shared" / "data"))
