// The panel that changes the dictionary: a word or a rule, what it would do to the texts, and undo.
import { showChanges } from "./changes.js";
import { $, el, fill, later, Latest, Stale } from "./dom.js";
import { showEffect } from "./effect.js";
import { get, post, Problem, remove, setToken, showProblem } from "./service.js";
import { rule, say } from "./strings.js";

const MODES = ["word", "force", "forbid", "prefer", "hint"];
const PAUSE = 400; // milliseconds after the last key
const MAX_WEIGHT = 1000;

export class Dictionary {
  /** `texts` gives the texts on which changes are tried; `changed` is called after a change. */
  constructor({ texts, changed }) {
    Object.assign(this, { texts, changed, labels: [], mode: "word", typed: false });
    this.previews = new Latest();
    this.lookups = new Latest();
    this.soon = later(() => this.preview());
    setToken(() => $("token").value.trim());
    fill($("modes"), ...MODES.map((mode) => el("span", {},
      el("input", { type: "radio", name: "mode", id: `mode-${mode}`, value: mode, checked: mode === "word", onchange: () => this.setMode(mode) }),
      say(el("label", { for: `mode-${mode}` }), `mode.${mode}`))));
    this.setMode("word");
    $("word").addEventListener("input", () => { this.typed = $("word").value !== ""; this.edited(); });
    for (const id of ["label", "weight"]) $(id).addEventListener("input", () => this.edited());
    $("token").addEventListener("input", () => $("token").removeAttribute("aria-invalid"));
    $("access").addEventListener("submit", (event) => event.preventDefault());
    $("form").addEventListener("submit", (event) => { event.preventDefault(); this.apply(); });
    $("remove").addEventListener("click", () => this.removeWord());
  }

  setService({ labels, rule_labels, can }) {
    this.labels = [...new Set([...(labels ?? []), ...(rule_labels ?? [])])];
    this.setMode(this.mode);
    $("token").disabled = $("apply").disabled = $("remove").disabled = !can.changes;
    say($("token-note"), can.changes ? "token.note" : "token.off");
    this.reload();
  }

  reload() {
    return showChanges((number) => this.undo(number));
  }

  setMode(mode) {
    this.mode = mode;
    $(`mode-${mode}`).checked = true;
    say($("mode-note"), `mode.${mode}.note`);
    $("label-field").hidden = mode === "hint";
    $("weight-field").hidden = mode !== "prefer";
    const select = $("label"), chosen = select.value;
    const nothing = { word: "label.none", forbid: "label.any" }[mode];
    fill(select, ...(nothing ? [say(el("option", { value: "" }), nothing)] : []), ...this.labels.map((label) => el("option", { value: label }, label)));
    if ([...select.options].some((option) => option.value === chosen)) select.value = chosen;
    this.edited();
  }

  /** Fills in a word: from the text, the lattice or a card. What was typed by hand stays unless `force`. */
  setWord(word, label = "", force = true) {
    if (this.typed && !force) return;
    $("word").value = word;
    if (force) this.typed = word !== "";
    if ([...$("label").options].some((option) => option.value === label)) $("label").value = label;
    if (force) $("word").focus();
    this.edited();
  }

  edited() {
    for (const id of ["panel-problem", "panel-status"]) fill($(id));
    say($("panel-status"), undefined);
    for (const id of ["word", "label", "weight"]) $(id).removeAttribute("aria-invalid");
    this.soon(PAUSE);
  }

  /** The change that the form describes, as the service takes it, or the name of what is missing. */
  read(replace = false) {
    const word = $("word").value.trim(), label = $("label").value, weight = Number($("weight").value);
    if (!word) return { fault: "word" };
    if (this.mode === "word") {
      const body = [label ? { word, labels: [label] } : { word }];
      return { word, path: "words", body: { words: body }, preview: { add_words: body }, key: "effect.word" };
    }
    if (!label && ["force", "prefer"].includes(this.mode)) return { fault: "label" };
    if (this.mode === "prefer" && !(weight && Math.abs(weight) <= MAX_WEIGHT)) return { fault: "weight" };
    const written = { word, mode: this.mode, ...(this.mode === "hint" ? {} : { label }), ...(this.mode === "prefer" ? { weight } : {}) };
    replace ||= this.mode === "hint";
    return { word, path: "rules", body: { rules: [written], replace }, preview: { add_rules: [written], replace }, key: "effect.rule" };
  }

