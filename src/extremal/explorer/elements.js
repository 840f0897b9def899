// Pieces of the page: elements, labelled controls, bars, and how numbers are written.

/** The same as `extremal.plotting.COLOUR_OF`; tests/explorer compares them. */
export const COLOURS = {
  best: "#1b6ca8",
  response: "#d1495b",
  unary: "#7f5539",
  symmetricUnary: "#8a5a9e",
  hashing: "#c77d1e",
  rounding: "#17a2a2",
  piecewise: "#a0a000",
  geometric: "#888888",
  plain: "#7a7f87",
  sample: "#2e8b57",
};

/** An element with attributes (functions are listeners) and children. */
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

let made_controls = 0;
const fresh = () => `control-${++made_controls}`;

/** A number with a slider beside it; `change` gets the number. */
export function number(label, value, { min, max, step, low, high, unit = "", hint = "" }, change) {
  const id = fresh();
  const logs = high / low >= 100; // of numbers over several powers of ten the slider is logarithmic
  const place = (x) => (logs ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low));
  const at = (p) => tidy(logs ? low * (high / low) ** p : low + (high - low) * p, step, logs);
  const field = make("input", {
    id, type: "number", min, max, step: "any", value, inputmode: "decimal", "aria-describedby": hint ? `${id}-hint` : null,
    change: () => {
      const typed = Number(field.value);
      const kept = Number.isFinite(typed) && field.value !== "" ? Math.min(Math.max(typed, min), max) : value;
      change(step >= 1 ? Math.round(kept) : kept);
    },
  });
  const slider = make("input", {
    type: "range", min: 0, max: 1000, step: 1, value: Math.round(1000 * Math.min(Math.max(place(value), 0), 1)),
    "aria-label": `${label}, slider`, "aria-valuetext": `${plain(value)}${unit}`,
    input: () => change(at(Number(slider.value) / 1000)),
    keydown: (event) => {
      const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      const next = logs ? at(Math.min(Math.max(place(value) + by / 60, 0), 1)) : tidy(value + by * step, step, false);
      const moved = next === value ? value + by * step : next;
      change(Math.min(Math.max(moved, min), max));
    },
  });
  slider.dataset.name = label;
  field.dataset.name = label;
  return make(
    "div", { class: "control" },
    make("label", { for: id }, label),
    make("span", { class: "typed" }, field, unit ? make("span", { class: "unit" }, unit) : null),
    slider,
    hint ? make("small", { id: `${id}-hint` }, hint) : null,
  );
}

function tidy(value, step, logs) {
  if (logs) return step >= 1 ? Math.max(1, Math.round(Number(value.toPrecision(2)))) : Number(value.toPrecision(2));
  return Number((Math.round(value / step) * step).toPrecision(12));
}

/** One of several choices. */
export function choice(label, value, options, change) {
  const id = fresh();
  const select = make(
    "select", { id, change: () => change(select.value) },
    Object.entries(options).map(([key, text]) => make("option", { value: key, selected: key === String(value) }, text)),
  );
  select.dataset.name = label;
  return make("div", { class: "control" }, make("label", { for: id }, label), select);
}

/**
 * A table whose rows have a bar for one number, in the column after the name; the longest bar is `least` or more.
 * A row may have a line across its bar (`mark`) and a range drawn over it (`range`). On a narrow screen each row is a
 * block of its own, which needs the roles: a browser forgets that a table is one when its cells are not.
 */
export function bars(caption, columns, rows, least = 1e-300) {
  const longest = Math.max(...rows.map((row) => row.length ?? 0).filter(Number.isFinite), least);
  const body = rows.map((row) =>
    make(
      "tr", { role: "row", class: row.strong ? "strong" : null },
      make("th", { role: "rowheader", scope: "row" }, row.name),
      make("td", { role: "cell", class: "bar" }, bar(row, longest), make("span", { class: "figure" }, row.text)),
      row.more.map((text, i) => make("td", { role: "cell", class: "figure", "data-column": columns[i + 2] }, text)),
    ),
  );
  return make(
    "div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    make(
      "table", { class: "bars", role: "table" },
      make("caption", {}, caption),
      make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, columns.map((text) => make("th", { role: "columnheader", scope: "col" }, text)))),
      make("tbody", { role: "rowgroup" }, body),
    ),
  );
}

function bar(row, longest) {
  const at = (value) => Math.max(0, Math.min(100, (100 * value) / longest));
  return make("span", { class: "track", "aria-hidden": "true" },
    fill(0, at(row.length), row.colour),
    row.range ? fill(at(row.range[0]), at(row.range[1]), "currentColor", "range") : null,
    row.mark === undefined ? null : fill(at(row.mark), at(row.mark), "currentColor", "mark"));
}

function fill(from, to, colour, kind = "") {
  const made = make("span", { class: `fill ${kind}` });
  made.style.left = `${from}%`;
  made.style.width = `${Number.isFinite(to - from) ? to - from : 0}%`;
  made.style.background = colour;
  return made;
}

/** The sentence that a screen is about; screen readers hear it when it changes. */
export function answer(...parts) {
  return make("p", { class: "answer", role: "status" }, ...parts.map(unbroken));
}

/** No line ends within "ε = 1". */
function unbroken(part) {
  return typeof part === "string" ? part.replaceAll("ε = ", "ε\u00a0=\u00a0") : part;
}

export function strong(text) {
  return make("strong", {}, text);
}

export function note(...parts) {
  return make("p", { class: "note" }, ...parts);
}

// -- numbers

export function plain(value, digits = 3) {
  if (!Number.isFinite(value)) return "∞";
  const text = Number(value.toPrecision(digits));
  return Math.abs(text) >= 1e4 ? whole(text) : String(text);
}

export function whole(value) {
  return value === null ? "more than 10 billion" : Math.round(value).toLocaleString("en-US");
}

/** Three digits, zeros too: numbers under one another are compared. */
export function even(value) {
  if (!Number.isFinite(value)) return "∞";
  return Math.abs(value) >= 1000 ? whole(value) : Math.abs(value) < 1e-4 ? plain(value) : value.toPrecision(3);
}

export function points(share) {
  return `±${even(100 * share)}`;
}

export function percent(share) {
  const value = 100 * share;
  if (value > 99.95 && value < 100) return `${Number(value.toPrecision(5))}%`;
  return `${Math.abs(value) < 1 ? Number(value.toPrecision(2)) : Number(value.toFixed(1))}%`;
}
