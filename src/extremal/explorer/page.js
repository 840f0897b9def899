// The page: which screen, its state in the address, and what is drawn of it.

import { SCREENS, download } from "./screens.js";
import { make } from "./elements.js";

const main = document.getElementById("screen");
const tabs = document.getElementById("screens");

/** The screen and state that the address says: #cost?epsilon=1&people=1000. What is not allowed becomes the default. */
function read() {
  const [name, query = ""] = location.hash.slice(1).split("?"); // URLSearchParams decodes, whatever was typed
  const screen = Object.hasOwn(SCREENS, name) ? name : "cost";
  const given = new URLSearchParams(query);
  const state = { ...SCREENS[screen].state };
  for (const key of Object.keys(state)) if (given.has(key)) state[key] = allowed(SCREENS[screen], key, given.get(key));
  return { screen, state: SCREENS[screen].settle?.(state) ?? state };
}

function allowed(screen, key, text) {
  if (typeof screen.state[key] !== "number") return text;
  const { min = 0, max = 1e9, step } = screen.within[key] ?? {};
  const value = Number(text);
  if (text === "" || !Number.isFinite(value)) return screen.state[key];
  const kept = Math.min(Math.max(value, min), max);
  return step >= 1 ? Math.round(kept) : kept;
}

let current = read();

function address() {
  const { screen, state } = current;
  const query = new URLSearchParams(Object.entries(state).filter(([key, value]) => value !== SCREENS[screen].state[key]));
  return `#${screen}${query.size === 0 ? "" : `?${query}`}`;
}

let coming = null; // the next step of something that moves; anything else that is done stops it

function set(change) {
  clearTimeout(coming);
  const state = { ...current.state, ...change };
  current = { ...current, state: SCREENS[current.screen].settle?.(state) ?? state };
  history.replaceState(null, "", address());
  draw();
}

set.later = (step, milliseconds) => {
  coming = setTimeout(step, milliseconds);
};

// -- work that takes longer than a frame is done one piece at a time, and dropped when something else is asked for

let waiting = [];
let timer = null;

function later(work, place) {
  waiting.push({ work, place });
}

function workOn() {
  clearTimeout(timer);
  timer = setTimeout(function next() {
    const job = waiting.shift();
    if (job === undefined) {
      main.dataset.ready = "yes";
      return;
    }
    if (job.place.isConnected) {
      job.work();
      job.place.classList.remove("waiting");
    }
    timer = setTimeout(next, 0);
  }, 60);
}

// -- drawing

function draw() {
  const { screen, state } = current;
  const chosen = SCREENS[screen];
  const focused = mark(document.activeElement);
  main.dataset.ready = "no";
  waiting = [];
  document.title = `${chosen.title} · extremal explorer`;
  for (const link of tabs.querySelectorAll("a")) {
    if (link.dataset.screen === screen) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.replaceChildren(
    make("h1", {}, chosen.title),
    make("p", { class: "lead" }, chosen.lead),
    make("div", { class: "columns" },
      make("form", { class: "controls", "aria-label": "Settings", submit: (event) => event.preventDefault() }, chosen.controls(state, set)),
      make("div", { class: "result" }, chosen.result(state, later, set), taken(chosen, state))),
  );
  refocus(focused);
  workOn();
}

/** "Copy Python", "copy the link", and downloads of mechanisms. */
function taken(chosen, state) {
  const code = make("pre", { tabindex: "0", "aria-label": "the same in Python" }, make("code", {}, chosen.python(state)));
  const status = make("span", { role: "status", class: "copied" });
  const copy = (text, said) => async () => {
    try {
      await navigator.clipboard.writeText(text());
      status.textContent = said;
    } catch {
      status.textContent = "The browser does not allow copying here: select the text instead.";
    }
  };
  const files = chosen.downloads(state);
  return make("div", { class: "taken" },
    make("div", { class: "options" },
      make("button", { type: "button", click: copy(() => chosen.python(state), "Python copied.") }, "Copy Python"),
      make("button", { type: "button", click: copy(() => location.href, "Link copied.") }, "Copy link"), status),
    code,
    files.length === 0 ? null : make("details", {},
      make("summary", {}, "Download the mechanism"),
      make("ul", {}, files.map((file) => make("li", {}, make("button", { type: "button", click: () => download(file, state.epsilon) }, file.text)))),
      make("p", { class: "note" }, "ex.load reads the file, and extremal verify checks its privacy exactly.")));
}

/** Where the keyboard is, so that it stays there when everything is drawn again. */
function mark(element) {
  if (!main.contains(element)) return null;
  if (element.dataset.cell !== undefined) return { cell: true };
  if (element.dataset.name !== undefined) return { name: element.dataset.name, type: element.type };
  if (element.tagName === "BUTTON") return { text: element.textContent };
  return null;
}

function refocus(where) {
  if (where === null) return;
  const found = where.cell
    ? main.querySelector('[data-cell][aria-pressed="true"]')
    : [...main.querySelectorAll("input, select, button")].find((one) =>
      where.name ? one.dataset.name === where.name && one.type === where.type : one.textContent === where.text);
  found?.focus({ preventScroll: true });
}

for (const [name, screen] of Object.entries(SCREENS)) {
  const link = make("a", { href: `#${name}` }, screen.title);
  link.dataset.screen = name;
  tabs.append(make("li", {}, link));
}

addEventListener("hashchange", () => {
  if (location.hash === address()) return;
  clearTimeout(coming);
  current = read();
  draw();
  main.focus({ preventScroll: true });
});
draw();
