"""The Python of docs/usage/service.md, against a service; and its tables, against the code."""

import re
from pathlib import Path

from pages import read_blocks, run_python
from small_service import TOKEN, changing, serving, train_small

from spacy_lexner.serve.settings import Limits

PAGE = Path(__file__).parents[2] / "docs" / "usage" / "service.md"
TEXT = PAGE.read_text("utf8")


def test_the_python_of_the_page(tmp_path):
    [block] = [block for block in read_blocks(PAGE) if block.language == "py"]
    train_small().to_disk(tmp_path / "model")
    with serving(tmp_path / "model", **changing(tmp_path)) as client:
        version = client.service.version
        code = block.body.replace("token)", "token, transport=transport)")
        printed = run_python(code, PAGE.name, {"token": TOKEN, "transport": client._transport}).splitlines()
        assert client.service.version == version and client.service.dictionary.history.number == 2
        known = client.get("/metrics").text
        described = client.get("/openapi.json").json()["paths"]
        paths = {f"{method.upper()} {path}" for path, methods in described.items() for method in methods}
    assert printed[0] == "[('南京市', 'GPE'), ('长江大桥', 'LOC')]" and "南京" in printed[2]
    assert set(re.findall(r"`((?:GET|POST|DELETE) [^`]+)`", TEXT)) <= paths
    named = {name.removesuffix("_total") for name in re.findall(r"`((?:lexner|process)_\w+)`", TEXT)}
    assert {name for name in named if f"# HELP {name}" not in known} == set()


def test_the_limits_of_the_page():
    for number in (Limits.texts, Limits.characters, Limits.explain_characters, Limits.words, Limits.waiting_texts):
        assert f"| {number:,}" in TEXT or f"; {number:,} with" in TEXT
    assert f"| {Limits.body_seconds:g} s" in TEXT and f"| {Limits.seconds:g} s" in TEXT
    assert f"| {Limits.body_bytes >> 20} MiB, {Limits.upload_bytes >> 20} MiB" in TEXT
