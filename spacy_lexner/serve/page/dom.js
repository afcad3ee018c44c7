// Elements without markup: what comes from texts, words and answers only ever becomes text nodes and attributes.

export const $ = (id) => document.getElementById(id);

/** A new element. Properties are attributes; `onclick` and the like are listeners; undefined and false are left out. */
export function el(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (typeof value === "function") node.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

export function fill(node, ...children) {
  node.replaceChildren(...children);
  return node;
}

/** Calls a function once nothing has called for it for some milliseconds. `delay` may change from call to call. */
export function later(task) {
  let timer;
  const wait = (delay) => { clearTimeout(timer); timer = setTimeout(task, delay); };
  wait.cancel = () => clearTimeout(timer);
  return wait;
}

/** What only the newest of several requests may finish: an earlier one is stopped, and its answer is never seen. */
export class Latest {
  async run(task) {
    this.stop();
    const own = (this.controller = new AbortController());
    try {
      const answer = await task(own.signal);
      if (own !== this.controller) throw new Stale();
      return answer;
    } catch (error) {
      throw own === this.controller ? error : new Stale();
    }
  }

  stop() {
    this.controller?.abort();
    this.controller = undefined;
  }
}

export class Stale extends Error {}
