"""What is typed is shown with its entities, in order."""

import re

import pytest
from playwright.sync_api import expect
from small_service import GOLD, TEXT

NASTY = "南京市<script>hacked = 1</script><img src=x onerror='hacked = 1'>\"&amp;\"长江大桥"


def marks(page):
    return page.locator("#reading mark")


def shown(page):
    return [(one.inner_text(), one.get_attribute("data-tag").split()[0]) for one in marks(page).all()]


def test_typing(page):
    expect(page.locator("#status")).to_contain_text("appear here")
    page.locator("#text").press_sequentially(TEXT)
    expect(page.locator("#status")).to_have_text("2 entities")
    assert shown(page) == [("南京市", "GPE"), ("长江大桥", "LOC")]
    expect(page.locator("#reading")).to_have_text(TEXT)
    expect(page.locator("#lattice .lx-word").filter(has_text="长江大桥")).to_have_count(1)
    expect(page.locator("#words-summary")).to_contain_text("words of the dictionary")
    expect(page.locator("#alternatives li")).not_to_have_count(0)
    page.locator("#clear").click()
    expect(marks(page)).to_have_count(0)
    expect(page.locator("#lattice-section")).to_be_hidden()


def test_what_an_input_method_shows_is_not_sent(page):
    sent = []
    page.on("request", lambda request: sent.append(request.post_data_json) if "annotate" in request.url else None)
    client = page.context.new_cdp_session(page)
    page.locator("#text").focus()
    client.send("Input.imeSetComposition", {"text": "nan jing", "selectionStart": 8, "selectionEnd": 8})
    page.wait_for_timeout(500)  # longer than the page waits for the next key
    assert sent == []
    client.send("Input.insertText", {"text": "南京市"})
    expect(page.locator("#reading")).to_have_text("南京市")
    assert {body["text"] for body in sent} == {"南京市"}


def test_labels_have_the_colours_of_the_lattice(page, api):
    page.fill("#text", TEXT)
    expect(page.locator("#lattice .lx-glow")).to_have_count(2)
    drawn = [one.get_attribute("fill") for one in page.locator("#lattice .lx-glow").all()]
    colors = api.get("version").json()["colors"]
    assert drawn == [colors["GPE"], colors["LOC"]]
    assert [one.evaluate("node => node.style.getPropertyValue('--color')") for one in marks(page).all()] == drawn


def test_the_surer_the_stronger(page):
    answer = {"entities": [
        {"start": 0, "end": 3, "label": "GPE", "score": 0.5}, {"start": 3, "end": 7, "label": "GPE", "score": 0.99},
    ], "uncertain": [{"start": 0, "end": 3, "label": "GPE", "score": 0.5}]}  # fmt: skip
    page.route("**/annotate", lambda route: route.fulfill(json={"lex_version": None, "results": [answer]}))
    page.fill("#text", TEXT)
    expect(marks(page)).to_have_count(2)
    weak, strong = [
        float(one.evaluate("node => parseFloat(node.style.getPropertyValue('--shade'))")) for one in marks(page).all()
    ]
    assert weak < strong
    expect(page.locator("#uncertain li")).to_contain_text("50%")


def test_a_late_answer_never_replaces_a_later_one(open_page):
    page = open_page(stub="AbortController.prototype.abort = () => {}")  # so that the late answer arrives
    held = []

    def hold(route):
        first = route.request.post_data_json["text"] == GOLD[0][0]
        held.append(route) if first else route.continue_()

    page.route("**/annotate", hold)
    with page.expect_request("**/annotate"):
        page.fill("#text", GOLD[0][0])
    page.fill("#text", TEXT)
    expect(page.locator("#reading")).to_have_text(TEXT)
    assert len(held) == 1
    with page.expect_response("**/annotate"):
        held[0].continue_()
    page.wait_for_timeout(200)
    expect(page.locator("#reading")).to_have_text(TEXT)
    expect(page.locator("#status")).to_have_text("2 entities")


def test_a_slow_answer_is_shown_as_busy(page):
    held = []
    page.route("**/annotate", lambda route: held.append(route))
    page.fill("#text", TEXT)
    expect(page.locator("#progress")).to_be_visible()
    expect(page.locator("#result")).to_have_attribute("aria-busy", "true")
    expect(page.locator("#status")).to_have_text("Working…")
    held[0].continue_()
    expect(page.locator("#progress")).to_be_hidden()
    expect(page.locator("#result")).to_have_attribute("aria-busy", "false")
    expect(marks(page)).to_have_count(2)


