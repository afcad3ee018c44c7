// A text with its entities: coloured by label, shaded by score, with the label's name behind each.
import { el } from "./dom.js";
import { percent, say } from "./strings.js";

let colors = {};
export function setColors(map) {
  colors = map ?? {};
}

const NO_SCORE = 0.9, LEAST_SHADE = 12, SHORT = 8;

/** The coloured mark of an entity. `extra` are attributes. */
export function mark(entity, extra = {}) {
  const { label, score, text } = entity;
  const shown = [label, score == null ? "" : percent(score)].join(" ").trim();
  const node = el("mark", { "data-tag": shown, ...extra }, text);
  node.classList.toggle("short", text.length <= SHORT); // stays on one line
  node.style.setProperty("--color", colors[label] ?? "#c4c9d1");
  node.style.setProperty("--shade", `${LEAST_SHADE + (100 - LEAST_SHADE) * (score ?? NO_SCORE) ** 3}%`);
  return node;
}

/** An accessible name for a mark that stands for itself. */
export function describe(node, entity) {
  const score = entity.score == null ? undefined : percent(entity.score);
  return say(node, score ? "entity" : "entity.plain", { ...entity, score }, "aria-label");
}

/** A label's name in its colour. */
export function tag(label) {
  const node = el("span", { class: "tag" }, label);
  node.style.setProperty("--color", colors[label] ?? "#c4c9d1");
  return node;
}

/** The text between and in the entities, from `start` to `end`, as nodes; `make` makes the node of an entity. */
export function pieces(text, entities, make, start = 0, end = text.length) {
  const nodes = [];
  let at = start;
  for (const entity of [...entities].sort((a, b) => a.start - b.start)) {
    if (entity.start < at || entity.end > end) continue;
    if (entity.start > at) nodes.push(text.slice(at, entity.start));
    nodes.push(make({ ...entity, text: text.slice(entity.start, entity.end) }));
    at = entity.end;
  }
  if (at < end) nodes.push(text.slice(at, end));
  return nodes;
}

export function same(one, other) {
  return one.start === other.start && one.end === other.end && one.label === other.label;
}

/** The entities of the first list that are not in the second. */
export function missing(from, others) {
  return from.filter((one) => !others.some((other) => same(one, other)));
}
