"""A cluster of two nodes on this machine."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar, List

import pytest
from troublesome_package import make_troublesome

from spacy_lexner.scale import annotate, cluster, flight
from spacy_lexner.scale.cluster_stream import Answer, StreamError, actor_options
from spacy_lexner.scale.processes import WorkerError
from spacy_lexner.scale.results import Result, Wanted
from spacy_lexner.scale.tasks import Batch

pytestmark = [pytest.mark.filterwarnings("ignore::ResourceWarning"), pytest.mark.timeout(600)]

OPTIONS = {"batch_characters": 12, "shard_texts": 7}
NAME = "troublesome"
OLD = """
class Needed:
    def __init__(self, *needed):
        pass

    def missing(self):
        return "spacy_lexner 0.0.1 is installed"
"""


def write(path, texts):
    path.write_text("".join(text + "\n" for text in texts), "utf8")
    return path


def read_all(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def find_maps(folder):
    """The files in a folder that processes have mapped, with these processes."""
    found = {}
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            lines = maps.read_text().splitlines()
        except OSError:  # it has ended
            continue
        for line in lines:
            _, _, _, device, inode, *path = line.split(maxsplit=5)
            if path and path[0].startswith(str(folder)):
                found.setdefault((path[0], device, inode), set()).add(maps.parent.name)
    return found


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The folder of a package with a pipeline that does what texts tell it to."""
    folder = tmp_path_factory.mktemp("package")
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert make_troublesome(folder, monkeypatch) == NAME
        yield folder


class TwoNodes:
    """A cluster of two nodes with one processor each."""

    def __init__(self, site):
        from ray.cluster_utils import Cluster

        self.site = site
        self.cluster = Cluster(initialize_head=True, head_node_args={**self.options(site), "include_dashboard": False})
        self.address = self.cluster.address
        self.second = self.add(site)

    def options(self, site):
        environment = {"PYTHONPATH": str(site), "RAY_worker_niceness": "0"}
        return {"num_cpus": 1, "object_store_memory": 80 * 2**20, "env_vars": environment}

    def add(self, site):
        return self.cluster.add_node(**self.options(site))

    def remove(self, node):
        self.cluster.remove_node(node, allow_graceful=False)


@pytest.fixture(scope="module")
def nodes(package):
    ray = pytest.importorskip("ray", reason='needs Ray: pip install "spacy-lexner[ray]"')
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(cluster, "TICK_SECONDS", 0.5)
        monkeypatch.setattr(flight, "SILENCE_SECONDS", 8.0)
        monkeypatch.setattr(flight, "PATIENCE_SECONDS", 300.0)
        two = TwoNodes(package / "site")
        yield two
        ray.shutdown()
        two.cluster.shutdown()


@pytest.fixture(scope="module")
def slow(package):
    """Slow texts that keep two workers busy, and their annotation without a cluster."""
    path = write(package / "slow.txt", [f"齐{number}在南京" for number in range(60)])
    annotate(NAME, [path], package / "slow", **OPTIONS)
    return path, read_all(package / "slow")


def test_same_bytes_though_a_text_ends_its_process_and_one_its_actor(tmp_path, package, nodes):
    path = write(tmp_path / "in.txt", ["我在南京", "看长江", "误入南京", "天", "死", "坏", "长江", "南京的长江"])
    annotate(NAME, [path], tmp_path / "local", **OPTIONS)
    summary = annotate(NAME, [path], tmp_path / "ray", engine="ray", address=nodes.address, workers=2, **OPTIONS)
    assert (package / "site" / "actor").exists()
    assert read_all(tmp_path / "ray") == read_all(tmp_path / "local")
    assert (summary.texts, summary.quarantined) == (8, 2)


def test_a_text_that_ends_its_actor_each_time(tmp_path, nodes):
    path = write(tmp_path / "in.txt", ["我在南京", "杀", "看长江"])
    summary = annotate(NAME, [path], tmp_path / "out", engine="ray", address=nodes.address, workers=1)
    assert (summary.entities, summary.quarantined) == (2, 1)
    [fault] = (tmp_path / "out" / "quarantine.jsonl").read_text("utf8").splitlines()
    assert '"text": "杀"' in fault and "its worker was lost repeatedly" in fault


def test_two_workers_share_the_lexicon_and_a_node_goes(tmp_path, slow, nodes):
    path, expected = slow
    mapped = []

    def report(summary, progress):
        if summary.texts >= 14 and not mapped:
            mapped.append(find_maps(nodes.site))
            nodes.remove(nodes.second)

    options = {**OPTIONS, "address": nodes.address, "workers": 2, "report": report}
    try:
        annotate(NAME, [path], tmp_path / "ray", engine="ray", **options)
    finally:
        nodes.second = nodes.add(nodes.site)
    assert read_all(tmp_path / "ray") == expected
    if Path("/proc/self/maps").exists():
        assert mapped[0] and all(len(processes) == 2 for processes in mapped[0].values())


