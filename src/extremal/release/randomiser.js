// A randomiser for devices: values → reports in the browser, on the phone or in Node, before anything is sent.
//
// It trusts nothing: the mechanism file must match its hash, every row of weights must sum to 2^62, and the claim of
// ε-local differential privacy is decided here, on integers (BigInt). A report is drawn exactly by the weights with
// crypto.getRandomValues, and is remembered: asking again gives the stored report, whatever the value is now. Without a
// cryptographic generator or a place to remember, nothing is reported. No dependencies; one ES module.

const BITS = 62n;
const WHOLE = 1n << BITS;
const PRECISION = 160n;
const LARGEST_EXPONENT = 100;
const PRIME = 2 ** 21 - 9; // of the seeds of hashing

export class Refused extends Error {}

const refuseUnless = (condition, why) => {
  if (!condition) throw new Refused(why);
};

// ---- randomness -----------------------------------------------------------------------------------------------------

// A function that gives independent uniform 64-bit words.
export function secureWords() {
  const generator = globalThis.crypto;
  refuseUnless(typeof generator?.getRandomValues === "function", "there is no cryptographic generator here");
  return () => generator.getRandomValues(new BigUint64Array(1))[0];
}

// ---- the mechanism file ---------------------------------------------------------------------------------------------

// JSON with sorted keys and no spaces: what the hash is of. Keys are ASCII; numbers are whole.
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const fields = Object.keys(value).sort();
    return `{${fields.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
  }
  refuseUnless(typeof value !== "number" || Number.isSafeInteger(value), "a number in the file is not whole");
  return JSON.stringify(value);
}

async function digest(content) {
  const hasher = globalThis.crypto?.subtle;
  refuseUnless(hasher, "the file's hash can be checked only in a secure context (https or localhost)");
  const hashed = new Uint8Array(await hasher.digest("SHA-256", new TextEncoder().encode(canonical(content))));
  return [...hashed].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function weight(text) {
  refuseUnless(typeof text === "string" && /^(0|[1-9][0-9]{0,18})$/.test(text), "a weight must be a string of digits");
  const number = BigInt(text);
  refuseUnless(number <= WHOLE, "a weight is larger than 2^62");
  return number;
}

function count(number, least, what) {
  refuseUnless(Number.isSafeInteger(number) && number >= least && number <= 2 ** 26, `${what} is not a sensible count`);
  return number;
}

const sum = (weights) => weights.reduce((total, w) => total + w, 0n);
const least = (weights) => weights.reduce((a, b) => (b < a ? b : a));
const most = (weights) => weights.reduce((a, b) => (b > a ? b : a));

// Each structure: how many rows and reports; `ratios`, pairs (a, b) of which the claim says a ≤ e^ε·b; `draw`, the code
// of a report (or the codes of a set) for a row and a source of words. Row sums are checked when it is made.
const STRUCTURES = {
  rows(stored) {
    const rows = stored.rows.map((row) => row.map(weight));
    refuseUnless(rows.length > 0 && rows.every((row) => row.length === rows[0].length), "rows differ in length");
    refuseUnless(rows.every((row) => sum(row) === WHOLE), "a row of weights does not sum to 2^62");
    const columns = rows[0].map((_, y) => rows.map((row) => row[y]));
    const ratios = columns.map((column) => [most(column), least(column)]);
    return { rows: rows.length, reports: columns.length, ratios, draw: (row, words) => inverted(rows[row], words) };
  },

  randomized_response(stored) {
    const r = count(stored.rows, 2, "rows");
    const [low, high] = [weight(stored.low), weight(stored.high)];
    refuseUnless(low * BigInt(r - 1) + high === WHOLE, "a row of weights does not sum to 2^62");
    const row = (x) => Array.from({ length: r }, (_, y) => (y === x ? high : low));
    return {
      rows: r, reports: r, ratios: [[high, low], [low, high]], draw: (x, words) => inverted(row(x), words),
    };
  },

  circulant(stored) {
    const column = stored.runs.flatMap(([w, length]) => Array(count(length, 1, "a length")).fill(weight(w)));
    const r = column.length;
    refuseUnless(sum(column) === WHOLE, "a row of weights does not sum to 2^62");
    const row = (x) => Array.from({ length: r }, (_, y) => column[(x - y + r) % r]);
    return {
      rows: r, reports: r, ratios: [[most(column), least(column)]], draw: (x, words) => inverted(row(x), words),
    };
  },

  two_valued_columns(stored) {
    const r = count(stored.rows, 2, "rows");
    const pairs = stored.weights.map(([low, high]) => [weight(low), weight(high)]);
    const columns = stored.columns.map(([pair, ...edges]) => {
      refuseUnless(pairs[pair] !== undefined, "a column names no pair of weights");
      const increasing = edges.every((edge, i) => count(edge, 0, "an edge") <= r && (i === 0 || edge > edges[i - 1]));
      refuseUnless(increasing && edges.length > 0 && edges.length % 2 === 0, "the edges of a column are no runs");
      return { low: pairs[pair][0], high: pairs[pair][1], edges };
    });
    const changes = Array(r + 1).fill(0n);
    for (const { low, high, edges } of columns) {
      edges.forEach((edge, i) => { changes[edge] += i % 2 === 0 ? high - low : low - high; });
    }
    let running = sum(columns.map(({ low }) => low));
    for (let x = 0; x < r; x += 1) {
      running += changes[x];
      refuseUnless(running === WHOLE, "a row of weights does not sum to 2^62");
    }
    // The number of edges at or below x is odd exactly inside a run.
    const inside = (x, edges) => edges.filter((edge) => edge <= x).length % 2 === 1;
    const row = (x) => columns.map(({ low, high, edges }) => (inside(x, edges) ? high : low));
    const ratios = columns.flatMap(({ low, high }) => [[high, low], [low, high]]);
    return { rows: r, reports: columns.length, ratios, draw: (x, words) => inverted(row(x), words) };
  },

  subset_selection(stored) {
    const r = count(stored.rows, 2, "rows");
    const d = count(stored.size, 1, "size");
    const inside = weight(stored.inside);
    refuseUnless(d < r, "a set must leave something out");
    // A set with x weighs inside/C(r−1, d−1), one without x (2^62 − inside)/C(r−1, d); the quotient of the two numbers
    // of sets is (r−d)/d.
    const [held, free] = [inside * BigInt(r - d), (WHOLE - inside) * BigInt(d)];
    return {
      rows: r, reports: null, size: d, ratios: [[held, free], [free, held]],
      draw: (x, words) => subset(r, d, inside, x, words),
    };
  },

  // Unary encoding: a word for each bit; the bits travel as bytes, the first bit the highest.
  independent_bits(stored) {
    const r = count(stored.rows, 2, "rows");
    const [own, other] = [weight(stored.own), weight(stored.other)];
    const [high, low] = [own * (WHOLE - other), other * (WHOLE - own)];
    return {
      rows: r, reports: undefined, outputs: { bits: r }, ratios: [[high, low], [low, high]],
      draw: (x, words) => bytes(Array.from({ length: r }, (_, i) => words() >> 2n < (i === x ? own : other))),
    };
  },

  // Local hashing: a seed (a, b), then the bucket of x or another one; they travel as one whole number.
  hashed(stored) {
    const [r, g] = [count(stored.rows, 2, "rows"), count(stored.buckets, 2, "buckets")];
    const inside = weight(stored.inside);
    refuseUnless(r <= PRIME && PRIME * PRIME * g <= Number.MAX_SAFE_INTEGER, "the reports are no safe whole numbers");
    const [held, free] = [inside * BigInt(g - 1), WHOLE - inside];
    return {
      rows: r, reports: undefined, outputs: { range: PRIME * PRIME * g }, ratios: [[held, free], [free, held]],
      draw: (x, words) => hashed(g, inside, x, words),
    };
  },
};

// ---- sampling -------------------------------------------------------------------------------------------------------

// The first report whose partial sum of weights exceeds the high 62 bits of a word: no rejection, and the same work
// whatever the outcome.
function inverted(row, words) {
  const point = words() >> 2n;
  let [partial, report] = [0n, 0];
  for (const w of row) {
    partial += w;
    report += Number(partial <= point);
  }
  return report;
}

// Uniform on 0..bound−1: the high half of (32-bit word × bound), unless the low half is among the over-represented.
function below(bound, words) {
  const over = (1n << 32n) % BigInt(bound);
  for (;;) {
    const product = (words() >> 32n) * BigInt(bound);
    if ((product & 0xffffffffn) >= over) return Number(product >> 32n);
  }
}

// Whether the report holds x, by one word; then a uniform subset of the r−1 others by Floyd's algorithm.
function subset(r, d, inside, x, words) {
  const holds = words() >> 2n < inside;
  const chosen = new Set();
  for (let step = holds ? d - 1 : d; step > 0; step -= 1) {
    const newest = r - 1 - step;
    const drawn = below(newest + 1, words);
    chosen.add(chosen.has(drawn) ? newest : drawn);
  }
  const others = [...chosen].map((other) => (other >= x ? other + 1 : other)); // numbered without x
  return (holds ? [...others, x] : others).sort((a, b) => a - b);
}

function bytes(bits) {
  const packed = Array(Math.ceil(bits.length / 8)).fill(0);
  bits.forEach((bit, i) => { packed[i >> 3] |= Number(bit) << (7 - (i & 7)); });
  return packed;
}

// Products of two numbers below P stay below 2^42: exact as numbers.
function hashed(g, inside, x, words) {
  const [a, b] = [below(PRIME, words), below(PRIME, words)];
  const shift = 1 + below(g - 1, words);
  const holds = words() >> 2n < inside;
  const moved = (x + 1234567) % PRIME;
  const place = (((moved * moved) % PRIME) * moved) % PRIME;
  const own = ((a * place + b) % PRIME) % g;
  return (a * PRIME + b) * g + (holds ? own : (own + shift) % g);
}

// ---- the claim ------------------------------------------------------------------------------------------------------

// "1.25" or "5/4" as a fraction of integers.
function fraction(text) {
  refuseUnless(typeof text === "string", "a level must be a string");
  const found = /^([0-9]{1,40})(?:\.([0-9]{1,40})|\/([0-9]{1,40}))?$/.exec(text);
  refuseUnless(found, "a level must be a decimal or a fraction");
  const [, whole, decimals = "", denominator = "1"] = found;
  refuseUnless(BigInt(denominator) > 0n, "a level must be a decimal or a fraction");
  return [BigInt(whole + decimals), BigInt(denominator) * 10n ** BigInt(decimals.length)];
}

// 2^PRECISION·e^ε from below: the Taylor series with every term rounded down.
export function lowerExponential([numerator, denominator]) {
  refuseUnless(numerator <= BigInt(LARGEST_EXPONENT) * denominator, "ε must be at most 100");
  let [term, total] = [1n << (PRECISION + 64n), 0n];
  for (let j = 1n; term > 0n; j += 1n) {
    total += term;
    term = (term * numerator) / (denominator * j);
  }
  return total >> 64n;
}

function refuseFalseClaim(privacy, ratios) {
  const pure = privacy?.notion === "LDP" && privacy.delta === "0";
  refuseUnless(pure, "this script decides ε-local differential privacy only, and the file claims something else");
  const [top, bottom] = privacy.ratio === undefined
    ? [lowerExponential(fraction(privacy.epsilon)), 1n << PRECISION]
    : fraction(privacy.ratio);
  refuseUnless(ratios.every(([a, b]) => a * bottom <= b * top), "the claim is false: a report tells more than e^ε");
}

// ---- what a page uses -----------------------------------------------------------------------------------------------

function labels(stored, what) {
  if (!Array.isArray(stored)) return Array.from({ length: count(stored?.range, 1, what) }, (_, code) => code);
  refuseUnless(new Set(stored.map((label) => JSON.stringify(label))).size === stored.length, `${what} repeat`);
  return stored;
}

// A mechanism from the text of its file; refused unless everything about it holds.
export async function loadMechanism(text) {
  let content;
  try {
    content = JSON.parse(text);
  } catch {
    throw new Refused("the file is no JSON");
  }
  refuseUnless(content?.format === "extremal-mechanism", "the file is no mechanism");
  refuseUnless(/^1\.[0-9]+$/.test(content.version), "the file has another major version");
  const { hash, ...rest } = content;
  refuseUnless(hash === (await digest(rest)), "the file was changed after it was written");
  const make = Object.hasOwn(STRUCTURES, content.weights?.kind) ? STRUCTURES[content.weights.kind] : null;
  refuseUnless(make, "the file stores its weights in a way that this script does not know");
  let structure;
  try {
    structure = make(content.weights);
  } catch (error) {
    throw error instanceof Refused ? error : new Refused("the weights are malformed");
  }
  refuseFalseClaim(content.privacy, structure.ratios);
  const inputs = labels(content.inputs, "inputs");
  const sets = content.outputs?.subsets_of_inputs;
  refuseUnless((structure.reports === null) === (sets !== undefined), "the outputs do not fit the weights");
  refuseUnless(sets === undefined || sets === structure.size, "the outputs do not fit the weights");
  const unlisted = structure.outputs !== undefined;
  const fits = !unlisted || canonical(content.outputs) === canonical(structure.outputs);
  refuseUnless(fits, "the outputs do not fit the weights");
  const outputs = sets === undefined && !unlisted ? labels(content.outputs, "outputs") : null;
  refuseUnless(outputs === null || outputs.length === structure.reports, "the outputs do not fit the weights");
  const runs = content.rows_of_inputs ?? Array.from({ length: structure.rows }, (_, row) => [row, 1]);
  const rowOf = runs.flatMap(([row, times]) => Array(count(times, 0, "a run")).fill(count(row, 0, "a row")));
  const named = rowOf.length === inputs.length && rowOf.every((row) => row < structure.rows);
  refuseUnless(named, "the inputs do not fit the weights");
  return Object.freeze({
    hash,
    epsilon: content.privacy.epsilon ?? `log(${content.privacy.ratio})`,
    inputs,
    outputs,
    // The report on one value, from a source of words; a page uses `Respondent`, which remembers.
    draw(value, words) {
      const code = inputs.findIndex((label) => label === value);
      refuseUnless(code >= 0, "the value is no label of the mechanism");
      const drawn = structure.draw(rowOf[code], words);
      if (unlisted) return drawn;
      return Array.isArray(drawn) ? drawn.map((member) => inputs[member]) : outputs[drawn];
    },
  });
}

// One person's answers on this device: each question is answered once, and the stored report is repeated.
// `storage` has getItem and setItem, as localStorage has.
export class Respondent {
  #storage;
  #words;

  constructor(storage) {
    this.#words = secureWords();
    const usable = typeof storage?.getItem === "function" && typeof storage?.setItem === "function";
    refuseUnless(usable, "there is no place to remember the report");
    this.#storage = storage;
  }

  // The stored report on a question; a new one, stored before it is returned, if there is none.
  report(question, value, mechanism) {
    const key = `extremal report: ${question}`;
    const stored = this.#storage.getItem(key);
    if (stored !== null && stored !== undefined) {
      const { mechanism: hash, report } = JSON.parse(stored);
      refuseUnless(hash === mechanism.hash, "the question was asked with another mechanism");
      return report;
    }
    const report = mechanism.draw(value, this.#words);
    const kept = JSON.stringify({ mechanism: mechanism.hash, report });
    this.#storage.setItem(key, kept);
    refuseUnless(this.#storage.getItem(key) === kept, "the report could not be remembered, so it is not given out");
    return report;
  }
}
