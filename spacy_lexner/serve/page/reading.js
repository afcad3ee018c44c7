// The text with its entities, which the arrow keys go through, and the card with what an entity rests on.
import { $, el, fill, Latest, Stale } from "./dom.js";
import { describe, mark, pieces, tag } from "./entities.js";
import { post, Problem, showProblem } from "./service.js";
import { percent, say, signed, text as words_for } from "./strings.js";

const HOVER = 200, LEAVE = 250; // milliseconds

export class Reading {
  /** `use` is called with a word and a label for the dictionary, `announce` with what a screen reader says; `can` tells
   * whether entities can be explained. */
  constructor({ use, limits, can, announce }) {
    Object.assign(this, { use, limits, can, announce, latest: new Latest(), shown: undefined });
    this.view = $("reading");
    this.card = $("card");
    this.view.addEventListener("keydown", (event) => this.onKey(event));
    this.view.addEventListener("focusin", (event) => this.point(event.target.closest("mark"), 0));
    this.view.addEventListener("pointerover", (event) => event.pointerType !== "touch" && this.point(event.target.closest("mark"), HOVER));
    this.view.addEventListener("click", (event) => this.open(event.target.closest("mark")));
    for (const node of [this.view, this.card]) {
      node.addEventListener("pointerleave", () => this.leave());
      node.addEventListener("focusout", () => this.leave());
    }
    this.card.addEventListener("pointerenter", () => clearTimeout(this.timer));
    this.card.addEventListener("focusin", () => clearTimeout(this.timer));
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.close(this.card.contains(document.activeElement)));
  }

  /** Shows a text with the answer for it. */
  show(text, answer) {
    const focused = this.marks?.indexOf(document.activeElement) ?? -1;
    this.close();
    this.text = text;
    this.explained = undefined;
    this.entities = [...answer.entities].sort((a, b) => a.start - b.start);
    this.marks = [];
    const doubts = (answer.uncertain ?? []).filter((span) => !this.entities.some((own) => own.start < span.end && span.start < own.end));
    const nodes = pieces(text, [...this.entities, ...unite(doubts)], (piece) => {
      if (piece.label === undefined) return el("span", { class: "doubt" }, piece.text);
      const node = mark(piece, { role: "button", tabindex: this.marks.length ? "-1" : "0", "aria-expanded": "false", "aria-controls": "card" });
      this.marks.push(describe(node, piece));
      return node;
    });
    fill(this.view, ...nodes).classList.toggle("long", text.length > 240);
    if (focused >= 0) this.go(Math.min(focused, this.marks.length - 1));
  }

  go(i) {
    if (!this.marks[i]) return;
    this.marks.forEach((node, j) => node.setAttribute("tabindex", i === j ? "0" : "-1"));
    this.marks[i].focus();
  }

  onKey(event) {
    const i = this.marks?.indexOf(event.target) ?? -1;
    if (i < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const to = { ArrowRight: i + 1, ArrowDown: i + 1, ArrowLeft: i - 1, ArrowUp: i - 1, Home: 0, End: this.marks.length - 1 }[event.key];
    if (to !== undefined) this.go(to);
    else if (event.key === "Enter" || event.key === " ") this.open(event.target);
    else return;
    event.preventDefault();
  }

  point(node, delay) {
    if (!node) return;
    clearTimeout(this.timer);
    if (node !== this.shown) this.timer = setTimeout(() => this.explain(node), delay);
  }

  leave() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const inside = [this.view, this.card].some((node) => node.matches(":hover") || node.matches(":focus-within"));
      if (!inside) this.close();
    }, LEAVE);
  }

  close(back = false) {
    clearTimeout(this.timer);
    if (!this.shown) return;
    const node = this.shown;
    this.shown = undefined;
    node.setAttribute("aria-expanded", "false");
    if (back) node.focus();
    clearTimeout(this.timer);
    this.card.hidden = true;
  }

  /** Shows the card of an entity and moves the focus into it. */
  async open(node) {
    if (!node) return;
    clearTimeout(this.timer);
    if (node !== this.shown) this.explain(node);
    this.card.querySelector("button").focus();
  }

  async explain(node) {
    const entity = this.entities[this.marks.indexOf(node)];
    if (!entity) return;
    this.shown?.setAttribute("aria-expanded", "false");
    this.shown = node;
    node.setAttribute("aria-expanded", "true");
    const body = el("div", { class: "rests" }, say(el("p", { class: "note" }), "card.measuring"));
    this.draw(node, entity, body);
    this.place(node);
    if (!this.can()) return body.remove();
    try {
      const answer = await this.ask();
      const found = answer.entities.find((one) => one.start === entity.start && one.end === entity.end && one.label === entity.label);
      this.rests(body, entity, found?.rests_on ?? []);
    } catch (error) {
      if (error instanceof Stale) return;
      if (!(error instanceof Problem)) throw error;
      showProblem(body, error);
    }
    if (this.shown === node) this.place(node);
  }

  /** Whether the text is short enough for the change of score without each word. */
  get measurable() {
    return [...this.text].length <= this.limits().explain_characters;
  }

  /** What the entities of the text rest on; asked for once. */
  ask() {
    const body = { text: this.text, explain: this.measurable ? "changes" : "attention", offsets: "utf16" };
    this.explained ??= this.latest.run((signal) => post("annotate", body, signal)).then((answer) => answer.results[0]);
    this.explained.catch(() => (this.explained = undefined));
    return this.explained;
  }

  draw(node, entity, body) {
    const word = this.text.slice(entity.start, entity.end);
    fill(this.card,
      el("p", { class: "card-head" }, el("strong", { lang: "zh" }, word), tag(entity.label), entity.score == null ? "" : percent(entity.score)),
      body,
      el("p", { class: "actions" },
        say(el("button", { type: "button", class: "small", onclick: () => this.use(word, entity.label) }), "card.use"),
        say(el("button", { type: "button", class: "small quiet", onclick: () => this.close(true) }), "card.close")));
    this.card.hidden = false;
  }

  rests(body, entity, words) {
    if (!words.length) return fill(body, say(el("p", { class: "note" }), "card.nothing"));
    const most = Math.max(...words.map((word) => word.attention ?? 0), Number.MIN_VALUE);
    const measured = words.some((word) => word.change != null);
    const rows = words.map((word) => {
      const bar = el("span", { class: "bar" });
      bar.style.setProperty("--share", `${(100 * (word.attention ?? 0)) / most}%`);
      return el("tr", {},
        el("th", { scope: "row", lang: "zh" }, word.word, ...(word.labels ?? []).map(tag)),
        el("td", {}, ...(word.attention == null ? ["–"] : [bar, el("span", { class: "figure" }, percent(word.attention))])),
        ...(measured ? [el("td", { class: word.change < -0.005 ? "worse" : word.change > 0.005 ? "better" : "" }, word.change == null ? "–" : signed(word.change))] : []));
    });
    fill(body, el("table", {},
      el("thead", {}, el("tr", {}, ...["card.rests", "card.attention", ...(measured ? ["card.change"] : [])].map((key) => say(el("th", { scope: "col" }), key)))),
      el("tbody", {}, ...rows)));
    if (!this.measurable) body.append(say(el("p", { class: "note" }), "card.attention-only", { limit: this.limits().explain_characters }));
    const list = words.map((word) => ({ t: "card.said-word", values: {
      word: word.word, attention: word.attention == null ? "–" : percent(word.attention), change: word.change == null ? "–" : signed(word.change) } }));
    this.announce(words_for("card.said", { text: this.text.slice(entity.start, entity.end), words: { join: list } }));
  }

  /** Below the entity, inside the frame. */
  place(node) {
    const frame = this.card.offsetParent.getBoundingClientRect(), box = [...node.getClientRects()].at(-1);
    this.card.style.top = `${box.bottom - frame.top + 6}px`;
    this.card.style.left = `${Math.max(0, Math.min(box.left - frame.left, frame.width - this.card.offsetWidth))}px`;
  }
}

/** Overlapping spans as one, without labels. */
function unite(spans) {
  const united = [];
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    const last = united.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else united.push({ start, end });
  }
  return united;
}
