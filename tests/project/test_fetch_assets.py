"""Assets are kept, copied from a folder, or downloaded, but only with the right MD5."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import fetch_assets
import paths
import pytest
import srsly
from fetch_assets import fetch, main, md5
from weasel.util import download_file

URL = "https://example.org/train.json"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with one asset, whose correct content is `right`."""
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "right").write_text("right", "utf8")
    asset = {"dest": "assets/mine/train.json", "url": URL, "checksum": md5(tmp_path / "right")}
    other = {"dest": "assets/lexicon/words.txt", "url": URL, "checksum": asset["checksum"]}
    srsly.write_yaml(root / "project.yml", {"assets": [asset, other]})
    monkeypatch.setattr(fetch_assets, "PROJECT", root)
    monkeypatch.setattr(paths, "PROJECT", root)
    monkeypatch.delenv("PWD", raising=False)
    monkeypatch.setattr(fetch_assets, "download_file", lambda *args, **options: pytest.fail("no network here"))
    return root, asset


class BrokenServer(ThreadingHTTPServer):
    """Sends a file, and breaks the connection in its middle as long as `breaks` is set."""

    content, breaks = b"right" * 1000, True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/words.vec"

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            content = self.server.content
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if self.server.breaks else content)
            if self.server.breaks:
                self.connection.shutdown(socket.SHUT_RDWR)

        def log_message(self, *args):
            pass


@pytest.fixture
def server(project, monkeypatch):
    monkeypatch.setattr(fetch_assets, "download_file", download_file)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with BrokenServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def place(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf8")


def test_what_is_there_stays(project):
    root, asset = project
    place(root / asset["dest"], "right")
    assert fetch(asset, None)


@pytest.mark.parametrize("where", ["mine/train.json", "originals/mine/train.json", "train.json"])
def test_copied_from_a_folder(project, tmp_path, where):
    root, asset = project
    place(tmp_path / "data" / where, "right")
    assert fetch(asset, tmp_path / "data")
    assert (root / asset["dest"]).read_text("utf8") == "right"


def test_wrong_copies_are_not_taken(project, tmp_path, monkeypatch, capsys):
    root, asset = project
    place(tmp_path / "data" / "mine" / "train.json", "wrong")
    asked = []
    monkeypatch.setattr(fetch_assets, "download_file", lambda url, path, force: asked.append(url))
    assert not fetch(asset, tmp_path / "data")
    assert asked == [URL]
    assert not (root / asset["dest"]).exists()
    assert "MD5" in capsys.readouterr().out


def test_a_wrong_file_in_place_is_replaced(project, tmp_path):
    root, asset = project
    place(root / asset["dest"], "wrong")
    place(tmp_path / "data" / "train.json", "right")
    assert fetch(asset, tmp_path / "data")
    assert (root / asset["dest"]).read_text("utf8") == "right"


@pytest.mark.parametrize("checked", [True, False])
def test_a_broken_download_leaves_nothing_and_the_next_one_is_complete(project, server, tmp_path, capsys, checked):
    root, asset = project
    (tmp_path / "whole").write_bytes(server.content)
    asset = {**asset, "url": server.url, "checksum": md5(tmp_path / "whole")}
    if not checked:
        del asset["checksum"]
    place = root / asset["dest"]
    assert not fetch(asset, None)
    assert list(place.parent.iterdir()) == []
    assert f"could not be fetched from {server.url}" in capsys.readouterr().out
    server.breaks = False
    place.with_name("train.json.part").write_text("left by a killed run", "utf8")
    assert fetch(asset, None)
    assert [path.name for path in place.parent.iterdir()] == ["train.json"]
    assert place.read_bytes() == server.content


def test_a_truncated_file_in_place_is_downloaded_again(project, monkeypatch, capsys):
    root, asset = project
    place(root / asset["dest"], "rig")
    monkeypatch.setattr(fetch_assets, "download_file", lambda url, path, force: path.write_text("right", "utf8"))
    assert fetch(asset, None)
    assert (root / asset["dest"]).read_text("utf8") == "right"
    assert "incomplete or another file" in capsys.readouterr().out


def test_an_interrupted_copy_leaves_nothing(project, tmp_path, monkeypatch):
    def interrupt(source, path):
        path.write_text("rig", "utf8")
        raise KeyboardInterrupt

    root, asset = project
    place(tmp_path / "data" / "train.json", "right")
    monkeypatch.setattr(fetch_assets.shutil, "copyfile", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(asset, tmp_path / "data")
    assert list((root / asset["dest"]).parent.iterdir()) == []


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("yours", "", ""), "mine"),
        (("mine", "", "no/such/folder"), "not a folder"),
    ],
)
def test_errors_name_what_is_known(project, capsys, arguments, message):
    with pytest.raises(SystemExit):
        main(*arguments)
    assert message in capsys.readouterr().out


