"""Real texts through `spacy lexner annotate` with each engine, and through one that is killed again and again.

    OMP_NUM_THREADS=1 python benchmarks/annotate.py MODEL OUT INPUT... [--engines local processes ray] [--workers 2]
        [--kills 5] [--killed processes]

OUT must not exist. Each engine gets a run of its own; Ray runs on a cluster of as many nodes as there are workers, with
a processor each, on this machine. Then the engine named by --killed annotates the same texts while SIGKILL ends its
main process at random moments, --kills times, and the same command resumes it. All outputs are compared byte for byte.

The last line is a JSON object. For each engine: `seconds` and `characters_per_second` of the whole command, loading
included, and `peak_mb`, the largest memory of any process at a time (its proportional set size: pages that n processes
share count 1 / n). `killed_after`: the seconds after which each killed run ended. `identical`: whether all outputs are,
if there are several.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence

SAMPLE_SECONDS = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a pipeline, by folder or name")
    parser.add_argument("out", type=Path, help="folder for the outputs; must not exist")
    parser.add_argument("inputs", nargs="+", help="texts, in any format that annotate reads")
    parser.add_argument("--engines", nargs="+", default=["local", "processes", "ray"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--killed", default="processes", help="the engine to kill")
    arguments = parser.parse_args()
    if arguments.kills and arguments.killed not in arguments.engines:
        parser.error(f"--killed is {arguments.killed!r}; expected one of --engines, or --kills 0")
    arguments.out.mkdir(parents=True)
    figures: Dict[str, Any] = {}
    for engine in arguments.engines:
        figures[engine] = measure(arguments, engine)
        print(engine, json.dumps(figures[engine]), flush=True)
    outputs = [arguments.out / engine for engine in arguments.engines]
    if arguments.kills:
        figures["killed_after"] = kill(arguments, figures[arguments.killed]["seconds"])
        outputs.append(arguments.out / "killed")
    first, *others = map(read_all, outputs)
    if others:
        figures["identical"] = all(other == first for other in others)
    print(json.dumps(figures))


def measure(arguments: argparse.Namespace, engine: str) -> Dict[str, float]:
    with nodes(arguments, engine) as address, sampled_memory() as samples:
        start = time.perf_counter()
        subprocess.run(command(arguments, engine, engine, address), check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
    n_characters = count_characters(arguments.out / engine)
    rate = n_characters / seconds
    return {"seconds": round(seconds, 1), "characters_per_second": round(rate), "peak_mb": round(max(samples))}


def kill(arguments: argparse.Namespace, seconds: float) -> List[float]:
    """Kill runs at random moments, then let one finish. RETURNS (List[float]): The seconds that each run lived."""
    lived = []
    rng = random.Random(0)
    with nodes(arguments, arguments.killed) as address:
        run = command(arguments, arguments.killed, "killed", address)
        for _ in range(arguments.kills):
            process = subprocess.Popen(run, stdout=subprocess.DEVNULL)
            lived.append(round(rng.uniform(0, 1.5 * seconds / (arguments.kills + 1)), 1))
            time.sleep(lived[-1])
            if process.poll() is not None:
                raise SystemExit(f"The run ended within {lived[-1]} seconds, before it was killed: give it more texts.")
            process.kill()
            process.wait()
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    return lived


def command(arguments: argparse.Namespace, engine: str, output: str, address: Optional[str]) -> List[str]:
    run = [sys.executable, "-m", "spacy", "lexner", "annotate", arguments.model, *arguments.inputs]
    run += [str(arguments.out / output), "--engine", engine]
    if engine != "local":
        run += ["--workers", str(arguments.workers)]
    return run + (["--address", address] if address else [])


@contextmanager
def nodes(arguments: argparse.Namespace, engine: str) -> Iterator[Optional[str]]:
    """For Ray, a cluster on this machine and its address."""
    if engine != "ray":
        yield None
        return
    from ray.cluster_utils import Cluster

    environment = {"RAY_worker_niceness": "0", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    node = {"num_cpus": 1, "object_store_memory": 200 * 2**20, "env_vars": environment}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    for _ in range(arguments.workers - 1):
        cluster.add_node(**node)
    try:
        yield cluster.address
    finally:
        cluster.shutdown()


@contextmanager
def sampled_memory() -> Iterator[List[float]]:
    """Record the memory, in MB, of the processes below this one."""
    samples = [0.0]
    done = threading.Event()

    def sample() -> None:
        while not done.wait(SAMPLE_SECONDS):
            samples.extend(map(proportional_mb, descendants()))

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join()


def descendants() -> Sequence[int]:
    """The processes that this one has started, those that they have started, and so on."""
    found = [os.getpid()]
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text("utf8").rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    for pid in found:  # which grows
        found += [child for child, parent in parents.items() if parent == pid]
    return found[1:]


def proportional_mb(pid: int) -> float:
    try:
        rows = Path(f"/proc/{pid}/smaps_rollup").read_text("utf8").splitlines()
    except OSError:
        return 0.0
    return next((int(row.split()[1]) / 1024 for row in rows if row.startswith("Pss:")), 0.0)


def count_characters(output: Path) -> int:
    texts = (json.loads(line)["text"] for path in output.glob("part-*.jsonl") for line in path.open(encoding="utf8"))
    return sum(map(len, texts))


def read_all(output: Path) -> Dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(output.rglob("*")) if path.is_file()}


if __name__ == "__main__":
    main()
