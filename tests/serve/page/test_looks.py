"""Both colour schemes, both languages, a phone, the keyboard, and what a screen reader gets."""

import re

import pytest
from playwright.sync_api import expect
from small_service import TEXT, TOKEN

# The contrast of every text with its background (WCAG 2.2, 1.4.3), except in pictures and disabled elements.
CONTRAST = """() => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const mix = (colors) => { for (const color of colors) { pen.fillStyle = color; pen.fillRect(0, 0, 1, 1); }
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const light = (rgb) => rgb.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const measure = (node, pseudo) => {
    const behind = [];
    for (let one = node; one; one = one.parentElement) behind.unshift(getComputedStyle(one).backgroundColor);
    const color = getComputedStyle(node, pseudo).color;
    const [a, b] = [mix(behind), mix([...behind, color])].map(light).sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  const found = [];
  for (const node of document.querySelectorAll("body *")) {
    if (node.closest("svg, :disabled, .skip, .said, option") || !node.checkVisibility()) continue;
    const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
    if (own) found.push([measure(node), node.textContent]);
    if (node.placeholder) found.push([measure(node, "::placeholder"), node.placeholder]);
    if (node.localName === "mark") found.push([measure(node, "::after"), node.dataset.tag]);
  }
  return found;
}"""

# The page's own text that has certain letters, outside certain elements.
WRITTEN = """([letters, but]) => {
  const has = (text) => text && RegExp(letters).test(text.replace(/lexner|GPE|LOC|API/g, ""));
  const own = (node) => [...node.childNodes].map((one) => one.nodeType === 3 ? one.data : "");
  return [...document.querySelectorAll("body *")].filter((node) => !node.closest(`svg, noscript, .said, ${but}`))
    .flatMap((node) => [...own(node), node.ariaLabel, node.placeholder].filter(has));
}"""


@pytest.fixture
def fill(api):
    """Show everything there is to see: entities, a card, an effect, changes, a problem."""

    def show(page):
        page.fill("#text", TEXT)
        expect(page.locator("#reading mark")).to_have_count(2)
        page.fill("#token", TOKEN)
        page.fill("#word", "市长")
        page.locator("#mode-force").check(force=True)
        page.locator("#label").select_option("GPE")
        page.locator("#apply").click()
        expect(page.locator("#effect-texts li")).to_have_count(1)
        page.locator("#mode-forbid").check(force=True)
        page.locator("#label").select_option("GPE")
        page.locator("#apply").click()
        expect(page.locator("#panel-problem .problem")).to_be_visible()
        page.locator("#words-summary").click()
        page.locator("#reading mark").first.focus()
        expect(page.locator("#card table, #card .note")).to_be_visible()
        expect(page.locator("#card")).not_to_contain_text("…")

    return show


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(open_page, fill, scheme):
    page = open_page(color_scheme=scheme)
    fill(page)
    contrasts = page.evaluate(CONTRAST)
    assert len(contrasts) > 40
    assert [(round(ratio, 2), text) for ratio, text in contrasts if ratio < 4.5] == []


