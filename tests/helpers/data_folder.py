"""Where the public data sets lie, whether they are there or not."""

import os
from pathlib import Path

DATA = Path(os.environ.get("LEXNER_DATA", Path(__file__).parents[3] / "shared" / "data"))
