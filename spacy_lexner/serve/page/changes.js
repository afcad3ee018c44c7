// The last changes of the dictionary, each with a button that undoes it.
import { $, el, fill } from "./dom.js";
import { get, Problem } from "./service.js";
import { has, say, tag } from "./strings.js";

const SHOWN = 8, WORDS = 3;

/** `undo` is called with the number of a change. */
export async function showChanges(undo) {
  let changes = [];
  try {
    ({ changes } = await get(`changes?limit=${SHOWN}`));
  } catch (error) {
    if (!(error instanceof Problem)) throw error; // a service without changes has none to show
  }
  $("changes-section").hidden = !changes.length;
  fill($("changes"), ...changes.map((change) => draw(change, undo)));
}

function draw(change, undo) {
  const kind = `change.${change.kind}`;
  const words = change.words ?? [];
  const values = { words: words.slice(0, WORDS).join(", ") + (change.n_words > WORDS ? " …" : ""), n: change.n_words };
  const what = { t: has(kind) ? kind : "change.other", values };
  const time = el("time", { datetime: change.time }, new Date(change.time).toLocaleTimeString(tag(), { hour: "2-digit", minute: "2-digit" }));
  const item = el("li", { class: change.undone && "undone" }, say(el("span", { class: "what" }), what.t, values), time);
  if (change.undone) item.append(say(el("span", { class: "note" }), "change.undone"));
  else if (change.kind !== "undo") {
    const button = el("button", { type: "button", class: "small", onclick: () => undo(change.number) });
    item.append(say(say(button, "undo"), "undo.name", { what }, "aria-label"));
  }
  return item;
}