def paper(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_the_theme_follows_the_system_until_one_is_chosen(open_page):
    page = open_page(color_scheme="dark")
    page.fill("#text", TEXT)
    expect(page.locator("#lattice svg")).to_have_class("lx lx-auto")
    dark, theme = paper(page), page.locator("#theme")
    expect(theme).to_have_text("Theme: system")
    theme.click()
    expect(theme).to_have_text("Theme: light")
    light = paper(page)
    assert light != dark
    expect(page.locator("#lattice svg")).to_have_class("lx lx-light")
    theme.click()
    expect(theme).to_have_text("Theme: dark")
    assert paper(page) == dark
    page.emulate_media(color_scheme="light")
    assert paper(page) == dark
    page.reload()
    expect(theme).to_have_text("Theme: dark")
    assert paper(page) == dark
    theme.click()
    assert paper(page) == light


def test_languages(open_page, fill):
    page = open_page(locale="zh-CN")
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    fill(page)
    expect(page.locator("#status")).to_have_text("3 个实体")
    expect(page.locator("#known")).to_have_text("词典中已有：强制 GPE。")
    assert page.evaluate(WRITTEN, ["[A-Za-z]{2,}", "[lang=en], #model, #service"]) == []
    page.get_by_role("button", name="Switch to English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator("#status")).to_have_text("3 entities")
    expect(page.locator("#known")).to_have_text("In the dictionary: Force GPE.")
    assert page.evaluate(WRITTEN, ["[\\u4e00-\\u9fff]", "[lang^=zh], .problem, #changes"]) == []
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_another_language_is_english(open_page):
    expect(open_page(locale="fr-FR").locator("html")).to_have_attribute("lang", "en")


@pytest.mark.parametrize("locale", ["en-US", "zh-CN"])
def test_a_phone(open_page, fill, locale):
    page = open_page(locale=locale, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    widths = "[document.documentElement.scrollWidth, innerWidth]"
    assert page.evaluate(widths) == [360, 360]
    fill(page)
    assert page.evaluate(widths) == [360, 360]
    box = page.locator("#card").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    page.fill("#text", "长" * 300 + "W" * 300)
    expect(page.locator("#reading")).to_contain_text("WWW")
    assert page.evaluate(widths) == [360, 360]
    small = (
        "[...document.querySelectorAll('button, select, input:not([type=radio])')].filter(one => one.checkVisibility())"
    )
    heights = page.evaluate(f"{small}.map(one => one.getBoundingClientRect().height)")
    assert min(heights) >= 24  # WCAG 2.2, 2.5.8


def test_the_keyboard_alone(page, api):
    press = page.keyboard.press
    focused = page.locator(":focus")
    press("Tab")
    expect(focused).to_have_text("Skip to the text")
    press("Enter")
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.insert_text(TEXT)
    expect(page.locator("#reading mark")).to_have_count(2)
    press("Tab")
    expect(focused).to_have_text("Clear")
    press("Tab")
    expect(focused).to_have_text("南京市")
    press("ArrowRight")
    expect(focused).to_have_text("长江大桥")
    expect(page.locator("#card")).to_be_visible()
    expect(page.locator("#said")).to_contain_text("长江大桥")
    press("Enter")
    expect(focused).to_have_text("To the dictionary")
    press("Escape")
    expect(focused).to_have_text("长江大桥")
    expect(page.locator("#card")).to_be_hidden()
    press("Enter")
    press("Enter")
    expect(page.locator("#word")).to_be_focused()
    expect(page.locator("#word")).to_have_value("长江大桥")
    press("Tab")
    press("ArrowRight")
    expect(page.get_by_role("radio", name="Force")).to_be_checked()
    press("Tab")
    expect(page.locator("#label")).to_be_focused()
    page.keyboard.type("GPE")
    expect(page.locator("#label")).to_have_value("GPE")
    for _ in range(9):  # over the buttons, to the token
        if page.locator("#token").evaluate("node => node === document.activeElement"):
            break
        press("Tab")
    page.keyboard.type(TOKEN)
    while not page.locator("#word").evaluate("node => node === document.activeElement"):
        press("Shift+Tab")
    press("Enter")
    expect(page.locator("#panel-status")).to_contain_text("Done.")
    expect(page.locator("#reading mark").last).to_have_attribute("data-tag", "GPE 100%")


def test_a_screen_reader_is_told_everything(page, fill):
    fill(page)
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    nodes = [(one["role"]["value"], one.get("name", {}).get("value", "")) for one in tree if not one["ignored"]]
    interactive = {"button", "textbox", "combobox", "radio", "link", "spinbutton", "DisclosureTriangle"}
    assert [role for role, name in nodes if role in interactive and not name.strip()] == []
    expected = {
        ("textbox", "Text"), ("textbox", "Word"), ("textbox", "Token"), ("combobox", "Label"), ("radio", "Force"),
        ("button", "Add"), ("heading", "Entities"), ("heading", "Dictionary"), ("complementary", "Dictionary"),
        ("dialog", "What the entity rests on"), ("region", "Entities"), ("list", "Candidate words"),
    }  # fmt: skip
    assert expected <= set(nodes)
    assert any(role == "button" and re.fullmatch(r"市长, GPE, score \d+%", name) for role, name in nodes)
    assert {"main", "banner", "contentinfo", "status", "alert"} <= {role for role, _ in nodes}