def test_a_driver_that_is_killed(tmp_path, slow, nodes):
    path, expected = slow
    arguments = [NAME, str(path), str(tmp_path / "ray"), "--address", nodes.address, "--shard-texts", "7", "-n", "2"]
    command = [sys.executable, "-m", "spacy", "lexner", "annotate", *arguments, "--batch-tokens", "12"]
    environment = {**os.environ, "PYTHONPATH": str(nodes.site)}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    while len(list((tmp_path / "ray" / "done").glob("*.json"))) < 3:
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    summary = annotate(NAME, [path], tmp_path / "ray", **OPTIONS, engine="ray", address=nodes.address, workers=2)
    assert summary.resumed >= 3 and read_all(tmp_path / "ray") == expected


def test_nodes_with_another_version_and_without_the_package(tmp_path, model, nodes, monkeypatch):
    """Workers look first in the folder where their driver was started, so that must be another one."""
    for name, code in (("old", OLD), ("none", "raise ModuleNotFoundError('No module named spacy_lexner')")):
        package = tmp_path / name / "spacy_lexner" / "scale"
        package.mkdir(parents=True)
        (package.parent / "__init__.py").touch()
        (package / "__init__.py").touch()
        (package / "nodes.py").write_text(code, "utf8")
    path = write(tmp_path / "in.txt", ["我在南京"])
    monkeypatch.chdir(tmp_path)
    added = [nodes.add(tmp_path / "old"), nodes.add(tmp_path / "none")]
    try:
        with pytest.raises(WorkerError, match="Install the same packages on every node") as info:
            annotate(model, [path], tmp_path / "out", engine="ray", address=nodes.address)
    finally:
        for node in added:
            nodes.remove(node)
    assert "spacy_lexner 0.0.1 is installed" in str(info.value)
    assert "spacy_lexner cannot be imported (ModuleNotFoundError: No module named spacy_lexner)" in str(info.value)


def test_no_cluster(tmp_path, model):
    pytest.importorskip("ray", reason='needs Ray: pip install "spacy-lexner[ray]"')
    path = write(tmp_path / "in.txt", ["我在南京"])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    for wrong in (address, "nowhere"):
        with pytest.raises(WorkerError, match=f"no Ray cluster at {wrong}.*ray start --head"):
            annotate(model, [path], tmp_path / "out", engine="ray", address=wrong)


CONNECT = """
import socket
from spacy_lexner.scale import nodes

nodes.CONNECT_SECONDS = 3.0
with socket.create_server(("127.0.0.1", 0)) as other:
    nodes.connect(f"127.0.0.1:{other.getsockname()[1]}")
"""


def test_another_service_at_the_address():
    pytest.importorskip("ray", reason='needs Ray: pip install "spacy-lexner[ray]"')
    found = subprocess.run([sys.executable, "-c", CONNECT], capture_output=True, text=True, timeout=120)
    assert found.returncode == 1 and "no answer in 3 seconds" in found.stderr


class BrokenStream:
    """A stream that fails after this many answers."""

    left: ClassVar[List[int]] = []  # for each stream

    def __init__(self, setup, workers, gpu_share):
        self.n, self.sent = self.left.pop(0), []

    def offer(self, key, texts, seconds):
        self.sent.append((key, texts))
        return True

    def answers(self, seconds):
        while self.sent:
            key, texts = self.sent.pop()
            if not self.n:
                raise StreamError("the node is gone")
            self.n -= 1
            yield Answer(key, [Result({"text": text}) for text in texts], None, time.monotonic())

    def finish(self):
        pass

    close = finish


def make_engine(monkeypatch, *left):
    """An engine whose streams end after this many answers each."""
    monkeypatch.setattr(BrokenStream, "left", list(left))
    for name, fake in {
        "Stream": BrokenStream,
        "import_ray": lambda *_: None,
        "import_arrow": lambda *_: None,
        "connect": lambda address: False,
        "check_nodes": lambda needed: None,
        "Needed": SimpleNamespace(here=lambda model: model),
    }.items():
        monkeypatch.setattr(cluster, name, fake)
    return cluster.RayEngine("model", Wanted())


def test_a_stream_that_ray_ends_is_followed_by_another(monkeypatch):
    batches = [Batch(0, [number], [f"text {number}"]) for number in range(5)]
    assert list(make_engine(monkeypatch, 2, 0, 0, 1, 9).run(iter(batches))) == batches
    with pytest.raises(WorkerError, match="ended 3 times: the node is gone"):
        list(make_engine(monkeypatch, 2, 0, 0, 0).run(iter([Batch(0, [n], ["text"]) for n in range(5)])))


@pytest.mark.parametrize("gpu_id, share", [(-1, 0.0), (0, 0.25)])
def test_a_part_of_a_gpu(tmp_path, model, monkeypatch, gpu_id, share):
    given = {}

    class Engine:
        def __init__(self, model, wanted, **options):
            given.update(options)

        def run(self, batches):
            return iter(())

        def close(self):
            pass

    monkeypatch.setattr(sys.modules["spacy_lexner.scale.annotate"], "RayEngine", Engine)
    path = write(tmp_path / "in.txt", ["我在南京"])
    annotate(model, [path], tmp_path / "out", engine="ray", gpu_id=gpu_id, gpu_share=0.25, threads=2)
    assert given["gpu_share"] == share
    reserved = {"num_gpus": 0.25} if share else {"num_cpus": 2}
    assert actor_options(2, share) == {**reserved, "max_restarts": 100, "max_task_retries": 0}