  /** What the change would do, while it is typed. */
  async preview() {
    const change = this.read();
    this.lookUp(change.word);
    try {
      if (change.fault) return this.clear();
      await this.effect(change.preview, "effect.would");
    } catch (error) {
      if (error instanceof Problem) this.clear(); // said when the change is made
      else if (!(error instanceof Stale)) throw error;
    }
  }

  clear() {
    this.previews.stop();
    showEffect();
  }

  async effect(preview, key) {
    const texts = this.texts();
    if (!texts.length) return this.clear();
    const answer = await this.previews.run((signal) => post("preview", { texts, ...preview, offsets: "utf16" }, signal));
    showEffect(key, texts, answer);
  }

  async lookUp(word) {
    const note = $("known");
    $("remove").hidden = true;
    if (!word) return say(note, undefined);
    try {
      const { words } = await this.lookups.run((signal) => get(`words?mode=exact&limit=1&q=${encodeURIComponent(word)}`, signal));
      const entry = words.find((one) => !one.removed); // its spelling is the dictionary's, which may be another
      const what = entry && [...entry.labels, ...entry.rules.map(({ mode, label }) => rule(`${mode} ${label}`.trim()))];
      say(note, !entry ? "word.unknown" : what.length ? "word.known-as" : "word.known", { what: { join: what ?? [] } });
      $("remove").hidden = !entry;
    } catch (error) {
      if (error instanceof Problem) say(note, undefined);
      else if (!(error instanceof Stale)) throw error;
    }
  }

  async apply(replace = false) {
    const change = this.read(replace);
    if (change.fault) {
      say($("panel-status"), `${change.fault}.missing`);
      $(change.fault).setAttribute("aria-invalid", "true");
      return $(change.fault).focus();
    }
    await this.change(change, () => post(change.path, change.body));
  }

  removeWord() {
    const word = $("word").value.trim();
    return this.change({ preview: { remove_words: [word] }, key: "effect.removed" }, () => remove(`words?word=${encodeURIComponent(word)}`));
  }

  undo(number) {
    return this.change({ said: "done.undone" }, () => post("undo", { change: number }));
  }

  /** Makes a change: what it does is measured before, and shown once it is made. */
  async change({ preview, key, said = "done" }, make) {
    this.soon.cancel();
    this.previews.stop();
    fill($("panel-problem"));
    say($("panel-status"), "busy");
    $("form").setAttribute("aria-busy", "true");
    try {
      const texts = this.texts();
      const effect = preview && texts.length ? await post("preview", { texts, ...preview, offsets: "utf16" }) : undefined;
      const { change } = await make();
      showEffect(key, texts, effect);
      this.done(change, change ? said : "done.nothing");
      this.changed();
      await Promise.all([this.reload(), this.lookUp($("word").value.trim())]);
    } catch (error) {
      say($("panel-status"), undefined);
      this.clear();
      this.failed(error);
    } finally {
      $("form").removeAttribute("aria-busy");
    }
  }

  done(change, said) {
    const status = $("panel-status");
    say(status, undefined);
    const parts = [say(el("span"), said)];
    if (change && change.kind !== "undo")
      parts.push(say(el("button", { type: "button", class: "small", id: "undo", onclick: () => this.undo(change.number) }), "undo"));
    fill(status, ...parts);
  }

  failed(error) {
    const contradiction = error instanceof Problem && String(error.body.type).endsWith("/contradiction");
    const replace = contradiction && say(el("button", { type: "button", class: "small", onclick: () => this.apply(true) }), "replace");
    showProblem($("panel-problem"), error, ...(replace ? [replace] : []));
    if (error.status === 401) {
      $("token").setAttribute("aria-invalid", "true");
      $("token").focus();
    }
  }
}
