// Mechanism files, as docs/reference/mechanism_file.md states them: whole numbers over 2^62 that satisfy ε exactly.
//
// ε is the decimal that was typed, never a double; e^ε is a sum of whole numbers rounded down, so that a claim that is
// met with it is met. Weights are the same as those of the Python package, and so is the hash.

import { combinations } from "./numbers.js";

const UNIT = 1n << 62n;
const BITS = 192n; // of e^ε: 62-bit weights are decided with room to spare
const GUARD = 64n;
const HASH_PRIME = (1n << 21n) - 9n;
const LISTED = 1024n; // weights of subset selection that are listed one by one

/** A decimal such as "0.25" as a numerator over a power of ten, and as a mechanism file writes it. */
export function decimal(text) {
  const found = /^(\d+)(?:\.(\d*))?$/.exec(String(text).trim());
  if (found === null) return null;
  const places = (found[2] ?? "").replace(/0+$/, "");
  const whole = found[1].replace(/^0+(?=\d)/, "");
  return {
    numerator: BigInt(whole + places),
    denominator: 10n ** BigInt(places.length),
    text: places ? `${whole}.${places}` : whole,
  };
}

/** The whole part of 2^192·e^ε, or one or two less. */
function exponential({ numerator, denominator }) {
  const guard = GUARD + (3n * numerator) / (2n * denominator);
  let term = 1n << (BITS + guard);
  let sum = 0n;
  for (let j = 1n; term > 0n; j++) {
    sum += term;
    term = (term * numerator) / (denominator * j);
  }
  return sum >> guard;
}

const meets = (root, high, low) => high << BITS <= low * root;

/** The smallest low with high ≤ root·low, where high is the whole part of (2^62 − lows·low)/highs. */
function leastLow(root, lows, highs = 1n) {
  let low = (UNIT << BITS) / (highs * root + (lows << BITS)) - 1n;
  while (!meets(root, (UNIT - lows * low) / highs, low)) low += 1n;
  return low;
}

/** The largest weight of a set of `size` of m reports: inside·(m − size) ≤ e^ε·(2^62 − inside)·size. */
function largestInside(root, m, size) {
  let inside = (UNIT * root * size) / (root * size + ((m - size) << BITS)) + 1n;
  while (!meets(root, inside * (m - size), (UNIT - inside) * size)) inside -= 1n;
  return inside;
}

/** The whole part of the square root. */
function squareRoot(value) {
  let x = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (x + value / x) >> 1n;
    if (next >= x) return x;
    x = next;
  }
}

function choose(n, d) {
  let value = 1n;
  for (let i = 1n; i <= d; i++) value = (value * (n - d + i)) / i;
  return value;
}

const WEIGHTS = {
  response(k, root) {
    const low = leastLow(root, k - 1n);
    return {
      outputs: { range: Number(k) },
      denominator: UNIT,
      weights: { kind: "randomized_response", rows: Number(k), low: `${low}`, high: `${UNIT - (k - 1n) * low}` },
    };
  },
  subsets(k, root, size) {
    if (choose(k, size) * k <= LISTED) return listed(k, root, size);
    return {
      outputs: { subsets_of_inputs: Number(size) },
      denominator: UNIT * choose(k - 1n, size - 1n) * (k - size),
      weights: { kind: "subset_selection", rows: Number(k), size: Number(size), inside: `${largestInside(root, k, size)}` },
    };
  },
  unary(k, root) {
    return bits(k, UNIT / 2n, leastLow(root, 1n));
  },
  symmetricUnary(k, root) {
    const low = leastLow(squareRoot(root << BITS), 1n);
    return bits(k, UNIT - low, low);
  },
  hashing(k, root, buckets) {
    const set = HASH_PRIME ** 2n;
    return {
      outputs: { range: Number(set * buckets) },
      denominator: UNIT * set * (set * buckets - set),
      weights: { kind: "hashed", rows: Number(k), inside: `${largestInside(root, set * buckets, set)}`, buckets: Number(buckets) },
    };
  },
};

/** Every set a report of its own; what whole numbers leave over goes to the first, for every answer alike. */
function listed(k, root, size) {
  const [count, cover] = [choose(k, size), choose(k - 1n, size - 1n)];
  const low = leastLow(root, count - cover, cover);
  const [high, spare] = [(UNIT - (count - cover) * low) / cover, (UNIT - (count - cover) * low) % cover];
  const sets = combinations(Number(k), Number(size));
  const weight = (x) => (held, y) => `${(held.includes(x) ? high : low) + (y === 0 ? spare : 0n)}`;
  const rows = [...Array(Number(k)).keys()].map((x) => sets.map(weight(x)));
  return { outputs: sets, denominator: UNIT, weights: { kind: "rows", rows } };
}

function bits(k, own, other) {
  return {
    outputs: { bits: Number(k) },
    denominator: UNIT,
    weights: { kind: "independent_bits", rows: Number(k), own: `${own}`, other: `${other}` },
  };
}

/** The content of the file of a closed form: its kind, number of answers, ε as text, and size of sets or buckets. */
export function content(kind, k, epsilon, parameter = 1) {
  const level = decimal(epsilon);
  if (kind === "subsets" && parameter === 1) kind = "response"; // reports are the answers, not sets of one
  const made = WEIGHTS[kind](BigInt(k), exponential(level), BigInt(parameter));
  return {
    format: "extremal-mechanism",
    version: "1.0",
    inputs: { range: k },
    outputs: made.outputs,
    denominator: `${made.denominator}`,
    weights: made.weights,
    privacy: { notion: "LDP", epsilon: level.text, delta: "0" },
  };
}

/** JSON with sorted keys and no spaces: what is hashed. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const fields = Object.keys(value).sort();
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

/** The whole file as text, with its SHA-256. */
export async function mechanismFile(kind, k, epsilon, parameter) {
  const made = content(kind, k, epsilon, parameter);
  const digest = await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical(made)));
  const hash = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${JSON.stringify({ ...made, hash })}\n`;
}
