// The page: what is typed goes to the service, and what comes back is shown, in order.
import { Dictionary } from "./dictionary.js";
import { $, el, fill, later, Latest, Stale } from "./dom.js";
import { showAlternatives, showUncertain } from "./doubts.js";
import { setColors } from "./entities.js";
import { Lattice } from "./lattice.js";
import { setUpPreferences } from "./preferences.js";
import { Reading } from "./reading.js";
import { MAX_TEXTS, Recent } from "./recent.js";
import { get, onConnection, post, Problem, showProblem } from "./service.js";
import { has, rule, say } from "./strings.js";

const PAUSE = 150, LONGEST_PAUSE = 1200; // milliseconds after the last key: half of what the last answer took
const BUSY = 300, SETTLED = 1500, RECONNECT = 3000, MAX_SELECTION = 20;
const OPTIONS = { words: true, alternatives: 4, uncertain: [0.05, 0.95] };
const EXAMPLES = ["南京市长江大桥", "张三和李四在复旦大学读书，周末去上海看展览。", "北京大学的王教授下周到广州出席会议，随后访问深圳的两家公司。"];

let service = { can: {}, limits: { texts: MAX_TEXTS, characters: 100000, explain_characters: 0 } };
let pause = PAUSE, shown;
const answers = new Latest(), box = $("text");
const reading = new Reading({ use: (word, label) => dictionary.setWord(word, label), limits: () => service.limits, can: () => service.can.explain, announce: (text) => fill($("said"), text) });
const lattice = new Lattice({ choose: (word, label) => dictionary.setWord(word, label) });
const recent = new Recent({ choose: (text) => setText(text) });
const dictionary = new Dictionary({ texts, changed });
const soon = later(annotate), settled = later(() => recent.keep(box.value.toWellFormed())), busy = later(() => setBusy(true)), reconnect = later(start);

/** The text and the last ones, as many as the service takes at a time. */
function texts() {
  let left = service.limits.characters;
  const all = new Set([box.value.toWellFormed(), ...recent.texts].filter((text) => text.trim()));
  return [...all].slice(0, Math.min(MAX_TEXTS, service.limits.texts)).filter((text) => (left -= text.length) >= 0);
}

function newText() {
  if (shown) recent.keep(shown);
  recent.next();
  shown = undefined;
}

function setText(text) {
  newText();
  box.value = text;
  annotate();
  box.focus();
}

function typed(event) {
  if (event.isComposing) return; // an input method shows what is not yet Chinese
  if (!box.value || event.inputType === "insertFromPaste") newText(); // the one before is a text of its own
  count();
  soon(pause);
}

function count() {
  const n = [...box.value].length, limit = service.limits.characters;
  say($("count"), n > limit ? "text.too-long" : "text.count", { n, limit });
  $("clear").hidden = !box.value;
  $("examples").hidden = Boolean(box.value);
  box.setAttribute("aria-invalid", String(n > limit));
  return n <= limit;
}

/** What to ask for: what the pipeline of the service can. */
function options() {
  return Object.fromEntries(Object.entries(OPTIONS).filter(([name]) => service.can[name]));
}

async function annotate() {
  soon.cancel();
  settled.cancel();
  const text = box.value.toWellFormed(); // half a character is none
  if (!count()) return answers.stop();
  if (!text) return empty();
  busy(BUSY);
  const began = performance.now();
  try {
    const answer = await answers.run((signal) => post("annotate", { text, offsets: "utf16", ...options() }, signal));
    pause = Math.min(Math.max((performance.now() - began) / 2, PAUSE), LONGEST_PAUSE);
    show(text, answer.results[0], answer.lex_version);
  } catch (error) {
    if (error instanceof Stale) return; // a newer one is under way
    failed(error);
  }
  busy.cancel();
  setBusy(false);
}

function show(text, answer, version) {
  shown = text;
  fill($("problem"));
  $("doubts").hidden = !service.can.alternatives && !service.can.uncertain;
  reading.show(text, answer);
  showConflicts(answer.conflicts ?? []);
  showAlternatives(text, answer);
  showUncertain(text, answer);
  if (service.can.lattice) lattice.show(text, answer.words ?? []);
  const n = answer.entities.length;
  say($("status"), n === 0 ? "result.none" : n === 1 ? "result.one" : "result.many", { n });
  showVersion(version);
  settled(SETTLED);
}

function empty() {
  answers.stop();
  busy.cancel();
  setBusy(false);
  shown = undefined;
  fill($("problem"));
  reading.show("", { entities: [] });
  showConflicts([]);
  $("doubts").hidden = true;
  lattice.show("", []);
  say($("status"), "result.empty");
}

function failed(error) {
  const again = [0, 408, 429, 500, 503].includes(error.status) && say(el("button", { type: "button", class: "small", onclick: annotate }), "retry");
  showProblem($("problem"), error, ...(again ? [again] : []));
}

function setBusy(on) {
  $("progress").hidden = !on;
  $("result").setAttribute("aria-busy", String(on));
  if (on) say($("status"), "busy");
}

function showConflicts(conflicts) {
  $("conflicts").hidden = !conflicts.length;
  fill($("conflicts"), ...conflicts.map((one) => {
    const why = has(`conflict.${one.reason}`) ? `conflict.${one.reason}` : "conflict.other";
    return say(el("li"), "conflict", { ...one, rule: rule(one.rule), why: { t: why, values: one } });
  }));
}

function showVersion(version) {
  const { name, version: number } = service.model ?? {};
  if (name) say($("model"), "footer.model", { name, version: number });
  if (version) say($("service"), "footer.words", { words: service.words ?? 0, lex: version.slice(0, 8) });
}

/** After a change of the dictionary. */
async function changed() {
  annotate();
  const { words, lex_version } = await get("version").catch(() => service); // a lost connection is told by annotate
  service.words = words;
  showVersion(lex_version);
}

/** Asks what the service can do; until it answers, again and again. */
async function start() {
  try {
    service = await get("version");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return reconnect(RECONNECT);
  }
  setColors(service.colors);
  $("panel").hidden = !service.can.words;
  dictionary.setService(service);
  showVersion(service.lex_version);
  annotate();
}

onConnection((connected) => {
  document.body.classList.toggle("offline", !connected);
  say($("offline"), connected ? undefined : "offline");
  if (!connected) reconnect(RECONNECT);
});
window.addEventListener("online", start);
window.addEventListener("offline", () => say($("offline"), "offline"));

box.addEventListener("input", typed);
box.addEventListener("compositionend", typed);
box.addEventListener("select", () => take(box.value.slice(box.selectionStart, box.selectionEnd)));
$("reading").addEventListener("pointerup", () => take(String(getSelection())));
$("clear").addEventListener("click", () => setText(""));

/** What is selected in the text is the word of the panel, unless one was typed there. */
function take(selection) {
  const word = selection.trim();
  if (word && word.length <= MAX_SELECTION && word !== box.value.trim()) dictionary.setWord(word, "", false);
}

fill($("examples"), ...EXAMPLES.map((text) => el("button", { type: "button", class: "example", lang: "zh", onclick: () => setText(text) }, text)));
setUpPreferences({ onTheme: (theme) => lattice.setTheme(theme) });
count();
start();
