"""Takes screenshots of the service's page in English and Chinese, in a browser, with the small model of its tests:
`python docs/tools/draw_page.py`."""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "helpers"))

import srsly  # noqa: E402
from live_page import browsing, listening, opened  # noqa: E402
from playwright.sync_api import expect  # noqa: E402
from small_service import TEXT, changing, train_small  # noqa: E402

LOCALES = {"service.png": "en-US", "service.zh.png": "zh-CN"}
SIZE = {"width": 1200, "height": 760}


def draw(folder: Path) -> None:
    """Write the screenshots to a folder, and their text to service.json: pictures and scores differ between machines,
    but the words on the page do not."""
    written = {}
    with tempfile.TemporaryDirectory() as temporary:
        model = Path(temporary) / "demo"
        train_small().to_disk(model)
        with listening(model, **changing(Path(temporary))) as address, browsing() as browser:
            for name, locale in LOCALES.items():
                with opened(browser, address, locale=locale, viewport=SIZE, color_scheme="light") as page:
                    page.fill("#text", TEXT)
                    expect(page.locator("#reading mark")).to_have_count(2)
                    expect(page.locator("#lattice svg")).to_be_visible()
                    page.locator("#reading mark").last.focus()
                    expect(page.locator("#card table, #card .note")).to_be_visible()
                    expect(page.locator("#card")).not_to_contain_text("…")
                    page.screenshot(path=folder / name)
                    written[name] = page.locator("label, button, h2, summary").all_inner_texts()
    srsly.write_json(folder / "service.json", written)


if __name__ == "__main__":
    draw(ROOT / "docs" / "pictures")
