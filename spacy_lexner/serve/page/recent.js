// The last twenty texts, on which changes of the dictionary are tried. One text is what is typed until it is cleared or replaced.
import { $, el, fill } from "./dom.js";

export const MAX_TEXTS = 20;
const MAX_CHARACTERS = 5000; // of a text that is kept
const KEY = "lexner.texts";

export class Recent {
  constructor({ choose }) {
    this.choose = choose;
    this.texts = read();
    this.fresh = true;
    this.draw();
  }

  /** What is typed from now on is another text. */
  next() {
    this.fresh = true;
    this.draw();
  }

  /** The text that is being typed, newest first; while it grows it takes its own place. */
  keep(text) {
    if (!text.trim() || text.length > MAX_CHARACTERS) return;
    const others = (this.fresh ? this.texts : this.texts.slice(1)).filter((other) => other !== text);
    this.texts = [text, ...others].slice(0, MAX_TEXTS);
    this.fresh = false;
    try {
      sessionStorage.setItem(KEY, JSON.stringify(this.texts));
    } catch { /* no storage: they are kept while the page is open */ }
    this.draw();
  }

  draw() {
    const others = this.fresh ? this.texts : this.texts.slice(1); // without the one that is being typed
    $("recent-section").hidden = !others.length;
    fill($("recent"), ...others.map((text) =>
      el("li", {}, el("button", { type: "button", class: "line", onclick: () => this.choose(text) }, text.slice(0, 200)))));
  }
}

function read() {
  try {
    const texts = JSON.parse(sessionStorage.getItem(KEY));
    return Array.isArray(texts) ? texts.filter((text) => typeof text === "string").slice(0, MAX_TEXTS) : [];
  } catch {
    return [];
  }
}
