"""The service under load, compared with `nlp.pipe`, with single calls, and with itself without batching.

    python benchmarks/serve.py MODEL TEXTS... [--requests 20000]

MODEL is a pipeline with a `lex_matcher`; TEXTS are files in any format that `spacy lexner convert` reads. The service
runs in a separate process, on the loopback interface, with its default settings. This process is the client: for each
of 1, 16 and 64 concurrent requests, of one text each, a thread with a persistent connection. All sides read the same
texts and alternate, so that other work on the machine affects all: rounds of `nlp.pipe`, of 16 and of 64 concurrent
requests, and of 64 to a second service that does not batch; single texts go through `nlp` and through the service in
turn. At the end another client changes the dictionary 1,000 times under the load of 64, and every answer must match
the dictionary version that it names.

Prints requests per second, latencies, CPU time of the service and of `nlp.pipe`, which other work on the machine
affects less, and resident memory of the service after its first round and at the end.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import spacy
from spacy.language import Language

from spacy_lexner.cli.shared import read_texts

TOKEN = "0123456789abcdef0123456789abcdef"
N_CHANGES = 1000
ROUNDS = 5
SHARES = {1: 0.1, 16: 0.3, 64: 0.6}  # share of the requests, by concurrency
WORD = "市长"  # the word that is changed


class Load(NamedTuple):
    """The outcome of a number of requests."""

    seconds: float
    latencies: List[float]
    characters: int
    errors: int
    answers: List[Tuple[str, Dict[str, Any]]]  # texts and answers


class Server:
    """A service in a separate process."""

    def __init__(self, model: str, folder: Path, port: int, *options: str) -> None:
        (folder / "token").write_text(TOKEN)
        command = [sys.executable, "-m", "spacy", "lexner", "serve", model, "--port", str(port)]
        command += ["--state", str(folder / f"state-{port}"), "--token-file", str(folder / "token"), *options]
        self.port = port
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while self.call("GET", "/ready")[0] != 200:
            if self.process.poll() is not None:
                raise RuntimeError(f"The service ended: {' '.join(command)}")
            time.sleep(0.2)

    def call(self, method: str, path: str, body: Any = None) -> Tuple[int, Any]:
        """RETURNS (Tuple[int, Any]): Status and answer; status 0 if there is no answer."""
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            return request(connection, method, path, body)
        except OSError:
            return 0, None

    @property
    def processes(self) -> List[Path]:
        """RETURNS (List[Path]): The /proc folders of the service's process and of those it has started."""
        own = Path(f"/proc/{self.process.pid}")
        children = (own / "task" / own.name / "children").read_text().split()
        return [own, *(own.parent / child for child in children)]

    @property
    def cpu(self) -> float:
        """RETURNS (float): Seconds of CPU time so far."""
        fields = [(process / "stat").read_text().rpartition(")")[2].split() for process in self.processes]
        return sum(int(row[11]) + int(row[12]) for row in fields) / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> float:
        """RETURNS (float): Resident memory in MB."""
        status = [(process / "status").read_text() for process in self.processes]
        return sum(int(one.partition("VmRSS:")[2].split()[0]) for one in status) / 1024


@contextmanager
def serve(model: str, folder: Path, port: int, *options: str) -> Iterator[Server]:
    server = Server(model, folder, port, *options)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait()


