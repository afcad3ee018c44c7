// What a change of the dictionary does to texts: how many it changes, and each of these before and after.
import { $, el, fill } from "./dom.js";
import { mark, missing, pieces } from "./entities.js";
import { say } from "./strings.js";

const AROUND = 24; // characters shown on both sides of what is different

/** `key` is the sentence with {changed} and {of}. */
export function showEffect(key, texts, answer) {
  const section = $("effect");
  section.hidden = !answer;
  if (!answer) return;
  say($("effect-title"), key, { changed: answer.changed, of: answer.of });
  const items = answer.results.flatMap((result, i) => (result.changed ? [draw(texts[i], result)] : []));
  fill($("effect-texts"), ...items);
}

function draw(text, { before, after }) {
  const gone = missing(before, after), added = missing(after, before);
  const different = [...gone, ...added];
  const start = Math.max(0, Math.min(...different.map((one) => one.start)) - AROUND);
  const end = Math.min(text.length, Math.max(...different.map((one) => one.end)) + AROUND);
  const side = (key, entities, own, kind) => el("p", {},
    say(el("span", { class: "side" }), key),
    start > 0 ? "…" : "",
    ...pieces(text, entities, (one) => mark({ ...one, score: null }, { class: own.some((other) => other.start === one.start && other.label === one.label) ? kind : "still" }), start, end),
    end < text.length ? "…" : "",
    ...(entities.length ? [] : [say(el("span", { class: "note" }), "effect.no-names")]));
  return el("li", {}, side("effect.before", before, gone, "gone"), side("effect.after", after, added, "added"));
}
