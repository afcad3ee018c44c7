// Where the model is not sure: other readings of the text, and spans that are entities perhaps.
import { $, el, fill } from "./dom.js";
import { mark, missing, tag } from "./entities.js";
import { percent, say } from "./strings.js";

const MAX_SPANS = 12, LEAST = 0.005; // probability of a reading

function bar(share) {
  const node = el("span", { class: "bar" });
  node.style.setProperty("--share", `${100 * share}%`);
  return node;
}

/** The most probable readings: what is different from the one that is shown. */
export function showAlternatives(text, { entities, alternatives = [] }) {
  const shown = alternatives.filter((one, i) => i === 0 || one.probability >= LEAST);
  fill($("alternatives"), ...shown.map(({ probability, entities: others }) => {
    const added = missing(others, entities), gone = missing(entities, others);
    const flat = (one, kind) => mark({ ...one, text: text.slice(one.start, one.end), score: null }, { class: kind });
    const what = el("span", { class: "difference", lang: "zh" }, ...added.map((one) => flat(one, "added")));
    if (gone.length) what.append(say(el("small"), "alternatives.instead"), ...gone.map((one) => flat(one, "gone")));
    if (!added.length && !gone.length) what.append(say(el("small"), "alternatives.as-shown"));
    return el("li", {}, bar(probability), el("span", { class: "share" }, percent(probability)), what);
  }));
}

export function showUncertain(text, { uncertain = [] }) {
  const sorted = [...uncertain].sort((a, b) => b.score - a.score);
  const all = [...new Map(sorted.map((span) => [`${span.label} ${text.slice(span.start, span.end)}`, span])).values()];
  const spans = all.slice(0, MAX_SPANS);
  const items = spans.map((span) => el("li", {}, bar(span.score), el("span", { class: "share" }, percent(span.score)),
    el("span", { class: "difference" }, el("span", { lang: "zh" }, text.slice(span.start, span.end)), tag(span.label))));
  if (all.length > spans.length) items.push(say(el("li", { class: "note" }), "words.more", { n: all.length - spans.length }));
  fill($("uncertain"), ...(items.length ? items : [say(el("li", { class: "note" }), "uncertain.none")]));
}