def test_a_missing_file_names_its_url_and_the_remedy(project, monkeypatch, capsys):
    monkeypatch.setattr(fetch_assets, "download_file", lambda url, path, force: path.touch())
    with pytest.raises(SystemExit):
        main("mine", "", "")
    out = capsys.readouterr().out
    assert URL in out and "--vars.data_dir" in out


def test_without_a_network_every_missing_file_is_named(project, monkeypatch, capsys):
    def fail(url, path, force):
        raise ConnectionError("no such host")

    monkeypatch.setattr(fetch_assets, "download_file", fail)
    with pytest.raises(SystemExit):
        main("mine", "assets/lexicon/words.txt", "")
    out = capsys.readouterr().out
    assert "no such host" in out and "--vars.data_dir" in out
    assert "train.json is missing" in out and "words.txt is missing" in out


def test_lexicon_files_come_along_if_they_are_assets(project, tmp_path):
    root, _ = project
    place(tmp_path / "data" / "train.json", "right")
    place(tmp_path / "data" / "words.txt", "right")
    main("mine", "assets/lexicon/words.txt elsewhere/words.txt", str(tmp_path / "data"))
    assert (root / "assets" / "lexicon" / "words.txt").is_file()


def test_files_that_later_commands_read_are_noted_with_their_content(project, tmp_path, monkeypatch):
    """A word list, a folder and the member of an archive; a checkpoint by name is no file."""
    root, _ = project
    monkeypatch.setenv("PWD", str(tmp_path))
    names = ["my_words.txt", "my_bert", "words.zip/words.txt"]
    for name in ("my_words.txt", "my_bert/config.json", "words.zip"):
        place(tmp_path / name, "first")

    def noted():
        main(also=" ".join([*names, "hfl/some-bert", "null"]))
        return srsly.read_json(root / "assets" / "inputs.json")

    before = noted()
    assert list(before) == names and noted() == before
    for changed, name in (("my_words.txt", names[0]), ("my_bert/config.json", names[1]), ("words.zip", names[2])):
        place(tmp_path / changed, "second")
        now = noted()
        assert {key for key in names if now[key] != before[key]} == {name}
        before = now
    main()  # as another script calls it
    assert srsly.read_json(root / "assets" / "inputs.json") == before


def sources(root, name):
    return {split: source["path"] for split, source in srsly.read_json(root / "assets" / name / "sources.json").items()}


@pytest.mark.parametrize("where", [".", "project", "elsewhere"])
def test_own_files_are_found_where_the_command_is_typed_and_in_the_project(project, tmp_path, monkeypatch, where):
    root, _ = project
    for split in ("train", "test"):
        place(tmp_path / where / f"my_{split}.conll", split)
    if where == "elsewhere":
        monkeypatch.setenv("PWD", str(tmp_path / where))
    main("yours", train="my_train.conll", test="my_test.conll")
    expected = {split: str(tmp_path / where / f"my_{split}.conll") for split in ("train", "test")}
    assert sources(root, "yours") == {split: str(path) for split, path in expected.items()}


def test_own_files_by_absolute_path_are_remembered_with_their_content(project, tmp_path):
    root, _ = project
    files = {split: tmp_path / "data" / f"{split}.jsonl" for split in ("train", "dev", "test")}
    for split, file in files.items():
        place(file, split)
    main("yours", **{split: str(file) for split, file in files.items()})
    first = (root / "assets" / "yours" / "sources.json").read_text("utf8")
    main("yours")
    assert (root / "assets" / "yours" / "sources.json").read_text("utf8") == first
    place(files["dev"], "changed")
    main("yours")
    assert (root / "assets" / "yours" / "sources.json").read_text("utf8") != first
    assert sources(root, "yours") == {split: str(file) for split, file in files.items()}


@pytest.mark.parametrize(
    "name, files, message",
    [
        ("yours", {}, "--vars.train my_train.conll"),
        ("yours", {"train": "my_train.conll"}, "The test file of yours is not given"),
        ("yours", {"test": "my_train.conll"}, "The train file of yours is not given"),
        ("yours", {"train": "my_train.conll", "test": "typo.conll"}, "There is no typo.conll in"),
        ("yours", {"train": "/typo.conll"}, "--vars.train FILE"),
        ("mine", {"train": "my_train.conll"}, "another name: --vars.dataset mine"),
    ],
)
def test_what_to_type_for_own_data(project, tmp_path, capsys, name, files, message):
    place(tmp_path / "my_train.conll", "train")
    with pytest.raises(SystemExit):
        main(name, **files)
    assert message in " ".join(capsys.readouterr().out.split())
