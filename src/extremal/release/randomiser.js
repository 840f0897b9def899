// A randomiser for devices: values → reports in the browser, on the phone or in Node, before anything is sent.
//
// It trusts nothing: the mechanism file must match its hash, every row of weights must sum to 2^62, and the claim of
// ε-local differential privacy is decided here, on integers (BigInt). A report is drawn exactly by the weights with
// crypto.getRandomValues, and is remembered: asking again gives the stored report, whatever the value is now. Without a
// cryptographic generator or a place to remember, nothing is reported. How many words a report takes tells nothing that
// the report does not. No dependencies; one ES module.

export const PROTOCOL = "2.0"; // how words become reports; vectors.json has the same version

const BITS = 62n;
const WHOLE = 1n << BITS;
const PRECISION = 160n;
const LARGEST_EXPONENT = 100;
const HASH_PRIME = 2 ** 21 - 9;
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
const LARGEST_FILE = 2 ** 26; // characters
const MOST_VALUES = 2 ** 22; // in a file
const DEEPEST = 32; // levels of nesting; no file that is written has ten
const MOST_LABELS = 2 ** 24;
const LARGEST_TABLE = 2 ** 20; // entries of a row that is spelled out or scanned for a report: a tenth of a second
const LARGEST_SETS = 2 ** 16; // rows of which any number may be in a set
const MOST_MEMBERS = 2621; // of a set of more rows

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

// Everything after this may recurse and list: a few characters cannot ask for more than a file may hold.
function refuseLarge(content) {
  let [level, values] = [[content], 1];
  for (let depth = 0; level.length > 0; depth += 1) {
    refuseUnless(depth <= DEEPEST, "the file is nested too deeply");
    level = level.flatMap((value) => (value !== null && typeof value === "object" ? Object.values(value) : []));
    values += level.length;
    refuseUnless(values <= MOST_VALUES, "the file holds too many values");
  }
}

