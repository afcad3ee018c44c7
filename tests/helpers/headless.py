"""A real browser for tests: what it renders, as pixels, as boxes of texts, and as text recognised in the picture."""

import shutil
import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any, Callable, List, NamedTuple

import pytest


class Image(NamedTuple):
    """A picture of a page: rows of pixels, each (red, green, blue)."""

    width: int
    height: int
    pixels: List[List[Any]]


class Browser:
    """A headless Chromium."""

    def __init__(self, program: str, folder: Path) -> None:
        self._command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        self._command.append(f"--user-data-dir={folder / 'profile'}")
        self._folder = folder

    def dom(self, page: Path, *, query: str = "", budget: int = 0) -> str:
        """The page after its scripts have run, if given for `budget` milliseconds of the browser's virtual time."""
        waiting = [f"--virtual-time-budget={budget}"] if budget else []
        return self._run(*waiting, "--dump-dom", page.as_uri() + query)

    def screenshot(self, page: Path, *, dark: bool = False, size: str = "420,300", scale: int = 1) -> Image:
        """What a window of that size shows."""
        target = self._folder / "screenshot.png"
        options = ["--blink-settings=preferredColorScheme=0"] if dark else []
        options += [f"--window-size={size}", f"--force-device-scale-factor={scale}"]
        self._run(*options, f"--screenshot={target}", page.as_uri())
        return read_png(target.read_bytes())

    def read(self, page: Path, *, dark: bool = False, size: str = "420,300") -> str:
        """The Chinese text that OCR recognises in that window."""
        if shutil.which("tesseract") is None or "chi_sim" not in _run(["tesseract", "--list-langs"]):
            pytest.skip("needs tesseract with chi_sim to read a screenshot")
        self.screenshot(page, dark=dark, size=size, scale=2)
        found = _run(["tesseract", str(self._folder / "screenshot.png"), "-", "-l", "chi_sim", "--psm", "11"])
        return "".join(found.split())

    def _run(self, *arguments: str) -> str:
        return _run([*self._command, *arguments])


def _run(command: List[str]) -> str:
    return subprocess.run(command, capture_output=True, check=True, timeout=120).stdout.decode()


def find_chromium() -> str:
    """The path of a Chromium. Skips the test if there is none."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("needs a browser: no chromium, chromium-browser or google-chrome on the path")
    return program


@pytest.fixture(scope="session")
def browser(tmp_path_factory: Any) -> Browser:
    return Browser(find_chromium(), tmp_path_factory.mktemp("browser"))


def read_png(data: bytes) -> Image:
    """Decode a PNG with 8 bits per channel, with or without transparency."""
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, kind) in ((8, 2), (8, 6))
    n, place, packed = (3 if kind == 2 else 4), 8, b""
    while place < len(data):
        size, name = struct.unpack(">I4s", data[place : place + 8])
        packed += data[place + 8 : place + 8 + size] if name == b"IDAT" else b""
        place += size + 12
    raw, stride = zlib.decompress(packed), width * n
    before, rows = bytearray(stride), []
    for top in range(height):
        method, *_ = raw[top * (stride + 1) : top * (stride + 1) + 1]
        line = bytearray(raw[top * (stride + 1) + 1 : (top + 1) * (stride + 1)])
        _unfilter(method, line, before, n)
        rows.append([tuple(line[i : i + 3]) for i in range(0, stride, n)])
        before = line
    return Image(width, height, rows)


def _unfilter(method: int, line: bytearray, above: bytearray, n: int) -> None:
    if method == 2:
        line[:] = bytes((x + b) & 255 for x, b in zip(line, above))
        return
    for i in range(len(line) if method else 0):
        a, b, c = (line[i - n] if i >= n else 0), above[i], (above[i - n] if i >= n else 0)
        predicted = {1: a, 3: (a + b) // 2, 4: _paeth(a, b, c)}[method]
        line[i] = (line[i] + predicted) & 255


def _paeth(a: int, b: int, c: int) -> int:
    distances = abs(b - c), abs(a - c), abs(a + b - 2 * c)
    return (a, b, c)[distances.index(min(distances))]


@pytest.fixture
def measure() -> Callable[[str], str]:
    """Add a script to a page that writes the rounded boxes of all texts in its pictures into its title."""

    def add_script(page: str) -> str:
        script = """<script>document.title = JSON.stringify([...document.querySelectorAll("svg")].map(svg => ({
          box: [svg.getBoundingClientRect()].map(r => [r.left, r.top, r.right, r.bottom].map(Math.round))[0],
          texts: [...svg.querySelectorAll("text")].map(t => { const r = t.getBoundingClientRect();
            return [t.textContent, t.className.baseVal, ...[r.left, r.top, r.right, r.bottom].map(Math.round)] })
        })))</script>"""
        return page.replace("</body>", f"{script}</body>")

    return add_script
