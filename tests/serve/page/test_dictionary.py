"""The panel: a word or a rule, its effect on the current and recent texts, undo."""

import pytest
import spacy
from live_page import listening
from playwright.sync_api import expect
from small_service import TEXT, TOKEN, changing

from spacy_lexner.lexicon import Lexicon, LexiconEntry, Normalization
from spacy_lexner.serve.settings import Limits

OTHERS = ["武汉市长很忙", "我在济南市"]


@pytest.fixture
def page(open_page):
    """The page with the token and three texts, two of which have 市长."""
    page = open_page()
    for text in (*OTHERS, TEXT):
        page.fill("#text", "")
        page.fill("#text", text)
        expect(page.locator("#reading")).to_have_text(text)
    page.fill("#token", TOKEN)
    return page


def describe(page, word, mode, label=None):
    page.fill("#word", word)
    page.get_by_role("radio", name=mode, exact=True).check(force=True)
    if label is not None:
        page.get_by_label("Label", exact=True).select_option(label)


def shown(page):
    return [(one.inner_text(), one.get_attribute("data-tag").split()[0]) for one in page.locator("#reading mark").all()]


def test_the_effect_is_shown_while_it_is_typed(page, api):
    version = api.get("version").json()["lex_version"]
    describe(page, "市长", "Force", "GPE")
    expect(page.locator("#effect-title")).to_have_text("This would change 2 of 3 texts")
    expect(page.locator("#effect-texts li")).to_have_count(2)
    expect(page.locator("#effect-texts mark.added").filter(has_text="市长")).to_have_count(2)
    assert api.get("version").json()["lex_version"] == version
    assert shown(page) == [("南京市", "GPE"), ("长江大桥", "LOC")]


def test_the_last_twenty_texts_are_kept_in_the_tab(open_page):
    kept = "sessionStorage.setItem('lexner.texts', JSON.stringify([...Array(25).keys()].map((i) => `市长${i}号`)))"
    page = open_page(stub=kept)
    page.fill("#text", TEXT)
    expect(page.locator("#reading")).to_have_text(TEXT)
    describe(page, "市长", "Force", "GPE")
    expect(page.locator("#effect-title")).to_have_text("This would change 20 of 20 texts")
    page.locator("#recent button").first.click()
    expect(page.locator("#text")).to_have_value("市长0号")
    expect(page.locator("#recent button").first).to_have_text(TEXT)


def test_a_rule_changes_the_text_at_once_and_undo_takes_it_back(page, api):
    version = api.get("version").json()["lex_version"]
    before = shown(page)
    describe(page, "市长", "Force", "GPE")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#effect-title")).to_have_text("This rule changes 2 of 3 texts")
    expect(page.locator("#reading mark").filter(has_text="市长")).to_have_count(1)
    expect(page.locator("#known")).to_have_text("In the dictionary: Force GPE.")
    expect(page.locator("#changes li").first).to_contain_text("Rule for 市长")
    page.locator("#undo").click()
    expect(page.locator("#panel-status")).to_have_text("Undone.")
    expect(page.locator("#reading mark").filter(has_text="市长")).to_have_count(0)
    assert shown(page) == before
    expect(page.locator("#changes li").first).to_contain_text("Undid a change of 市长")
    expect(page.locator("#changes li").nth(1)).to_contain_text("undone")
    assert api.get("version").json()["lex_version"] == version


def test_a_word_is_added_and_removed(page, api):
    describe(page, "紫峰大厦", "Word", "LOC")
    expect(page.locator("#known")).to_have_text("Not in the dictionary.")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#effect-title")).to_have_text("This word changes 0 of 3 texts")
    expect(page.locator("#known")).to_have_text("In the dictionary: LOC.")
    found = api.get("words", params={"q": "紫峰大厦", "mode": "exact"}).json()["words"]
    assert [(word["word"], word["labels"]) for word in found] == [("紫峰大厦", ["LOC"])]
    page.fill("#text", "在紫峰大厦")
    page.locator("#words-summary").click()
    expect(page.locator("#words button")).to_contain_text(["紫峰大厦"])
    page.get_by_role("button", name="Remove word").click()
    expect(page.locator("#known")).to_have_text("Not in the dictionary.")
    assert api.get("words", params={"q": "紫峰大厦", "mode": "exact"}).json()["words"] == []


def test_prefer_takes_a_weight_and_hint_drops_the_rules(page, api):
    describe(page, "长江", "Prefer", "LOC")
    page.get_by_label("Weight").fill("0")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#panel-status")).to_contain_text("not 0")
    expect(page.locator("#weight")).to_be_focused()
    page.get_by_label("Weight").fill("-3")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#known")).to_have_text("In the dictionary: Prefer LOC.")
    assert api.get("rules").json()["rules"] == [{"word": "长江", "mode": "prefer", "label": "LOC", "weight": -3.0}]
    describe(page, "长江", "Hint")
    expect(page.locator("#label-field")).to_be_hidden()
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#known")).to_have_text("In the dictionary.")
    assert api.get("rules").json()["rules"] == []


