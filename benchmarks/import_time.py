"""What our factories add to the time of `spacy.blank("zh")`, which loads all installed factories.

    python benchmarks/import_time.py

Fresh processes alternate between having our factories and hiding them. Those of spacy-transformers, which import torch
and transformers, are hidden in both. Seconds of wall-clock time, and of CPU time, which other processes disturb less.
The last line is JSON.
"""

import json
import statistics
import subprocess
import sys

REPEATS = 9
CHILD = """
import json, sys, time
from importlib.metadata import Distribution, EntryPoints

hidden = tuple(sys.argv[1:])
every = Distribution.entry_points.fget
Distribution.entry_points = property(lambda self: EntryPoints(
    point for point in every(self) if not (point.group == "spacy_factories" and point.value.startswith(hidden))
))
start = time.perf_counter()
import spacy
imported = time.perf_counter()
cpu = time.process_time()
nlp = spacy.blank("zh")
cpu = time.process_time() - cpu
done = time.perf_counter()
print(json.dumps({
    "import": imported - start,
    "blank": done - imported,
    "cpu": cpu,
    "ours": nlp.has_factory("lex_matcher"),
    "transformers": "transformers" in sys.modules,
}))
"""


def measure(*hidden: str) -> dict:
    result = subprocess.run([sys.executable, "-c", CHILD, *hidden], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(result.stdout)


def main() -> None:
    settings = {"with ours": ("spacy_transformers",), "without": ("spacy_transformers", "spacy_lexner")}
    runs = {name: [] for name in settings}
    for _ in range(REPEATS + 1):
        for name, hidden in settings.items():
            run = measure(*hidden)
            if run["ours"] != (name == "with ours") or run["transformers"]:
                raise SystemExit(f"{name}: the wrong factories were loaded: {run}")
            runs[name].append(run)
    medians = {}
    print(f"{'':<12} {'import spacy s':>15} {'blank s':>9} {'of cpu':>9}")
    for name, measured in runs.items():
        warm = measured[1:]  # the first run fills the disk cache
        medians[name] = {key: statistics.median(run[key] for run in warm) for key in ("import", "blank", "cpu")}
        print("{:<12} {:>15.3f} {:>9.3f} {:>9.3f}".format(name, *medians[name].values()))
    added = {key: round(medians["with ours"][key] - medians["without"][key], 3) for key in ("blank", "cpu")}
    print(json.dumps({"added_seconds": added["blank"], "added_cpu_seconds": added["cpu"]}))


if __name__ == "__main__":
    main()
