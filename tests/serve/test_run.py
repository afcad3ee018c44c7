"""Real processes: signals, sudden ends, idle connections."""

import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException

import pytest
from small_service import TEXT, TOKEN

N_KILLS = 20
N_IDLE = 1000


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    """`spacy lexner serve` as a process."""

    def __init__(self, model, folder):
        (folder / "token").write_text(TOKEN)
        self.port = free_port()
        command = [sys.executable, "-m", "spacy", "lexner", "serve", model, "--port", str(self.port)]
        command += ["--state", folder / "state", "--token-file", folder / "token"]
        self.log = folder / "log"
        with self.log.open("a") as log:
            self.process = subprocess.Popen(command, stderr=log, stdout=log)
        while True:
            assert self.process.poll() is None, self.log.read_text()
            try:
                assert self.ask("GET", "/ready")[0] == 200
                return
            except ConnectionRefusedError:
                time.sleep(0.1)

    def ask(self, method, path, body=None):
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            data = response.read().decode()
            return response.status, json.loads(data) if path != "/metrics" else data

    def end(self, number):
        self.process.send_signal(number)
        return self.process.wait(60)


@contextmanager
def running(model, folder):
    server = Server(model, folder)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


def test_signals(model_folder, tmp_path):
    """SIGHUP reloads the model, or keeps the old one; on SIGTERM, requests that have arrived are answered."""
    model = tmp_path / "model"
    shutil.copytree(model_folder, model)
    with running(model, tmp_path) as server:
        before = server.ask("POST", "/annotate", {"text": TEXT})
        assert before[0] == 200
        for damage, result in ((False, "loaded"), (True, "failed")):
            if damage:
                (model / "config.cfg").write_text("[nlp")
            server.process.send_signal(signal.SIGHUP)
            wait_for_metric(server, f'lexner_reloads_total{{result="{result}"}} 1.0')
        assert "The old model stays" in server.log.read_text()
        assert server.ask("POST", "/annotate", {"text": TEXT}) == before
        answers = []
        texts = {"texts": [TEXT * 20] * 100}
        asking = threading.Thread(target=lambda: answers.append(server.ask("POST", "/annotate", texts)))
        asking.start()
        wait_for_metric(server, "lexner_texts_waiting 0.0", there=False)
        assert server.end(signal.SIGTERM) == 0
        asking.join()
    [(status, answer)] = answers
    assert status == 200 and len(answer["results"]) == 100


def wait_for_metric(server, line, *, there=True):
    for _ in range(600):
        if (line in server.ask("GET", "/metrics")[1]) is there:
            return
        time.sleep(0.02)
    raise AssertionError(f"{line}: {'never' if there else 'always'} there\n{server.log.read_text()}")


def processes_of(server):
    """The HTTP process, and what else the service has started."""
    with open(f"/proc/{server.process.pid}/task/{server.process.pid}/children") as file:
        return [int(number) for number in file.read().split()]


def http_process_of(server):
    return next(number for number in processes_of(server) if b"spawn_main" in read_command(number))


def read_command(number):
    try:
        with open(f"/proc/{number}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def test_no_process_is_left_alone(model_folder, tmp_path):
    """If one of the two processes is killed, the other one ends: the model without a client, HTTP without a model."""
    with running(model_folder, tmp_path) as server:
        os.kill(http_process_of(server), signal.SIGKILL)
        assert server.process.wait(60) == 1
        assert "The HTTP process has ended" in " ".join(server.log.read_text().split())
    with running(model_folder, tmp_path) as server:
        others = processes_of(server)
        assert len(others) > 0
        server.end(signal.SIGKILL)
        for _ in range(600):
            if not any(read_command(number) for number in others):
                return
            time.sleep(0.05)
    raise AssertionError("processes are left")


def test_clients_that_mean_no_good(model_folder, tmp_path):
    """1,000 silent clients do not keep others out, nor do clients that send endlessly."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < N_IDLE + 200:
        pytest.skip(f"needs {N_IDLE + 200} open files, and {hard} are allowed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, N_IDLE + 200), hard))
    clients = []
    try:
        with running(model_folder, tmp_path) as server:

            def connect(data=b""):
                clients.append(socket.create_connection(("127.0.0.1", server.port), timeout=60))
                clients[-1].sendall(data)
                return clients[-1]

            for _ in range(N_IDLE):
                connect()
            connect(b"POST /annotate HTTP/1.1\r\nHost: localhost\r\nContent-Len")
            head = b"POST /annotate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            large = connect(head + b"Content-Length: 104857600\r\n\r\n{")
            assert large.recv(100).startswith(b"HTTP/1.1 413")
            endless = connect(head + b"Transfer-Encoding: chunked\r\n\r\n")
            with pytest.raises(ConnectionError):  # refused and closed while it is still sending
                while True:
                    endless.sendall(b"100000\r\n" + b"a" * 0x100000 + b"\r\n")
            for _ in range(3):
                assert server.ask("POST", "/annotate", {"text": TEXT})[0] == 200
            assert "Traceback" not in server.log.read_text()
    finally:
        for one in clients:
            one.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_second_service_and_a_read_only_directory(model_folder, tmp_path):
    def start(state):
        command = [sys.executable, "-m", "spacy", "lexner", "serve", model_folder, "--port", str(free_port())]
        command += ["--state", state, "--token-file", tmp_path / "token"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 1 and "Traceback" not in done.stderr + done.stdout
        return " ".join((done.stdout + done.stderr).split())

    with running(model_folder, tmp_path):
        assert "another service uses this state directory" in start(tmp_path / "state")
    assert "cannot be written" in start("/proc/state")


def added_words(server):
    words, place = set(), 0
    while place is not None:
        page = server.ask("GET", f"/words?changed=true&limit=1000&offset={place}")[1]
        words.update(row["word"] for row in page["words"])
        place = page["next"]
    return words


def kill_while_changing(model, folder, chance, number):
    """Change the dictionary until the service is killed. RETURNS (Set[str]): The words that it confirmed."""
    promised = set()
    with running(model, folder) as server:
        known = added_words(server)
        killer = threading.Timer(chance.uniform(0.0, 0.5), server.process.kill)
        killer.start()
        try:
            for i in range(10_000):
                word = f"词{number}第{i}"
                status, _ = server.ask("POST", "/words", {"words": [word]})
                assert status == 200
                promised.add(word)
        except (ConnectionError, HTTPException):  # at once, or in the middle of an answer
            pass
        killer.join()
    return known, promised


@pytest.mark.parametrize("n_kills", [2, pytest.param(N_KILLS, marks=[pytest.mark.slow, pytest.mark.timeout(900)])])
def test_nothing_that_was_promised_is_lost(model_folder, tmp_path, n_kills):
    chance = random.Random(0)
    promised = set()
    for number in range(n_kills):
        known, more = kill_while_changing(model_folder, tmp_path, chance, number)
        assert promised <= known and len(known) <= len(promised) + number  # one unconfirmed word may be kept
        promised |= more
    with running(model_folder, tmp_path) as server:
        known = added_words(server)
        assert promised <= known and len(promised) > 0
        assert os.path.getsize(tmp_path / "state" / "journal") > 0