async function digest(content) {
  const hasher = globalThis.crypto?.subtle;
  refuseUnless(hasher, "the file's hash can be checked only in a secure context (https, localhost, Node 19 or newer)");
  const hashed = new Uint8Array(await hasher.digest("SHA-256", new TextEncoder().encode(canonical(content))));
  return [...hashed].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Files have the fields that the writer writes and no others: what is skipped could be shown where something else was
// decided.
function refuseOtherFields(content, fields, what) {
  const object = content !== null && typeof content === "object" && !Array.isArray(content);
  const keys = object ? Object.keys(content).sort() : [];
  const same = keys.length === fields.length && [...fields].sort().every((field, i) => field === keys[i]);
  refuseUnless(object && same, `${what} must have the fields ${fields.join(", ")} and no others`);
}

function wholeNumber(text, largest) {
  refuseUnless(typeof text === "string" && /^(0|[1-9][0-9]{0,24})$/.test(text), "a weight must be a string of digits");
  const number = BigInt(text);
  refuseUnless(number <= largest, "a weight is larger than it may be");
  return number;
}

const weight = (text) => wholeNumber(text, WHOLE);

function count(number, least, what, largest = MOST_LABELS) {
  const sensible = Number.isSafeInteger(number) && number >= least && number <= largest;
  refuseUnless(sensible, `${what} is not a sensible count`);
  return number;
}

const table = (number, least, what) => count(number, least, what, LARGEST_TABLE);

// Runs [value, how often] spelled out, once they are known to be few enough.
function spelledOut(runs, most) {
  const total = runs.reduce((length, [, times]) => length + count(times, 0, "a run", most), 0);
  refuseUnless(total <= most, "the runs spell out more than this script takes");
  return runs.flatMap(([value, times]) => Array(times).fill(value));
}

const sum = (weights) => weights.reduce((total, w) => total + w, 0n);
const least = (weights) => weights.reduce((a, b) => (b < a ? b : a));
const most = (weights) => weights.reduce((a, b) => (b > a ? b : a));

// What a file holds of each structure, beside its kind.
const FIELDS = {
  rows: ["rows"],
  randomized_response: ["rows", "low", "high"],
  circulant: ["runs"],
  two_valued_columns: ["rows", "weights", "columns"],
  subset_selection: ["rows", "size", "inside"],
  independent_bits: ["rows", "own", "other"],
  hadamard: ["rows", "inside", "blocks", "width"],
  projective: ["rows", "inside", "order", "coordinates"],
  bloom_filter: ["rows", "bits", "hashes", "cohorts", "own", "other", "one", "zero"],
  grouped_sets: ["groups", "types", "low", "high"],
  hashed: ["rows", "inside", "buckets"],
  colourings: ["rows", "weights", "colours"],
};

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
    const r = table(stored.rows, 2, "rows");
    const [low, high] = [weight(stored.low), weight(stored.high)];
    refuseUnless(low * BigInt(r - 1) + high === WHOLE, "a row of weights does not sum to 2^62");
    const row = (x) => Array.from({ length: r }, (_, y) => (y === x ? high : low));
    return {
      rows: r, reports: r, ratios: [[high, low], [low, high]], draw: (x, words) => inverted(row(x), words),
    };
  },

  circulant(stored) {
    const column = spelledOut(stored.runs.map(([w, length]) => [weight(w), count(length, 1, "a run")]), LARGEST_TABLE);
    const r = column.length;
    refuseUnless(sum(column) === WHOLE, "a row of weights does not sum to 2^62");
    const row = (x) => Array.from({ length: r }, (_, y) => column[(x - y + r) % r]);
    return {
      rows: r, reports: r, ratios: [[most(column), least(column)]], draw: (x, words) => inverted(row(x), words),
    };
  },

  two_valued_columns(stored) {
    const r = table(stored.rows, 2, "rows");
    const pairs = stored.weights.map(([low, high]) => [weight(low), weight(high)]);
    const columns = stored.columns.map(([pair, ...edges]) => {
      refuseUnless(count(pair, 0, "a pair") < pairs.length, "a column names no pair of weights");
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

  // Colouring a has `high` for the class of the input and `low` for each other class; classes are digits, one a row or two.
  colourings(stored) {
    const r = table(stored.rows, 2, "rows");
    const parts = stored.colours.map((text, a) => {
      const [low, high] = stored.weights[a].map(weight);
      refuseUnless(typeof text === "string" && (text.length === r || text.length === 2 * r), "a colouring does not fit");
      const digits = Array.from(text, (letter) => DIGITS.indexOf(letter));
      refuseUnless(digits.every((digit) => digit >= 0), "a colouring has an unknown digit");
      const two = text.length === 2 * r;
      const classOf = (x) => (two ? 64 * digits[2 * x] + digits[2 * x + 1] : digits[x]);
      const classes = Array.from({ length: r }, (_, x) => classOf(x));
      const n = 1 + classes.reduce((a, b) => Math.max(a, b));
      const proper = n >= 2 && new Set(classes).size === n && two === n > 64;
      refuseUnless(proper && 0n < low && low < high, "the classes of a colouring are not 0, 1, …");
      return { low, high, n, classes };
    });
    refuseUnless(stored.weights.length === parts.length, "every colouring needs one pair of weights");
    const whole = sum(parts.map(({ low, high, n }) => high + BigInt(n - 1) * low));
    refuseUnless(whole === WHOLE, "a row of weights does not sum to 2^62");
    const row = (x) => parts.flatMap(({ low, high, n, classes }) =>
      Array.from({ length: n }, (_, colour) => (colour === classes[x] ? high : low)));
    const ratios = parts.flatMap(({ low, high }) => [[high, low], [low, high]]);
    const reports = table(parts.reduce((total, { n }) => total + n, 0), 2, "reports");
    return { rows: r, reports, ratios, draw: (x, words) => inverted(row(x), words) };
  },

  subset_selection(stored) {
    const r = count(stored.rows, 2, "rows");
    const d = count(stored.size, 1, "size");
    const inside = weight(stored.inside);
    refuseUnless(d < r, "a set must leave something out");
    refuseUnless(r <= LARGEST_SETS || d <= MOST_MEMBERS, "the sets are too large for this script");
    // A set with x weighs inside/C(r−1, d−1), one without x (2^62 − inside)/C(r−1, d); the quotient of the two numbers
    // of sets is (r−d)/d.
    const [held, free] = [inside * BigInt(r - d), (WHOLE - inside) * BigInt(d)];
    return {
      rows: r, reports: null, size: d, ratios: [[held, free], [free, held]],
      fits: (members) => members.length === d && members.every((code, i) => code >= 0 && (i === 0 || code > members[i - 1])),
      draw: (x, words) => subset(r, d, inside, x, words),
    };
  },
};

// Rules: input x favours a set of c of the m reports. The report lies in it with probability inside/2^62 and is uniform
// given that, so that one in the set weighs inside·(m − c) and any other (2^62 − inside)·c.
function rule(stored, m, c, draw) {
  const inside = weight(stored.inside);
  refuseUnless(Number.isSafeInteger(m), "the reports are too many for this script");
  const [held, free] = [inside * BigInt(m - c), (WHOLE - inside) * BigInt(c)];
  const ratios = [[held, free], [free, held]];
  return { rows: stored.rows, reports: m, ratios, draw: (x, words) => draw(x, inside, words) };
}

Object.assign(STRUCTURES, {
  independent_bits(stored) {
    const r = table(stored.rows, 2, "rows");
    const [own, other] = [weight(stored.own), weight(stored.other)];
    // Two inputs differ in two bits: (own against other) in one and (not other against not own) in the other one.
    const [high, low] = [own * (WHOLE - other), other * (WHOLE - own)];
    return {
      rows: r, reports: null, bits: r, ratios: [[high, low], [low, high]],
      draw: (x, words) => independentBits(r, own, other, x, words),
    };
  },

  hadamard(stored) {
    const r = count(stored.rows, 2, "rows");
    const [blocks, width] = [count(stored.blocks, 1, "blocks"), count(stored.width, 2, "width")];
    const powers = [blocks, width].every((n) => (BigInt(n) & BigInt(n - 1)) === 0n);
    refuseUnless(powers && blocks * width <= 2 ** 24 && r <= blocks * (width - 1), "blocks and width make no rule");
    return rule(stored, blocks * width, width / 2, (x, inside, words) => hadamard(blocks, width, inside, x, words));
  },

  projective(stored) {
    const r = count(stored.rows, 2, "rows");
    const [q, t] = [count(stored.order, 2, "order"), count(stored.coordinates, 2, "coordinates")];
    refuseUnless(isPrime(q) && q ** t <= 2 ** 32 && r <= points(q, t), "order and coordinates make no rule");
    return rule(stored, points(q, t), points(q, t - 1), (x, inside, words) => projective(q, t, inside, x, words));
  },

  // The filter of an input has h bits; two filters differ in at most h bits that one sets and in h that the other sets.
  bloom_filter(stored) {
    const r = count(stored.rows, 2, "rows");
    const [b, h, cohorts] = ["bits", "hashes", "cohorts"].map((name) => count(stored[name], 1, name));
    const rule = b <= 2 ** 12 && h <= 8 && 2 * h <= b && cohorts <= 2 ** 10 && (cohorts & (cohorts - 1)) === 0;
    refuseUnless(rule && r <= HASH_PRIME, "bits, hashes and cohorts make no rule");
    const [own, other, one, zero] = ["own", "other", "one", "zero"].map((name) => weight(stored[name]));
    const shown = (kept) => kept * one + (WHOLE - kept) * zero; // over 2^124
    const high = (shown(own) * (WHOLE ** 2n - shown(other))) ** BigInt(h);
    const low = (shown(other) * (WHOLE ** 2n - shown(own))) ** BigInt(h);
    return {
      rows: r, reports: null, bits: Math.log2(cohorts) + b, ratios: [[high, low], [low, high]],
      draw: (x, words) => bloomFilter({ b, h, cohorts, own, other, one, zero }, x, words),
    };
  },

  // Sets of some types: t[g] members of group g. One of a type weighs high on its members and low elsewhere, over 2^62
  // times the number of sets of the type, so that n·2^62 is what n rows of a group have in all.
  grouped_sets(stored) {
    const of = spelledOut(stored.groups, LARGEST_SETS);
    refuseUnless(of.length > 1 && of.every((g) => count(g, 0, "a group") < 8), "the rows make no groups");
    const groups = Array.from({ length: 1 + of.reduce((a, b) => Math.max(a, b)) }, () => []);
    const place = of.map((g, x) => groups[g].push(x) - 1);
    const sizes = groups.map((members) => members.length);
    const largest = WHOLE * BigInt(of.length);
    const [low, high] = [stored.low, stored.high].map((texts) => texts.map((text) => wholeNumber(text, largest)));
    const { types } = stored;
    const fits = types.length === low.length && types.length === high.length && sizes.every((n) => n > 0);
    const counted = (t) => t.length === sizes.length && t.every((c, g) => count(c, 0, "a number of members") <= sizes[g]);
    refuseUnless(fits && types.length * of.length <= 2 ** 18, "the types do not fit the groups");
    refuseUnless(types.every(counted), "the types do not fit the groups");
    const outcomes = sizes.map((n, g) => [
      ...types.map((t, i) => BigInt(t[g]) * high[i]), ...types.map((t, i) => BigInt(n - t[g]) * low[i]),
    ]);
    const whole = outcomes.every((weights, g) => sum(weights) === BigInt(sizes[g]) * WHOLE);
    refuseUnless(whole, "a row of weights does not sum to 2^62");
    return {
      rows: of.length, reports: null, bits: of.length,
      ratios: types.flatMap((_, i) => [[high[i], low[i]], [low[i], high[i]]]),
      draw: (x, words) => groupedSets(groups, types, outcomes, x, of[x], place[x], words),
    };
  },

  hashed(stored) {
    const r = count(stored.rows, 2, "rows");
    const g = count(stored.buckets, 2, "buckets");
    refuseUnless(g <= 2 ** 20 && r <= HASH_PRIME, "the buckets make no rule");
    return rule(stored, HASH_PRIME ** 2 * g, HASH_PRIME ** 2, (x, inside, words) => hashed(g, inside, x, words));
  },
});

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

// A uniform subset of `size` of the numbers below `things`, by Floyd's algorithm. Of the `steps` numbers that are drawn
// the first ones are left when there are more than members, so that the words do not tell the size.
function uniformSubset(things, size, steps, words) {
  const chosen = new Set();
  for (let step = steps; step > 0; step -= 1) {
    const newest = things - step;
    const drawn = below(newest + 1, words);
    if (step <= size) chosen.add(chosen.has(drawn) ? newest : drawn);
  }
  return [...chosen];
}

// A uniform subset of `size` numbers below n, with or without x: the others are numbered without x.
function subsetAround(n, size, x, holds, words) {
  const chosen = uniformSubset(n - 1, size - Number(holds), Math.min(size, n - 1), words);
  const others = chosen.map((other) => other + Number(other >= x));
  return holds ? [...others, x] : others;
}

// Whether the report holds x, by one word; then a uniform subset of the r−1 others.
function subset(r, d, inside, x, words) {
  const holds = words() >> 2n < inside;
  return subsetAround(r, d, x, holds, words).sort((a, b) => a - b);
}

// The type and whether it holds x by a word and a number below n, over n·2^62; then the part in each group. A number
// below n is drawn for every group, and for a part of t members of n numbers below n − t, …, n, whatever is left of them.
function groupedSets(groups, types, outcomes, x, own, place, words) {
  const rest = words() >> 2n;
  const wholes = groups.map((members) => below(members.length, words));
  const point = BigInt(wholes[own]) * WHOLE + rest;
  let [partial, outcome] = [0n, 0];
  for (const w of outcomes[own]) {
    partial += w;
    outcome += Number(partial <= point);
  }
  const [type, holds] = [types[outcome % types.length], outcome < types.length];
  const bytes = Array(Math.ceil(groups.flat().length / 8)).fill(0);
  groups.forEach((members, g) => {
    const [n, t] = [members.length, type[g]];
    const chosen = g === own
      ? subsetAround(n, t, place, holds, words)
      : uniformSubset(n, t, Math.min(t + 1, n), words);
    if (g === own) below(n, words);
    for (const member of chosen) bytes[members[member] >> 3] |= 1 << (7 - (members[member] & 7));
  });
  return bytes;
}

// One word for each bit; eight bits to a byte, the first bit the highest.
function independentBits(r, own, other, x, words) {
  const bytes = Array(Math.ceil(r / 8)).fill(0);
  for (let j = 0; j < r; j += 1) {
    bytes[j >> 3] |= Number(words() >> 2n < (j === x ? own : other)) << (7 - (j & 7));
  }
  return bytes;
}

const isOdd = (number) => {
  let parity = 0;
  for (let left = number; left > 0; left = Math.floor(left / 2)) parity ^= left & 1;
  return parity === 1;
};

// A word, one below m − width/2, a word, whatever the outcome. In the own block the uniform word of bits is moved to the
// right half by flipping the lowest bit of the line; elsewhere the number says where.
function hadamard(blocks, width, inside, x, words) {
  const [block, line] = [x % blocks, Math.floor(x / blocks) + 1];
  const held = words() >> 2n < inside;
  const place = below(blocks * width - width / 2, words);
  let column = Number(words() & BigInt(width - 1));
  if (isOdd(column & line) === held) column ^= line & -line;
  if (held || place < width / 2) return block * width + column;
  const other = place - width / 2;
  return ((block + 1 + Math.floor(other / width)) % blocks) * width + (other % width);
}

const points = (q, t) => (q ** t - 1) / (q - 1);

function isPrime(n) {
  for (let d = 2; d * d <= n; d += 1) if (n % d === 0) return false;
  return n >= 2;
}

// Point number n of projective space, and back: vectors are numbers in base q whose first digit is 1, in order.
function vectorOf(n, q) {
  let free = 0;
  while (points(q, free + 1) <= n) free += 1;
  return n - points(q, free) + q ** free;
}

function numberOf(vector, q) {
  let free = 0;
  while (q ** (free + 1) <= vector) free += 1;
  return vector - q ** free + points(q, free);
}

// A word, a number for the case that the product with x is 0 and one for the case that it is 1: they are all digits but
// the one where x has its first, which then decides the product.
function projective(q, t, inside, x, words) {
  const held = words() >> 2n < inside;
  const [within, without] = [1 + below(q ** (t - 1) - 1, words), below(q ** (t - 1), words)]; // the vector 0 is no point
  const digits = (number, n) => Array.from({ length: n }, (_, i) => Math.floor(number / q ** i) % q);
  const left = digits(vectorOf(x, q), t);
  const pivot = left.findLastIndex((digit) => digit > 0);
  const right = digits(held ? within : without, t - 1);
  right.splice(pivot, 0, 0);
  const product = left.reduce((total, digit, i) => total + digit * right[i], 0) % q;
  right[pivot] = (Number(!held) - product + q) % q;
  const first = right[right.findLastIndex((digit) => digit > 0)];
  let scale = 1;
  while ((scale * first) % q !== 1) scale += 1;
  return numberOf(right.reduce((total, digit, i) => total + ((digit * scale) % q) * q ** i, 0), q);
}

// The seed (a, b), another bucket, and a word for which one: the report is (a·P + b)·g + bucket.
function hashed(g, inside, x, words) {
  const prime = BigInt(HASH_PRIME);
  const [a, b] = [BigInt(below(HASH_PRIME, words)), BigInt(below(HASH_PRIME, words))];
  const scattered = (BigInt(x) + 1234567n) ** 3n % prime;
  const own = Number((a * scattered + b) % prime) % g;
  const moved = 1 + below(g - 1, words);
  const bucket = words() >> 2n < inside ? own : (own + moved) % g;
  return Number(a * prime + b) * g + bucket;
}

// A cohort, a word for each bit that is kept, and one for each that is shown unless what is kept is.
function bloomFilter({ b, h, cohorts, own, other, one, zero }, x, words) {
  const prime = BigInt(HASH_PRIME);
  const scattered = (n) => (BigInt(n) + 1234567n) ** 3n % prime;
  const cohort = below(cohorts, words);
  const set = [];
  for (let j = 0; j < h; j += 1) {
    const seed = 2 * (cohort * h + j);
    let place = Number((scattered(seed + 1) * scattered(x) + scattered(seed + 2)) % prime) % (b - j);
    for (const taken of set) place += Number(place >= taken);
    set.push(place);
    set.sort((p, q) => p - q);
  }
  const kept = Array.from({ length: b }, (_, i) => words() >> 2n < (set.includes(i) ? own : other));
  const same = one === WHOLE && zero === 0n;
  const shown = same ? kept : kept.map((bit) => words() >> 2n < (bit ? one : zero));
  const start = Math.log2(cohorts);
  const bits = [...Array.from({ length: start }, (_, i) => (cohort >> (start - 1 - i)) & 1), ...shown];
  const bytes = Array(Math.ceil(bits.length / 8)).fill(0);
  bits.forEach((bit, i) => { bytes[i >> 3] |= Number(bit) << (7 - (i & 7)); });
  return bytes;
}

// ---- the claim ------------------------------------------------------------------------------------------------------

// "1.25" or "4/3" as a fraction of integers; each number has one text, the one that the writer writes.
function fraction(text) {
  const why = "a level must be a decimal or a fraction in its shortest form";
  refuseUnless(typeof text === "string", why);
  const decimal = /^(0|[1-9][0-9]{0,39})(?:\.([0-9]{0,39}[1-9]))?$/.exec(text);
  if (decimal) return [BigInt(decimal[1] + (decimal[2] ?? "")), 10n ** BigInt((decimal[2] ?? "").length)];
  const quotient = /^([1-9][0-9]{0,39})\/([1-9][0-9]{0,39})$/.exec(text);
  refuseUnless(quotient, why);
  const [numerator, denominator] = [BigInt(quotient[1]), BigInt(quotient[2])];
  // Below 10^40, a denominator that divides 10^200 has no other prime than 2 and 5: then there is a decimal.
  refuseUnless(divisor(numerator, denominator) === 1n && 10n ** 200n % denominator !== 0n, why);
  return [numerator, denominator];
}

const divisor = (a, b) => (b === 0n ? a : divisor(b, a % b));

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

function exponentialOf(text) {
  const [numerator, denominator] = fraction(text);
  refuseUnless(numerator === 0n || numerator * 10n ** 9n >= denominator, "ε must be 0 or at least 1e-9");
  return [lowerExponential([numerator, denominator]), 1n << PRECISION];
}

function ratioOf(text) {
  const [numerator, denominator] = fraction(text);
  const largest = lowerExponential([BigInt(LARGEST_EXPONENT), 1n]);
  const fits = numerator >= denominator && numerator << PRECISION <= denominator * largest;
  refuseUnless(fits, "a ratio must lie between 1 and e^100");
  return [numerator, denominator];
}

function refuseFalseClaim(privacy, ratios) {
  const pure = privacy?.notion === "LDP" && privacy.delta === "0";
  refuseUnless(pure, "this script decides ε-local differential privacy only, and the file claims something else");
  const level = Object.hasOwn(privacy, "ratio") ? "ratio" : "epsilon";
  refuseOtherFields(privacy, ["notion", level, "delta"], "the claim");
  const [top, bottom] = level === "ratio" ? ratioOf(privacy.ratio) : exponentialOf(privacy.epsilon);
  refuseUnless(ratios.every(([a, b]) => a * bottom <= b * top), "the claim is false: a report tells more than e^ε");
}

// ---- what a page uses -----------------------------------------------------------------------------------------------

// How many labels, the label of a code, and the code of a label (−1: none).
function labels(stored, what, largest = MOST_LABELS) {
  if (!Array.isArray(stored)) {
    refuseOtherFields(stored, ["range"], what);
    const n = count(stored.range, 1, `the number of ${what}`, largest);
    const find = (value) => (Number.isSafeInteger(value) && value >= 0 && value < n ? value : -1);
    return { length: n, at: (code) => code, find };
  }
  refuseUnless(stored.every((label) => label?.integer === undefined), `${what} beyond 2^53 are too large for this script`);
  const text = (label) => typeof label === "string" && label.trim() !== "" && !/\p{Surrogate}/u.test(label);
  const plain = (label) => text(label) || typeof label === "boolean" || Number.isSafeInteger(label);
  const set = (label) => what === "outputs" && Array.isArray(label) && label.length > 0 && label.every(plain);
  refuseUnless(stored.every((label) => plain(label) || set(label)), `${what} hold something that is no label`);
  // Labels that are written alike are one, and so are 1 and true.
  const written = (label) => (typeof label === "string" ? `"${label.normalize("NFKC")}` : String(Number(label)));
  const alike = stored.map((label) => (Array.isArray(label) ? JSON.stringify(label) : written(label)));
  refuseUnless(new Set(alike).size === stored.length, `${what} repeat`);
  const key = (value) => (Array.isArray(value) ? JSON.stringify(value) : value);
  const codes = new Map(stored.map((label, code) => [key(label), code]));
  return { length: stored.length, at: (code) => stored[code], find: (value) => codes.get(key(value)) ?? -1 };
}

// What a file says, if it is of this format and matches its hash.
async function opened(text, format, what, fields) {
  let content;
  refuseUnless(typeof text !== "string" || text.length <= LARGEST_FILE, "the file is too large");
  try {
    content = typeof text === "string" ? JSON.parse(text) : text;
  } catch {
    throw new Refused("the file is no JSON");
  }
  refuseUnless(content?.format === format, `the file is no ${what}`);
  const version = typeof content.version === "string" ? /^1\.(0|[1-9][0-9]{0,4})$/.exec(content.version) : null;
  refuseUnless(version, "the file has another major version");
  refuseLarge(content);
  const { hash, ...rest } = content;
  refuseUnless(hash === (await digest(rest)), "the file was changed after it was written");
  const unknown = Object.keys(rest).filter((field) => !fields.includes(field));
  refuseUnless(version[1] !== "0" || unknown.length === 0, `the file has a field that is not known: ${unknown[0]}`);
  return content;
}

// ---- several questions under one coin -------------------------------------------------------------------------------

const COIN_BITS = 53n;
const COIN = 1n << COIN_BITS;

// A number below any bound up to 2^62: as many bits as it has, again where they are too large.
function wideBelow(bound, words) {
  if (bound <= 1n) return words() && 0n;
  const shift = 64n - BigInt((bound - 1n).toString(2).length);
  for (;;) {
    const found = words() >> shift;
    if (found < bound) return found;
  }
}

// One family of a question: its answers, its odds, and a report on x, by the truth or at random. Both are drawn.
function familyOf(stored) {
  if (Object.hasOwn(stored ?? {}, "size")) {
    refuseOtherFields(stored, ["answers", "size"], "a family");
    const [k, d] = [table(stored.answers, 2, "answers"), count(stored.size, 1, "size")];
    refuseUnless(d < k, "a set must leave something out");
    return {
      k, odds: [BigInt(k), BigInt(d)], named: (drawn, at) => (d === 1 ? at(drawn) : drawn.map(at)),
      draw(x, truthful, words) {
        if (d === 1) {
          const noise = below(k, words);
          return truthful ? x : noise;
        }
        const noise = uniformSubset(k, d, d, words);
        const others = uniformSubset(k - 1, d - 1, d - 1, words).map((other) => other + Number(other >= x));
        return (truthful ? [...others, x] : noise).sort((a, b) => a - b);
      },
    };
  }
  refuseOtherFields(stored, ["weights"], "a family");
  const rows = stored.weights.map((row) => row.map(weight));
  const whole = sum(rows[0]);
  const even = rows.length > 1 && rows.every((row) => row.length === rows[0].length && sum(row) === whole);
  refuseUnless(even && whole <= WHOLE && rows.every((row) => row.every((w) => w > 0n)), "the weights of a family do not fit");
  const low = rows[0].map((_, y) => least(rows.map((row) => row[y])));
  const excess = rows.map((row) => row.map((w, y) => w - low[y]));
  const [shared, rest] = [sum(low), whole - sum(low)];
  refuseUnless(rest > 0n, "the weights of a family do not differ");
  const odds = low.map((l, y) => [most(excess.map((row) => row[y])) * shared, l * rest])
    .reduce((a, b) => (b[0] * a[1] > a[0] * b[1] ? b : a));
  const place = (weights, point) => {
    let [partial, found] = [0n, 0];
    for (const w of weights) {
      partial += w;
      found += Number(partial <= point);
    }
    return found;
  };
  return {
    k: rows.length, odds, named: (drawn) => drawn,
    draw(x, truthful, words) {
      const noise = place(low, wideBelow(shared, words));
      const truth = place(excess[x], wideBelow(rest, words));
      return truthful ? truth : noise;
    },
  };
}

// The questions of a file that are asked jointly: a record is a list of answers, one for each name; its report has null
// where a question was not asked. Used as a mechanism by `Respondent`.
//
// The columns of a branch (a filter and what follows it) are one question, whose answers are the admissible records.
async function jointOf(stored) {
  const fields = ["names", "answers", "structure", "privacy", ...(Object.hasOwn(stored ?? {}, "records") ? ["records"] : [])];
  refuseOtherFields(stored, fields, "the joint mechanism");
  const { names, structure } = stored;
  refuseOtherFields(structure, ["kind", "questions", "assignments"], "the joint mechanism");
  refuseUnless(structure.kind === "joint_blocks", "the file stores its weights in a way that this script does not know");
  const families = structure.questions.map((options) => options.map(familyOf));
  const answers = stored.answers.map((one) => labels(one, "inputs"));
  const units = unitsOf(stored, answers);
  const fits = names.length === answers.length && units.length === families.length
    && families.every((options, j) => options.length > 0 && options.every(({ k }) => k === units[j].k))
    && units.every(({ records }, j) => records === null || structure.questions[j].every(({ size }) => size === 1));
  refuseUnless(fits, "the answers do not fit the questions");
  const kinds = families.map(() => []);
  const ratios = [];
  const assignments = structure.assignments.map((one) => {
    refuseOtherFields(one, ["weight", "blocks"], "an assignment");
    let [high, low] = [1n, 1n];
    const seen = new Set();
    const blocks = one.blocks.map((block) => {
      refuseOtherFields(block, ["questions", "families", "coin"], "a block");
      const coin = wholeNumber(block.coin, COIN - 1n);
      refuseUnless(coin > 0n && block.questions.length === block.families.length, "a block does not fit its questions");
      let [top, bottom] = [1n, 1n];
      const members = block.questions.map((j, i) => {
        const family = families[count(j, 0, "a question")]?.[count(block.families[i], 0, "a family")];
        refuseUnless(family && !seen.has(j), "a block does not fit its questions");
        seen.add(j);
        const [a, b] = family.odds;
        [top, bottom] = [top * a, bottom * b];
        const key = `${block.families[i]} ${coin}`;
        if (!kinds[j].includes(key)) kinds[j].push(key);
        return { j, family, key };
      });
      high *= (COIN - coin) * bottom + coin * top;
      low *= (COIN - coin) * bottom;
      return { coin, members };
    });
    refuseUnless(seen.size > 0, "an assignment asks nothing");
    ratios.push([high, low]);
    return { weight: wholeNumber(one.weight, COIN), blocks };
  });
  refuseUnless(sum(assignments.map((one) => one.weight)) === COIN, "the weights of the assignments do not sum to 2^53");
  refuseFalseClaim(stored.privacy, ratios);
  const shift = 64n - COIN_BITS;
  const written = (j, key, report) => (kinds[j].length === 1 ? report : `${kinds[j].indexOf(key) + 1}: ${JSON.stringify(report)}`);
  const codesOf = (record) => {
    const own = Array.isArray(record) ? record.map((value, i) => answers[i]?.find(value) ?? -1) : [];
    return own.length === names.length ? units.map((unit) => unit.code(own)) : [-1];
  };
  const knows = (record) => codesOf(record).every((code) => code >= 0);
  return Object.freeze({
    hash: await digest(stored),
    privacy: stored.privacy,
    names: Object.freeze([...names]),
    inputs: answers,
    units,
    knows,
    couldReport: (report) => Array.isArray(report) && report.length === names.length,
    draw(record, words) {
      refuseUnless(knows(record), "the record has an answer that is no label");
      const codes = codesOf(record);
      const point = words() >> shift;
      let [partial, number] = [0n, 0];
      for (const one of assignments) {
        partial += one.weight;
        number += Number(partial <= point);
      }
      const report = names.map(() => null);
      for (const { coin, members } of assignments[number].blocks) {
        const truthful = words() >> shift < coin;
        for (const { j, family, key } of members) {
          const drawn = family.draw(codes[j], truthful, words);
          units[j].columns.forEach((i, place) => {
            const { records } = units[j];
            const said = records === null ? family.named(drawn, answers[i].at) : answers[i].at(records[drawn][place]);
            report[i] = written(j, key, said);
          });
        }
      }
      return report;
    },
  });
}

const NO_ANSWER = "(no answer)";
const SKIPPED = "(skipped)";
const MOST_RECORDS = 4096; // admissible ones of a branch

// The columns of each question of a joint mechanism, in the order of their first ones: a column by itself, or those of a
// branch with its admissible records; `code` is the answer to the question from the codes of all columns (−1: none).
function unitsOf(stored, answers) {
  const { names } = stored;
  const branches = (stored.records ?? []).map((entry) => {
    refuseUnless(Array.isArray(entry) && entry.length === 2, "a branch has columns and records");
    const [own, records] = entry;
    const columns = own.map((name) => names.indexOf(name));
    const inside = (record) => record.length === columns.length
      && record.every((x, place) => count(x, 0, "an answer") < answers[columns[place]]?.length);
    const proper = columns.length > 1 && new Set(columns).size === columns.length && records.length > 1
      && records.length <= MOST_RECORDS && columns.every((i) => i >= 0) && records.every(inside);
    refuseUnless(proper, "the records of a branch do not fit its columns");
    const codes = new Map(records.map((record, code) => [record.join(), code]));
    refuseUnless(codes.size === records.length, "the records of a branch repeat");
    const ahead = new Set(records.flatMap((record) => record.map((_, end) => record.slice(0, end + 1).join())));
    const code = (all) => codes.get(columns.map((i) => all[i]).join()) ?? -1;
    return { columns, records, k: records.length, code, ahead };
  });
  const branched = branches.flatMap(({ columns }) => columns);
  refuseUnless(new Set(branched).size === branched.length, "a column is in one branch at most");
  const found = [];
  names.forEach((_, i) => {
    const branch = branches.find(({ columns }) => columns.includes(i));
    if (branch === undefined) found.push({ columns: [i], records: null, k: answers[i].length, code: (all) => all[i] });
    else if (!found.includes(branch)) found.push(branch);
  });
  return found;
}

// A whole record from the answers that there are, {name: value}: what is missing becomes "(no answer)" or "(skipped)"
// where one of them has its place, and is undefined elsewhere. `applies` says which questions earlier answers lead to.
function completed(answers, parts, joint) {
  const [record, applies] = [new Map(), new Map()];
  const given = (name) => (Object.hasOwn(answers, name) ? answers[name] ?? undefined : undefined);
  const silent = (name, inputs) => given(name) ?? (inputs.find(NO_ANSWER) >= 0 ? NO_ANSWER : undefined);
  for (const [name, { inputs }] of parts) {
    applies.set(name, true);
    record.set(name, silent(name, inputs));
  }
  for (const { columns, records, ahead } of joint?.units ?? []) {
    const codes = [];
    for (const i of columns) {
      const [name, inputs] = [joint.names[i], joint.inputs[i]];
      let value = silent(name, inputs);
      const skipped = records === null ? -1 : inputs.find(SKIPPED);
      const away = skipped >= 0 && ahead.has([...codes, skipped].join());
      if (away && (value === undefined || value === NO_ANSWER)) value = SKIPPED;
      applies.set(name, !away && codes.every((code) => code >= 0));
      codes.push(value === undefined ? -1 : inputs.find(value));
      record.set(name, value);
    }
  }
  return { record, applies };
}

// What is added up over the claims of a file: decimals and fractions exactly, as [top, bottom]; null with a ratio.
function spent(claims) {
  if (claims.some(({ epsilon }) => epsilon === undefined)) return null;
  return claims.map(({ epsilon }) => fraction(epsilon)).reduce(([a, b], [c, d]) => [a * d + c * b, b * d], [0n, 1n]);
}

// A fraction as a person reads it.
function shownLevel([top, bottom]) {
  const common = divisor(top, bottom);
  const [a, b] = [top / common, bottom / common];
  const digits = b === 1n ? 0 : String(b).length * 4; // a denominator of 2s and 5s alone divides 10^that
  if (10n ** BigInt(digits) % b !== 0n) return `${a}/${b}`;
  const text = String((a * 10n ** BigInt(digits)) / b).padStart(digits + 1, "0");
  const [whole, rest] = [text.slice(0, text.length - digits), text.slice(text.length - digits).replace(/0+$/, "")];
  return rest === "" ? whole : `${whole}.${rest}`;
}

const WORDING = ["text", "answers", "group"];

// A question as a page shows it.
function shownQuestion(entry, inputs) {
  const { name, text = "", answers = [], group = "" } = entry;
  const texts = [text, group, ...(Array.isArray(answers) ? answers : [0])];
  refuseUnless(texts.every((one) => typeof one === "string"), "the wording of a question is texts");
  const optional = inputs.find(NO_ANSWER) >= 0;
  const own = inputs.length - Number(optional) - Number(inputs.find(SKIPPED) >= 0);
  refuseUnless(answers.length === 0 || answers.length === own, "the wording of a question does not fit its answers");
  const value = { // answers are listed when somebody asks: there may be millions
    name, text: text || name, group, optional,
    get answers() {
      refuseUnless(own <= LARGEST_TABLE, "the question has too many answers to list");
      return Array.from({ length: own }, (_, i) => ({ value: inputs.at(i), text: answers[i] ?? String(inputs.at(i)) }));
    },
  };
  return Object.freeze(value);
}

// A questionnaire from the text of its file; refused unless everything about it holds. What one person reports, a record
// {question: report}, costs the sum of the claims, which must not exceed the budget that the file states.
export async function loadQuestionnaire(text) {
  const known = ["format", "version", "title", "questions", "joint", "goals", "budget"];
  const content = await opened(text, "extremal-questionnaire", "questionnaire", known);
  const listed = Array.isArray(content.questions) ? content.questions : [];
  const names = listed.map((entry) => entry?.name);
  const named = names.every((name) => typeof name === "string" && name.trim() !== "");
  refuseUnless(named && names.length > 0 && new Set(names).size === names.length, "questions need names of their own");
  refuseUnless(typeof (content.title ?? "") === "string", "the title is no text");
  let joint = null;
  if (content.joint !== undefined) {
    try {
      joint = await jointOf(content.joint);
    } catch (error) {
      throw error instanceof Refused ? error : new Refused("the joint mechanism is malformed");
    }
    refuseUnless(joint.names.every((name) => names.includes(name)), "questions need names of their own");
  }
  const parts = new Map();
  const shown = [];
  for (const entry of listed) {
    const strange = Object.keys(entry).filter((field) => !["name", "mechanism", ...WORDING].includes(field));
    refuseUnless(strange.length === 0, "a question has a field that is not known");
    const jointly = joint?.names.indexOf(entry.name) ?? -1;
    if (jointly >= 0) refuseUnless(entry.mechanism === undefined, "a question is asked in one way");
    else parts.set(entry.name, await loadMechanism(entry.mechanism));
    shown.push(shownQuestion(entry, jointly >= 0 ? joint.inputs[jointly] : parts.get(entry.name).labels));
  }
  const mechanisms = new Map([...parts].map(([name, mechanism]) => [name, { mechanism, inputs: mechanism.labels }]));
  const claims = [...[...parts.values()].map(({ privacy }) => privacy), ...(joint === null ? [] : [joint.privacy])];
  const level = spent(claims);
  if (content.budget !== undefined && level !== null) {
    const [top, bottom] = fraction(content.budget?.epsilon);
    refuseUnless(level[0] * bottom <= top * level[1], "the questions spend more than the budget");
  }
  const questionOf = (name) => {
    refuseUnless(names.includes(name), "there is no such question");
    return name;
  };
  const record = (answers) => {
    refuseUnless(answers !== null && typeof answers === "object", "answers are an object: {question: answer}");
    const { record: found } = completed(answers, mechanisms, joint);
    for (const [name, { mechanism }] of mechanisms) {
      refuseUnless(mechanism.knows(found.get(name)), `the answer to ${JSON.stringify(name)} is missing or no label`);
    }
    joint?.names.forEach((name, i) => {
      const known = found.get(name) !== undefined && joint.inputs[i].find(found.get(name)) >= 0;
      refuseUnless(known, `the answer to ${JSON.stringify(name)} is missing or no label`);
    });
    const fits = joint === null || joint.knows(joint.names.map((name) => found.get(name)));
    refuseUnless(fits, "a question is answered exactly where the earlier answers lead to it");
    return found;
  };
  return Object.freeze({
    hash: content.hash,
    title: content.title ?? "",
    epsilon: level === null ? claims.map(({ epsilon, ratio }) => epsilon ?? `log(${ratio})`).join(" + ") : shownLevel(level),
    questions: Object.freeze(shown),
    parts,
    joint,
    applies: (name, answers) => completed(answers, mechanisms, joint).applies.get(questionOf(name)),
    record: (answers) => inOrder(names, record(answers)),
    // The record of reports from a source of words: mechanisms in their order, then the joint one. A page uses
    // `Respondent`, which remembers.
    draw(answers, words) {
      const found = record(answers);
      const reports = new Map([...parts].map(([name, mechanism]) => [name, mechanism.draw(found.get(name), words)]));
      const together = joint?.draw(joint.names.map((name) => found.get(name)), words) ?? [];
      together.forEach((report, i) => reports.set(joint.names[i], report));
      return inOrder(names, reports);
    },
  });
}

// An object with these names in their order, whatever they are called.
function inOrder(names, found) {
  const made = {};
  for (const name of names) Object.defineProperty(made, name, { value: found.get(name), enumerable: true });
  return made;
}

const MECHANISM_FIELDS = [
  "format", "version", "inputs", "outputs", "denominator", "weights", "privacy", "rows_of_inputs",
];

// A mechanism from the text of its file; refused unless everything about it holds.
export async function loadMechanism(text) {
  const content = await opened(text, "extremal-mechanism", "mechanism", MECHANISM_FIELDS);
  const kind = content.weights?.kind;
  const make = typeof kind === "string" && Object.hasOwn(STRUCTURES, kind) ? STRUCTURES[kind] : null;
  refuseUnless(make, "the file stores its weights in a way that this script does not know");
  refuseOtherFields(content.weights, ["kind", ...FIELDS[kind]], "the weights");
  const digits = /^([1-9][0-9]*|0x[1-9a-f][0-9a-f]*)$/;
  const whole = typeof content.denominator === "string" && digits.test(content.denominator);
  refuseUnless(whole, "the denominator must be a string of digits");
  let structure;
  try {
    structure = make(content.weights);
  } catch (error) {
    throw error instanceof Refused ? error : new Refused("the weights are malformed");
  }
  refuseFalseClaim(content.privacy, structure.ratios);
  const inputs = labels(content.inputs, "inputs");
  const fits = "the outputs do not fit the weights";
  let [named, known] = [];
  if (structure.reports === null) {
    const { size, bits } = structure;
    refuseOtherFields(content.outputs, [size === undefined ? "bits" : "subsets_of_inputs"], "the outputs");
    refuseUnless(content.outputs.subsets_of_inputs === size && content.outputs.bits === bits, fits);
    const isByte = (part) => Number.isInteger(part) && part >= 0 && part < 256;
    const isWord = (report) => report.length === Math.ceil(bits / 8) && report.every(isByte);
    named = (drawn) => (size === undefined ? drawn : drawn.map(inputs.at));
    known = (report) => Array.isArray(report)
      && (size === undefined ? isWord(report) : structure.fits(report.map(inputs.find)));
  } else {
    const outputs = labels(content.outputs, "outputs", Number.MAX_SAFE_INTEGER);
    refuseUnless(outputs.length === structure.reports, fits);
    named = outputs.at;
    known = (report) => outputs.find(report) >= 0;
  }
  const rowOf = rowsOf(content.rows_of_inputs, structure.rows, inputs.length);
  return Object.freeze({
    hash: content.hash,
    epsilon: content.privacy.epsilon ?? `log(${content.privacy.ratio})`,
    privacy: content.privacy,
    labels: inputs,
    inputs: { length: inputs.length, at: inputs.at },
    knows: (value) => inputs.find(value) >= 0,
    couldReport: known,
    // The report on one value, from a source of words; a page uses `Respondent`, which remembers.
    draw(value, words) {
      const code = inputs.find(value);
      refuseUnless(code >= 0, "the value is no label of the mechanism");
      return named(structure.draw(rowOf(code), words));
    },
  });
}

// ---- strings that nobody listed ---------------------------------------------------------------------------------------

const GOLDEN = 0x9e3779b97f4a7c15n;
const FIRST = 0xbf58476d1ce4e5b9n;
const SECOND = 0x94d049bb133111ebn;
const SEED_BITS = 32n; // of a device's seed, above the bucket
const BUCKET_BITS = 10n;
const PAYLOAD_BITS = SEED_BITS + BUCKET_BITS; // below the group
const STRINGS_FIELDS = [
  "format", "version", "privacy", "max_bytes", "alphabet", "salt", "lengths", "finding", "prefixes", "response",
];

const cut = (number) => BigInt.asUintN(64, number);

// The finaliser of SplitMix64.
function mixed(word) {
  let found = cut((word ^ (word >> 30n)) * FIRST);
  found = cut((found ^ (found >> 27n)) * SECOND);
  return found ^ (found >> 31n);
}

// The symbols of a text, 0 after its end; null when it is none that the protocol takes.
function symbolsOf(text, alphabet, longest) {
  if (typeof text !== "string" || !text.isWellFormed()) return null;
  const bytes = [...new TextEncoder().encode(text)];
  const symbols = bytes.map((byte) => 1 + alphabet.indexOf(byte));
  const fits = bytes.length > 0 && bytes.length <= longest && !symbols.includes(0);
  return fits ? [...symbols, ...Array(longest - bytes.length).fill(0)] : null;
}

// A protocol for heavy hitters from the text of its file; refused unless both of its mechanisms hold what the file
// claims. `Respondent.report(question, text, protocol)` remembers its report as that of a mechanism.
export async function loadHeavyHitters(text) {
  const content = await opened(text, "extremal-heavy-hitters", "protocol for heavy hitters", STRINGS_FIELDS);
  const longest = count(content.max_bytes, 1, "max_bytes", 64);
  const pairs = typeof content.alphabet === "string" ? content.alphabet.match(/[0-9a-f]{2}/g) ?? [] : [];
  const alphabet = pairs.map((pair) => parseInt(pair, 16));
  const ordered = alphabet.every((byte, i) => byte > (i === 0 ? 0 : alphabet[i - 1]));
  refuseUnless(alphabet.length > 0 && ordered && pairs.join("") === content.alphabet, "the alphabet is malformed");
  const salt = wholeNumber(content.salt, (1n << 64n) - 1n);
  const lengths = Array.isArray(content.lengths) ? content.lengths : [];
  const growing = lengths.every((n, i) => count(n, 1, "a length") <= longest && (i === 0 || n >= lengths[i - 1]));
  refuseUnless(growing && lengths.length > 1 && lengths.at(-1) === longest, "the lengths are malformed");
  const finding = count(content.finding, 1, "finding", 100) * lengths.length;
  const [prefixes, response] = [await loadMechanism(content.prefixes), await loadMechanism(content.response)];
  const same = [prefixes, response].every(({ privacy }) => canonical(privacy) === canonical(content.privacy));
  refuseUnless(same, "the mechanisms claim another level than the protocol");
  const g = response.inputs.length;
  refuseUnless((g & (g - 1)) === 0 && g <= 2 ** Number(BUCKET_BITS), "the buckets are malformed");
  const print = (symbols) => symbols.reduce((found, s) => mixed(cut(found + BigInt(s + 1) * GOLDEN)), salt);
  const place = (symbols, level) => {
    const key = cut(BigInt(level + 1) * SECOND);
    return Number(mixed(print(symbols) ^ key) % BigInt(prefixes.inputs.length));
  };
  const bucket = (symbols, seed) => {
    const key = mixed(cut(seed * GOLDEN + FIRST));
    return Number(mixed(cut(print(symbols) + key)) >> BigInt(64 - Math.log2(g)));
  };
  const levels = lengths.length;
  const confirms = (report) => {
    const payload = report & ((1n << PAYLOAD_BITS) - 1n);
    return Number(payload & ((1n << BUCKET_BITS) - 1n)) < g;
  };
  const possible = (report) => {
    const group = report >> PAYLOAD_BITS;
    if (group === BigInt(levels)) return confirms(report);
    return group < BigInt(levels) && prefixes.couldReport(Number(report & ((1n << PAYLOAD_BITS) - 1n)));
  };
  return Object.freeze({
    hash: content.hash,
    epsilon: content.privacy.epsilon,
    privacy: content.privacy,
    knows: (value) => symbolsOf(value, alphabet, longest) !== null,
    couldReport: (report) => Number.isSafeInteger(report) && report >= 0 && possible(BigInt(report)),
    place,
    bucket,
    draw(value, words) {
      const symbols = symbolsOf(value, alphabet, longest);
      refuseUnless(symbols !== null, `the value must be a text of 1 to ${longest} bytes of the alphabet`);
      const drawn = below(finding + levels, words);
      const seed = words() >> (64n - SEED_BITS);
      if (drawn < finding) {
        const level = drawn % levels;
        const shown = prefixes.draw(place(symbols.slice(0, lengths[level]), level), words);
        return Number((BigInt(level) << PAYLOAD_BITS) | BigInt(shown));
      }
      const shown = response.draw(bucket(symbols, seed), words);
      return Number((BigInt(levels) << PAYLOAD_BITS) | (seed << BUCKET_BITS) | BigInt(shown));
    },
  });
}

// The row of each input: its own, or as runs of [row, how many inputs] say.
function rowsOf(runs, rows, inputs) {
  const fits = "the inputs do not fit the weights";
  if (runs === undefined) {
    refuseUnless(rows === inputs, fits);
    return (code) => code;
  }
  refuseUnless(Array.isArray(runs) && runs.every((run) => Array.isArray(run) && run.length === 2), fits);
  refuseUnless(runs.every(([row, times]) => count(row, 0, "a row") < rows && count(times, 1, "a run") >= 1), fits);
  const joined = runs.every(([row], i) => i === 0 || row !== runs[i - 1][0]);
  refuseUnless(joined, "neighbours of one row must be counted together");
  refuseUnless(new Set(runs.map(([row]) => row)).size === rows, "every row must be that of some input");
  refuseUnless(runs.reduce((total, [, times]) => total + times, 0) === inputs, fits);
  let end = 0;
  const ends = runs.map(([, times]) => (end += times));
  return (code) => runs[ends.reduce((passed, last) => passed + Number(last <= code), 0)][0];
}

// A place on this device that all tabs, reloads and restored pages share: a database of the browser. Whoever comes first
// is remembered, decided in one transaction; a page that is closed in the middle has stored the report or given out none.
//
// Another place needs the same two functions: `read(key)` gives the text under a key, or undefined; `remember(key, text)`
// stores the text unless there is one, as one step whatever else runs, and gives the text that is there then.
export function deviceStorage(name = "extremal reports") {
  refuseUnless(globalThis.indexedDB, "there is no place to remember the report");
  const finished = (work, success) => new Promise((resolve, reject) => {
    work[success] = () => resolve(work.result);
    for (const failure of ["onerror", "onabort", "onblocked"]) work[failure] = () => reject(work.error ?? new Error(failure));
  });
  const within = async (mode, action) => {
    const opening = globalThis.indexedDB.open(name, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("reports");
    const base = await finished(opening, "onsuccess");
    try {
      const work = base.transaction("reports", mode, { durability: "strict" });
      const ended = finished(work, "oncomplete");
      const [found] = await Promise.all([action(work.objectStore("reports")), ended]);
      return found;
    } finally {
      base.close();
    }
  };
  const get = (store, key) => finished(store.get(key), "onsuccess");
  return Object.freeze({
    read: (key) => within("readonly", (store) => get(store, key)),
    remember: (key, text) => within("readwrite", async (store) => {
      const stored = await get(store, key);
      if (stored === undefined) store.add(text, key);
      return stored ?? text;
    }),
  });
}

// One person's answers on this device: each question is answered once, and the stored report is repeated.
// `storage` has `read` and `remember`, as `deviceStorage()` has.
export class Respondent {
  #storage;
  #words;

  constructor(storage) {
    this.#words = secureWords();
    const usable = typeof storage?.read === "function" && typeof storage?.remember === "function";
    refuseUnless(usable, "there is no place to remember the report");
    this.#storage = storage;
  }

  // The stored report on a question; a new one, stored before it is returned, if there is none.
  async report(question, value, mechanism) {
    const stored = await this.stored(question, mechanism);
    if (stored !== undefined) return stored;
    const drawn = mechanism.draw(value, this.#words);
    const text = JSON.stringify({ mechanism: mechanism.hash, report: drawn });
    await this.#repeated(mechanism, () => this.#storage.remember(keyOf(question), text));
    const kept = await this.stored(question, mechanism);
    refuseUnless(kept !== undefined, "the report could not be remembered, so it is not given out");
    return kept;
  }

  // The stored report on a question, undefined if there is none: what a page sends again after it was reloaded.
  async stored(question, mechanism) {
    return this.#repeated(mechanism, () => this.#storage.read(keyOf(question)));
  }

  // What the place holds, if it is a report of this mechanism.
  async #repeated(mechanism, ask) {
    let text;
    try {
      text = await ask();
    } catch (error) {
      throw error instanceof Refused
        ? error
        : new Refused(`the place to remember the report fails, so nothing is given out (${error?.name})`);
    }
    if (text === undefined || text === null) return undefined;
    let kept = null;
    try {
      kept = JSON.parse(text);
    } catch {} // refused just below
    refuseUnless(typeof kept?.mechanism === "string", "what is remembered is damaged, so nothing is given out");
    refuseUnless(kept.mechanism === mechanism.hash, "the question was asked with another mechanism");
    refuseUnless(mechanism.couldReport(kept.report), "what is remembered is damaged, so nothing is given out");
    return kept.report;
  }

  // The reports on all questions of a questionnaire, {question: report}, null where a question was not asked; every
  // answer is looked up before any report is drawn.
  async reports(answers, questionnaire) {
    const record = questionnaire.record(answers);
    const found = new Map();
    for (const [name, mechanism] of questionnaire.parts) {
      found.set(name, await this.report(name, record[name], mechanism));
    }
    const { joint } = questionnaire;
    if (joint !== null) {
      const own = joint.names.map((name) => record[name]);
      const together = await this.report(keyOfJoint(joint), own, joint);
      joint.names.forEach((name, i) => found.set(name, together[i]));
    }
    return inOrder(Object.keys(record), found);
  }

  // The same record again after a page was reloaded; undefined unless every report is stored.
  async storedReports(questionnaire) {
    const { joint, parts, questions } = questionnaire;
    const found = new Map();
    for (const [name, mechanism] of parts) found.set(name, await this.stored(name, mechanism));
    const together = joint === null ? [] : await this.stored(keyOfJoint(joint), joint);
    if (together === undefined || [...found.values()].includes(undefined)) return undefined;
    together.forEach((report, i) => found.set(joint.names[i], report));
    return inOrder(questions.map(({ name }) => name), found);
  }
}

// Under what the report on the questions that are asked jointly is remembered.
const keyOfJoint = (joint) => joint.names.join(" + ");

function keyOf(question) {
  refuseUnless(typeof question === "string" && question.trim() !== "", "a question needs a name");
  return `extremal report: ${question}`;
}