def test_a_contradiction_can_be_replaced(page, api):
    api.post("rules", json={"rules": [{"word": "市长", "mode": "force", "label": "GPE"}]})
    describe(page, "市长", "Forbid", "GPE")
    page.get_by_role("button", name="Add").click()
    alert = page.locator("#panel-problem")
    expect(alert).to_contain_text("contradicts")
    expect(alert).to_contain_text("force GPE")
    alert.get_by_role("button", name="Replace its rules").click()
    expect(page.locator("#known")).to_have_text("In the dictionary: Forbid GPE.")
    expect(alert).to_be_empty()


@pytest.mark.parametrize("token", ["", "wrong-wrong-wrong-wrong", "错误的令牌"])
def test_a_wrong_token(page, api, token):
    version = api.get("version").json()["lex_version"]
    page.fill("#token", token)
    describe(page, "市长", "Force", "GPE")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#panel-problem")).to_contain_text("token is missing or wrong")
    expect(page.locator("#token")).to_be_focused()
    expect(page.locator("#token")).to_have_attribute("aria-invalid", "true")
    assert api.get("version").json()["lex_version"] == version


def test_the_token_is_kept_nowhere(page):
    describe(page, "市长", "Force", "GPE")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#known")).to_contain_text("Force GPE")
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])")
    assert OTHERS[0] in kept
    assert TOKEN not in kept
    page.reload()
    expect(page.locator("#token")).to_have_value("")


def test_what_is_missing_is_named(page):
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#panel-status")).to_have_text("Name a word first.")
    expect(page.locator("#word")).to_be_focused()


def test_a_word_is_taken_from_the_text(page):
    page.locator("#text").evaluate("box => box.setSelectionRange(3, 7)")
    expect(page.locator("#word")).to_have_value("长江大桥")
    page.locator("#reading mark").first.click()
    page.get_by_role("button", name="To the dictionary").click()
    expect(page.locator("#word")).to_have_value("南京市")
    expect(page.locator("#label")).to_have_value("GPE")
    page.locator("#text").evaluate("box => box.setSelectionRange(3, 5)")
    page.wait_for_timeout(100)
    expect(page.locator("#word")).to_have_value("南京市")  # it was chosen, so a selection does not replace it


def test_a_rule_that_cannot_be_followed_is_told(page, api):
    rules = [{"word": word, "mode": "force", "label": "GPE"} for word in ("南京市", "市长")]
    api.post("rules", json={"rules": rules})
    page.fill("#text", TEXT + "。")
    expect(page.locator("#conflicts li")).to_contain_text("市长: “Force GPE” was not followed: “")


def test_without_changes_effects_can_be_tried(model_folder, open_page):
    with listening(model_folder) as address:
        page = open_page(address=address)
        page.fill("#text", TEXT)
        expect(page.locator("#reading mark")).to_have_count(2)
        expect(page.get_by_role("button", name="Add")).to_be_disabled()
        expect(page.locator("#token-note")).to_contain_text("takes no changes")
        describe(page, "市长", "Force", "GPE")
        expect(page.locator("#effect-title")).to_have_text("This would change 1 of 1 texts")
        page.context.close()


def test_half_a_character_in_a_text_prevents_no_change(page):
    typing = "box => { box.value = '市长' + '😀'.slice(0, 1); box.dispatchEvent(new Event('input')) }"
    page.locator("#text").evaluate(typing)
    while page.evaluate("JSON.parse(sessionStorage.getItem('lexner.texts'))[0].length") != 3:
        page.wait_for_timeout(50)  # it is kept once it has stayed for a moment
    describe(page, "市长", "Force", "GPE")
    expect(page.locator("#effect-title")).to_have_text("This would change 2 of 3 texts")


def test_no_more_texts_are_tried_than_the_service_takes(model_folder, open_page, tmp_path):
    kept = "sessionStorage.setItem('lexner.texts', JSON.stringify([...Array(9).keys()].map((i) => `市长${i}号`)))"
    with listening(model_folder, **changing(tmp_path), limits=Limits(texts=3)) as address:
        page = open_page(address=address, stub=kept)
        page.fill("#token", TOKEN)
        describe(page, "市长", "Force", "GPE")
        page.get_by_role("button", name="Add").click()
        expect(page.locator("#panel-status")).to_contain_text("Done")
        expect(page.locator("#effect-title")).to_contain_text("3 of 3")
        page.context.close()


def test_a_word_in_another_spelling_is_known(model_folder, open_page, tmp_path):
    nlp = spacy.load(model_folder)
    words = [LexiconEntry("ktv"), LexiconEntry("长江")]
    nlp.get_pipe("lex_matcher").set_lexicon(Lexicon.from_entries(words, normalization=Normalization(case=True)))
    nlp.to_disk(tmp_path / "model")
    with listening(tmp_path / "model", **changing(tmp_path)) as address:
        page = open_page(address=address)
        page.fill("#token", TOKEN)
        page.fill("#word", "KTV")
        expect(page.locator("#known")).to_have_text("In the dictionary.")
        page.locator("#remove").click()
        expect(page.locator("#known")).to_have_text("Not in the dictionary.")
        page.context.close()


def test_a_full_disk_is_told(page):
    body = {"type": "/problems/state", "title": "x", "status": 507, "detail": "No space left."}
    page.route("**/rules", lambda route: route.fulfill(status=507, json=body))
    describe(page, "市长", "Force", "GPE")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("#panel-problem")).to_contain_text("nothing was changed")
    expect(page.locator("#effect")).to_be_hidden()
