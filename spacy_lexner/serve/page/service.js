// Requests to the service, and their problems.
import { el, fill } from "./dom.js";
import { has, say } from "./strings.js";

/** What went wrong: `status` 0 if there was no answer, else that of the problem (RFC 9457) in `body`. */
export class Problem extends Error {
  constructor(status, body = {}) {
    super(body.title ?? `status ${status}`);
    Object.assign(this, { status, body });
  }
}

let token = () => "";
export function setToken(read) {
  token = read;
}

export async function get(path, signal) {
  return (await request("GET", path, undefined, signal)).json();
}

export async function post(path, body, signal) {
  return (await request("POST", path, body, signal)).json();
}

export async function remove(path) {
  return (await request("DELETE", path)).json();
}

export async function postForText(path, body, signal) {
  return (await request("POST", path, body, signal)).text();
}

async function request(method, path, body, signal) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (CHANGES.test(`${method} ${path}`) && token()) {
    if (/[^\x21-\x7e]/.test(token())) throw new Problem(401); // no header can hold it
    headers.Authorization = `Bearer ${token()}`;
  }
  let answer;
  try {
    answer = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (signal?.aborted) throw error;
    connected(false);
    throw new Problem(0);
  }
  connected(true);
  if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => ({})));
  return answer;
}
const CHANGES = /^(POST (words|rules|undo)|DELETE )/;

let connected = () => {};
/** Calls back with whether the service answers, after every request. */
export function onConnection(callback) {
  connected = callback;
}

/** Shows a problem in an element with role "alert"; buttons, if any, are what can be done about it. */
export function showProblem(node, problem, ...buttons) {
  if (!(problem instanceof Problem)) throw problem;
  const key = `problem.${problem.status}`;
  const details = problem.status === 401 ? [] // they speak of headers
    : [problem.body.detail, ...(problem.body.errors ?? []).map((error) => error.message)];
  const known = new Set(details.filter((detail) => typeof detail === "string"));
  fill(node, el("div", { class: "problem" },
    say(el("strong"), has(key) ? key : "problem.other"),
    ...[...known].map((detail) => el("p", { lang: "en" }, detail)),
    ...buttons));
}
