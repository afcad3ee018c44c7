// The lattice: the service's SVG, of which only known shapes and plain attributes are taken over, and its words as a list.
import { $, el, fill, Latest, Stale } from "./dom.js";
import { tag } from "./entities.js";
import { postForText, Problem, showProblem } from "./service.js";
import { rule, say } from "./strings.js";

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = new Set(["svg", "g", "rect", "path", "text", "title"]);
const ATTRIBUTES = new Set(["class", "width", "height", "viewBox", "x", "y", "rx", "d", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity"]);
const PLAIN = /^[\w\s.,#%+-]*$/; // no url(), no quotes
const LONG = 300, PAUSE = 800; // the picture of a long text takes time, so it waits for a pause of this many milliseconds
const MAX_WORDS = 150, MIN_WIDTH = 200, MAX_WIDTH = 1200;

export class Lattice {
  constructor({ choose }) {
    Object.assign(this, { choose, latest: new Latest() });
  }

  async show(text, words) {
    $("lattice-section").hidden = !text;
    this.list(words);
    this.latest.stop();
    if (!text) return;
    const view = $("lattice");
    const width = Math.round(Math.min(Math.max(view.clientWidth, MIN_WIDTH), MAX_WIDTH));
    view.setAttribute("aria-busy", "true");
    try {
      const svg = await this.latest.run(async (signal) => {
        if (text.length > LONG) await new Promise((resolve) => setTimeout(resolve, PAUSE));
        signal.throwIfAborted();
        return postForText("lattice", { text, style: "bars", theme: "auto", width, css: false }, signal);
      });
      const root = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
      const picture = copy(root);
      fill(view, picture ?? "");
      this.setTheme(this.theme);
    } catch (error) {
      if (error instanceof Stale) return;
      if (!(error instanceof Problem)) throw error;
      fill(view);
      if (error.status) showProblem(view, error); // without a connection, the text says so
    }
    view.setAttribute("aria-busy", "false");
  }

  setTheme(theme) {
    this.theme = theme;
    $("lattice").querySelector("svg")?.setAttribute("class", `lx lx-${theme}`);
  }

  list(words) {
    const seen = [...new Map(words.map((word) => [word.word, word])).values()];
    say($("words-summary"), seen.length === 1 ? "words.one" : "words.many", { n: seen.length });
    const items = seen.slice(0, MAX_WORDS).map((word) => {
      const button = el("button", { type: "button", class: "chip", onclick: () => this.choose(word.word, word.labels?.[0] ?? "") }, word.word);
      button.append(...(word.labels ?? []).map(tag), ...(word.rules ?? []).map((written) => say(el("span", { class: "rule" }), "rule", { rule: rule(written) })));
      return el("li", {}, button);
    });
    const rest = seen.length - items.length;
    fill($("words"), ...items, ...(rest > 0 ? [say(el("li", { class: "note" }), "words.more", { n: rest })] : []));
  }
}

/** A copy of an SVG element made of what is allowed; undefined for anything else. */
function copy(source) {
  if (source.namespaceURI !== SVG || !SHAPES.has(source.localName)) return undefined;
  const node = document.createElementNS(SVG, source.localName);
  for (const { name, value } of source.attributes) if (ATTRIBUTES.has(name) && PLAIN.test(value)) node.setAttribute(name, value);
  for (const child of source.childNodes) {
    const own = child.nodeType === Node.TEXT_NODE ? child.data : child.nodeType === Node.ELEMENT_NODE && copy(child);
    if (own) node.append(own);
  }
  if (source.localName === "svg") {
    node.setAttribute("aria-hidden", "true"); // the list of words says the same
    node.querySelector(":scope > title")?.remove(); // it repeats the text, as a tooltip over everything
  }
  return node;
}