def request(connection: http.client.HTTPConnection, method: str, path: str, body: Any = None) -> Tuple[int, Any]:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
    connection.request(method, path, None if body is None else json.dumps(body).encode(), headers)
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def send(port: int, texts: Sequence[str], concurrency: int) -> Load:
    """Send texts, one per request."""
    waiting: SimpleQueue = SimpleQueue()
    for text in texts:
        waiting.put(text)
    latencies: List[float] = []
    answers: List[Tuple[str, Dict[str, Any]]] = []
    errors: List[Any] = []

    def work() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        while True:
            try:
                text = waiting.get_nowait()
            except Empty:
                return
            start = time.perf_counter()
            try:
                status, answer = request(connection, "POST", "/annotate", {"text": text})
            except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: the answer is not JSON
                status, answer = 0, error
                connection.close()
            latencies.append(time.perf_counter() - start)
            if status == 200:
                answers.append((text, answer))
            else:
                errors.append(answer)

    threads = [threading.Thread(target=work) for _ in range(concurrency)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Load(time.perf_counter() - start, latencies, sum(map(len, texts)), len(errors), answers)


def time_pipe(nlp: Language, texts: Sequence[str]) -> float:
    start = time.perf_counter()
    for _ in nlp.pipe(texts):
        pass
    return time.perf_counter() - start


def time_alone(nlp: Language, port: int, texts: Sequence[str]) -> Tuple[List[float], Load]:
    """The time of each text through the pipeline and through the service, in turn."""
    own, latencies, errors = [], [], 0
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    for text in texts:
        start = time.perf_counter()
        nlp(text)
        own.append(time.perf_counter() - start)
        start = time.perf_counter()
        errors += request(connection, "POST", "/annotate", {"text": text})[0] != 200
        latencies.append(time.perf_counter() - start)
    return own, Load(sum(latencies), latencies, sum(map(len, texts)), errors, [])


def change_under_load(nlp: Language, server: Server, texts: Sequence[str]) -> Tuple[int, int]:
    """Change the dictionary while texts are annotated.

    RETURNS (Tuple[int, int]): How many changes failed, and how many answers do not match their version.
    """
    matcher = nlp.get_pipe("lex_matcher")
    label = server.call("GET", "/version")[1]["labels"][0]
    versions: Dict[str, Optional[str]] = {matcher.version: None}
    failed = 0
    done = threading.Event()
    answers: List[Tuple[str, Dict[str, Any]]] = []

    def annotate() -> None:
        while not done.is_set():
            answers.extend(send(server.port, texts, 64).answers)

    thread = threading.Thread(target=annotate)
    thread.start()
    for i in range(N_CHANGES):
        mode = "force" if i % 2 else "forbid"
        rule = {"word": WORD, "mode": mode, "label": label if i % 2 else ""}
        status, answer = server.call("POST", "/rules", {"rules": [rule], "replace": True})
        failed += status != 200
        versions[answer["lex_version"]] = mode
    done.set()
    thread.join()
    wrong = 0
    for mode in ("forbid", "force"):
        matcher.add_rules([(WORD, mode, label if mode == "force" else "")])
        expected = {doc.text: [(e.start_char, e.end_char, e.label_) for e in doc.ents] for doc in nlp.pipe(texts)}
        for text, answer in answers:
            if versions.get(answer["lex_version"], "unknown") == mode:
                found = [(e["start"], e["end"], e["label"]) for e in answer["results"][0]["entities"]]
                wrong += found != expected[text]
    wrong += sum(answer["lex_version"] not in versions for _, answer in answers)
    matcher.remove_rules([WORD])
    return failed, wrong


def show(title: str, load: Load) -> None:
    p50, p99 = np.percentile(load.latencies, (50, 99)) * 1000
    rate = len(load.latencies) / load.seconds
    print(
        f"{title:24}{rate:12.1f}{load.characters / load.seconds:14.0f}{p50:10.1f}{p99:10.1f}{load.errors:8d}",
        flush=True,
    )


def join(loads: Sequence[Load]) -> Load:
    return Load(
        sum(load.seconds for load in loads),
        [one for load in loads for one in load.latencies],
        sum(load.characters for load in loads),
        sum(load.errors for load in loads),
        [],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model")
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--port", type=int, default=8765)
    options = parser.parse_args()
    nlp = spacy.load(options.model)
    stream = cycle(read_texts(options.texts))
    parts = {
        n: [list(islice(stream, int(options.requests * share / ROUNDS))) for _ in range(ROUNDS)]
        for n, share in SHARES.items()
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            serve(options.model, folder, options.port) as server,
            serve(options.model, folder, options.port + 1, "--max-batch-tokens", "0") as unbatched,
        ):
            result = compare(nlp, server, unbatched, parts)
    print(json.dumps({key: round(value, 3) for key, value in result.items()}))


def compare(nlp: Language, server: Server, unbatched: Server, parts: Dict[int, List[List[str]]]) -> Dict[str, float]:
    """RETURNS (Dict[str, float]): The figures."""
    send(server.port, parts[64][0], 64)
    before = server.memory
    pipe, own, loads, single = 0.0, [], {n: [] for n in parts}, []
    pipe_cpu = service_cpu = 0.0
    for i in range(ROUNDS):
        times, alone = time_alone(nlp, server.port, parts[1][i])
        own += times
        loads[1].append(alone)
        loads[16].append(send(server.port, parts[16][i], 16))
        cpu = time.process_time()
        pipe += time_pipe(nlp, parts[64][i])
        pipe_cpu, cpu = pipe_cpu + time.process_time() - cpu, server.cpu
        loads[64].append(send(server.port, parts[64][i], 64))
        service_cpu += server.cpu - cpu
        single.append(send(unbatched.port, parts[64][i][: len(parts[64][i]) // 4], 64))
    joined = {n: join(some) for n, some in loads.items()}
    after = server.memory
    print(f"{'':24}{'requests/s':>12}{'characters/s':>14}{'p50 ms':>10}{'p99 ms':>10}{'errors':>8}")
    for n, load in joined.items():
        show(f"{n} at once", load)
    show("64, without batching", join(single))
    p50, p99 = np.percentile(own, (50, 99)) * 1000
    print(f"{'nlp(text)':24}{len(own) / sum(own):12.1f}{joined[1].characters / sum(own):14.0f}{p50:10.1f}{p99:10.1f}")
    n_texts = sum(map(len, parts[64]))
    print(f"{'nlp.pipe':24}{n_texts / pipe:12.1f}{joined[64].characters / pipe:14.0f}")
    print(f"\nCPU time at 64: {service_cpu:.1f} s of the service, {pipe_cpu:.1f} s of nlp.pipe")
    print(f"memory: {before:.0f} MB after the first round, {after:.0f} MB at the end")
    failed, wrong = change_under_load(nlp, server, parts[16][0][:256])
    print(f"{N_CHANGES} changes under load: {failed} failed, {wrong} answers do not match their version\n")
    rate, slow = joined[64].characters / joined[64].seconds, join(single)
    return {
        "cpu_share_of_pipe_64": pipe_cpu / service_cpu,
        "share_of_pipe_64": rate / (joined[64].characters / pipe),
        "batching_x_64": rate / (slow.characters / slow.seconds),
        "p99_x_1": float(np.percentile(joined[1].latencies, 99) / np.percentile(own, 99)),
        "errors": sum(load.errors for load in joined.values()) + failed + wrong,
        "growth_mb": after - before,
    }


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