def test_a_long_text(page):
    text = ("，".join(text for text, _ in GOLD) + "。\n") * 60
    text = text[:2000]
    page.fill("#text", text)
    expect(page.locator("#status")).to_contain_text("entities")
    assert page.locator("#reading").evaluate("node => node.textContent") == text
    expect(page.locator("#count")).to_contain_text("2,000 of 100,000")
    marks(page).first.hover()
    expect(page.locator("#card")).to_contain_text("too long to measure")
    expect(page.locator("#lattice .lx-text")).not_to_have_count(0)


def test_a_text_above_the_limit_is_not_sent(page):
    page.fill("#text", "市" * 100_001)
    expect(page.locator("#count")).to_contain_text("too many")
    expect(page.locator("#text")).to_have_attribute("aria-invalid", "true")
    expect(marks(page)).to_have_count(0)


def test_what_an_entity_rests_on(page):
    page.fill("#text", TEXT)
    marks(page).nth(1).hover()
    card = page.get_by_role("dialog", name="What the entity rests on")
    expect(card).to_contain_text("长江大桥")
    row = card.get_by_role("row").filter(has=page.get_by_role("rowheader", name="长江大桥", exact=True))
    expect(row).to_contain_text("%")
    expect(row.locator("td").last).to_have_text(re.compile(r"[+−]?\d\.\d\d"))
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()


def test_nothing_in_a_text_is_markup(page, api):
    api.post("words", json={"words": ["<img src=x onerror='hacked = 1'>"]})
    page.fill("#text", NASTY)
    expect(page.locator("#reading")).to_have_text(NASTY)
    expect(page.locator("#words")).to_contain_text("<img src=x")
    expect(page.locator("#lattice .lx-word").filter(has_text="<img src=x")).not_to_have_count(0)
    page.fill("#word", "<b onmouseover='hacked = 1'>'\"")
    expect(page.locator("#known")).to_have_text("Not in the dictionary.")
    assert page.locator("main script, main b, main section img").count() == 0
    assert page.evaluate("typeof hacked") == "undefined"


def test_only_shapes_of_a_picture_are_taken_over(open_page):
    page = open_page(hostile=True)
    svg = """<svg xmlns="http://www.w3.org/2000/svg" class="lx" width="10" height="10" onload="hacked = 1">
      <script>hacked = 1</script><image href="x" onerror="hacked = 1"/><style>* { fill: red }</style>
      <foreignObject><body xmlns="http://www.w3.org/1999/xhtml" onload="hacked = 1"/></foreignObject>
      <a href="javascript:hacked = 1"><text>x</text></a>
      <rect x="1" width="2" style="fill: url(//x)" fill="url(//x)" onclick="hacked = 1"/>
      <text class="lx-text">&lt;b></text></svg>"""
    page.route("**/lattice", lambda route: route.fulfill(content_type="image/svg+xml", body=svg))
    page.fill("#text", TEXT)
    expect(page.locator("#lattice rect")).to_have_count(1)
    assert re.sub(r"\n\s*", "", page.locator("#lattice svg").inner_html()) == (
        '<rect x="1" width="2"></rect><text class="lx-text">&lt;b&gt;</text>'
    )
    assert page.locator("#lattice svg").evaluate("node => [...node.attributes].map(one => one.name).sort()") == [
        "aria-hidden", "class", "height", "width",
    ]  # fmt: skip
    assert page.evaluate("typeof hacked") == "undefined"


@pytest.mark.parametrize("status", [422, 429, 500, 503])
def test_a_problem_is_told(page, status):
    body = {"type": "about:blank", "title": "x", "status": status, "detail": "<b>what to do</b>"}
    page.route("**/annotate", lambda route: route.fulfill(status=status, json=body))
    page.fill("#text", TEXT)
    alert = page.locator("#problem")
    expect(alert).to_contain_text("<b>what to do</b>")
    expect(alert).to_have_role("alert")
    page.unroute("**/annotate")
    if status != 422:
        alert.get_by_role("button", name="Try again").click()
        expect(marks(page)).to_have_count(2)
        expect(alert).to_be_empty()


def test_without_a_connection(page):
    page.context.set_offline(True)
    page.fill("#text", TEXT)
    expect(page.locator("#offline")).to_contain_text("Not connected")
    expect(page.locator("#problem")).to_contain_text("cannot be reached")
    page.context.set_offline(False)
    expect(marks(page)).to_have_count(2)  # it retries by itself
    expect(page.locator("#offline")).to_be_empty()
    expect(page.locator("#problem")).to_be_empty()
