// Every number that the explorer shows, and nothing else: no page, no randomness, no state.
//
// Each function has a twin in the Python package, named beside it; tests/explorer compares a thousand random states of
// both to 1e-9. Probabilities are doubles here and whole numbers over 2^62 there, which differ by less than 1e-15.

export const NORMAL_95 = 1.959963984540054; // the 97.5% quantile of a normal distribution
const ROUNDED_95 = 1.96; // as `ex.compare(…).respondents()` has it
const SLACK = 1e-9; // of exact limits, relative: see extremal.estimate.intervals.binomial
const MOST_BUCKETS = 2 ** 20; // of local hashing
const HASH_PRIME = 2 ** 21 - 9;
const MOST_PEOPLE = 1e10;
const LEAST_PEOPLE = 2;
const MOST_EPSILON = 50;
const LEAST_EPSILON = 1e-6;
const GRID = 33; // shares in each round of the search for the widest interval
const ROUNDS = 4;

// -- mechanisms for shares: a report counts the true answer with probability a, any other with b

/** ex.randomized_response */
export function response(k, epsilon) {
  const a = 1 / (1 + (k - 1) * Math.exp(-epsilon));
  return { name: "randomised response", a, b: (1 - a) / (k - 1) };
}

/** ex.subset_selection */
export function subsets(k, epsilon, size) {
  const a = size / (size + (k - size) * Math.exp(-epsilon));
  return { name: "subset selection", size, a, b: (size - a) / (k - 1) };
}

/** ex.unary_encoding */
export function unary(k, epsilon) {
  return { name: "unary encoding (OUE)", a: 0.5, b: 1 / (1 + Math.exp(epsilon)) };
}

/** ex.unary_encoding(…, symmetric): basic RAPPOR */
export function symmetricUnary(k, epsilon) {
  const b = 1 / (1 + Math.exp(epsilon / 2));
  return { name: "basic RAPPOR", a: 1 - b, b };
}

/** ex.local_hashing */
export function hashing(k, epsilon) {
  const g = Math.min(MOST_BUCKETS, halfEven(Math.exp(Math.min(epsilon, 20))) + 1);
  const a = 1 / (1 + (g - 1) * Math.exp(-epsilon));
  const fuller = HASH_PRIME % g;
  const small = Math.floor(HASH_PRIME / g);
  const collide = (fuller * (small + 1) ** 2 + (g - fuller) * small ** 2) / HASH_PRIME ** 2;
  return { name: "local hashing (OLH)", a, b: collide * a + ((1 - collide) * (1 - a)) / (g - 1) };
}

/** What `ex.plan` asks with: the size of sets whose widest interval is narrowest. */
export function best(k, epsilon) {
  let found = null;
  for (let d = 1; d < k; d++) {
    const one = subsets(k, epsilon, d);
    const t = Math.min(Math.max(0.5, one.b), one.a);
    const variance = (t * (1 - t)) / (one.a - one.b) ** 2;
    if (found === null || variance < found.variance) found = { ...one, variance };
  }
  return { ...found, name: "best mechanism" };
}

export const PLAIN = { name: "no privacy", a: 1, b: 0 };

export const SHARE_MECHANISMS = { best, response, unary, symmetricUnary, hashing };

/** The size of sets with the least total variance: extremal.closed_forms.set_systems.best_size_for_frequencies */
export function bestSize(k, epsilon) {
  const guess = k / (1 + Math.exp(Math.min(epsilon, 700)));
  const gain = (d) =>
    Math.log(d) + Math.log(k - d) + epsilon - 2 * (epsilon + Math.log(d + (k - d) * Math.exp(-epsilon)));
  const low = Math.min(Math.max(1, Math.floor(guess)), k - 1);
  const high = Math.min(Math.max(1, Math.ceil(guess)), k - 1);
  return gain(high) > gain(low) ? high : low;
}

// -- binomial probabilities (Loader's saddle-point form) and tails (continued fractions)

function stirlingError(n) {
  if (n < 16) {
    let factorial = 1;
    for (let i = 2; i <= n; i++) factorial *= i;
    return n === 0 ? 0 : Math.log(factorial) - (n + 0.5) * Math.log(n) + n - 0.5 * Math.log(2 * Math.PI);
  }
  const s = n * n;
  return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / s) / s) / s) / s) / n;
}

/** x·log(x/m) + m − x without cancellation. */
function deviance(x, m) {
  if (Math.abs(x - m) >= 0.1 * (x + m)) return x * Math.log(x / m) + m - x;
  const v = (x - m) / (x + m);
  let sum = (x - m) * v;
  let term = 2 * x * v;
  for (let j = 1; ; j++) {
    term *= v * v;
    const next = sum + term / (2 * j + 1);
    if (next === sum) return sum;
    sum = next;
  }
}

function mass(x, n, t) {
  if (x < 0 || x > n) return 0;
  if (t <= 0) return x === 0 ? 1 : 0;
  if (t >= 1) return x === n ? 1 : 0;
  if (x === 0) return Math.exp(n * Math.log1p(-t));
  if (x === n) return Math.exp(n * Math.log(t));
  const logs =
    stirlingError(n) - stirlingError(x) - stirlingError(n - x) - deviance(x, n * t) - deviance(n - x, n * (1 - t));
  return Math.exp(logs) * Math.sqrt(n / (2 * Math.PI * x * (n - x)));
}

/** The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
function fraction(a, b, t) {
  const tiny = 1e-300;
  let c = 1;
  let d = 1 - ((a + b) * t) / (a + 1);
  d = 1 / (Math.abs(d) < tiny ? tiny : d);
  let result = d;
  for (let m = 1; m < 100000; m++) {
    for (const even of [true, false]) {
      const number = even
        ? (m * (b - m) * t) / ((a + 2 * m - 1) * (a + 2 * m))
        : (-(a + m) * (a + b + m) * t) / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 + number * d;
      d = 1 / (Math.abs(d) < tiny ? tiny : d);
      c = 1 + number / c;
      if (Math.abs(c) < tiny) c = tiny;
      result *= d * c;
    }
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return result;
}

/** P(X ≥ x) for X ~ Bin(n, t). */
export function atLeast(x, n, t) {
  if (x <= 0) return 1;
  if (x > n) return 0;
  if (t <= 0) return 0;
  if (t >= 1) return 1;
  if (t < (x + 1) / (n + 3)) return mass(x, n, t) * (1 - t) * fraction(x, n - x + 1, t);
  return 1 - mass(x - 1, n, t) * t * fraction(n - x + 1, x, 1 - t);
}

/** P(X ≤ x). */
export function atMost(x, n, t) {
  if (x < 0) return 0;
  if (x >= n) return 1;
  if (t <= 0) return 1;
  if (t >= 1) return 0;
  if (1 - t < (n - x + 1) / (n + 3)) return mass(x, n, t) * t * fraction(n - x, x + 1, 1 - t);
  return 1 - mass(x + 1, n, t) * (1 - t) * fraction(x + 1, n - x, t);
}

const rising = (x, n, t) => (x / t) * mass(x, n, t); // of P(X ≥ x) in t
const falling = (x, n, t) => (x < 0 || x >= n ? 0 : (-(n - x) / (1 - t)) * mass(x, n, t)); // of P(X ≤ x)

/** Where a function rises through 0 between two ends; Newton's steps, and halving where they leave the bracket. */
function root(value, slope, low, high) {
  let t = high;
  for (let step = 0; step < 200; step++) {
    const f = value(t);
    if (f > 0) high = t;
    else low = t;
    if (high - low <= 1e-15 * high) break;
    const next = t - f / slope(t);
    const inside = next > low && next < high;
    const to = inside ? next : (low + high) / 2;
    if (inside && Math.abs(to - t) <= 1e-15 * t) break;
    t = to;
  }
  return t;
}

// -- exact limits: Blaker's (extremal.estimate.intervals.binomial)

/** The largest c < x with P(X ≤ c) ≤ tail; −1 if none. */
function below(tail, x, n, t) {
  const spread = Math.sqrt(n * t * (1 - t));
  let c = Math.min(Math.max(Math.floor(n * t - 2 * spread), -1), x - 1);
  let sum = atMost(c, n, t);
  while (c >= 0 && sum > tail) {
    c--;
    sum = atMost(c, n, t);
  }
  let exact = true;
  while (c < x - 1) {
    const next = exact ? sum + mass(c + 1, n, t) : atMost(c + 1, n, t);
    if (Math.abs(next - tail) < 1e-6 * tail) exact = false; // near a tie a sum of sums is not good enough
    if ((exact ? next : atMost(c + 1, n, t)) > tail) break;
    c++;
    sum = exact ? next : atMost(c, n, t);
  }
  return c;
}

/** The lower limit of a share after x of n. */
function lower(x, n, level) {
  if (x <= 0) return 0;
  const wanted = (1 - level) * (1 - SLACK);
  const start = root((t) => atLeast(x, n, t) - wanted / 2, (t) => rising(x, n, t), 0, x / n);
  const c = below((wanted / 2) * (1 + 2 * SLACK), x, n, start);
  const meet = (t) => atLeast(x, n, t) * (1 + SLACK) - atMost(c + 1, n, t);
  const meetSlope = (t) => rising(x, n, t) * (1 + SLACK) - falling(c + 1, n, t);
  const end = meet(x / n) > 0 ? root(meet, meetSlope, start, x / n) : x / n;
  const sum = (t) => atLeast(x, n, t) + atMost(c, n, t) - wanted;
  if (!(sum(end) > 0)) return Math.min(end, x / n);
  const found = root(sum, (t) => rising(x, n, t) + falling(c, n, t), start, end);
  return Math.min(found, x / n);
}

/** Limits of a share of which a count Bin(n, b + (a − b)p) is seen: `mapped_limits`. `known` remembers limits. */
export function limits(count, n, level, { a, b }, known = new Map()) {
  const at = (x) => {
    if (!known.has(x)) known.set(x, lower(x, n, level));
    return known.get(x);
  };
  const low = at(Math.min(count, Math.floor(n * a)));
  const high = 1 - at(n - Math.max(count, Math.ceil(n * b)));
  const cut = (t) => Math.min(Math.max((t - b) / (a - b), 0), 1);
  return [cut(low), cut(high)];
}

export function halfEven(value) {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

// -- plans: ex.plan(…), at the worst shares

/** Half of the widest interval of n reports, whatever the shares are: ex.plan(m, n=n).half_width */
export function halfWidth({ a, b }, n, level) {
  const known = new Map();
  const width = (t) => {
    const [low, high] = limits(halfEven(n * (b + (a - b) * t)), n, level, { a, b }, known);
    return (high - low) / 2;
  };
  if (a === 1 && b === 0) return widestPlain(width);
  let [low, high] = [0, 1];
  let widest = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const step = (high - low) / (GRID - 1);
    let place = 0;
    widest = -1;
    for (let i = 0; i < GRID; i++) {
      const found = width(low + (high - low) * (i / (GRID - 1)));
      if (found > widest) [widest, place] = [found, i];
    }
    const middle = low + step * place;
    [low, high] = [Math.max(0, middle - step), Math.min(1, middle + step)];
  }
  return widest;
}

function widestPlain(width) {
  let widest = 0;
  for (let i = 0; i < 2 * GRID - 1; i++) widest = Math.max(widest, width(i / (2 * GRID - 2)));
  return widest;
}

/** The smallest number of people for a half-width: ex.plan(m, half_width=h).n; null beyond 10^10. */
export function people(mechanism, wanted, level, guess = 1000) {
  const holds = (n) => halfWidth(mechanism, n, level) <= wanted;
  for (let i = 0; i < 2; i++) {
    const scaled = guess * (halfWidth(mechanism, guess, level) / wanted) ** 2;
    guess = Math.max(LEAST_PEOPLE, Math.min(Math.ceil(scaled), MOST_PEOPLE));
  }
  return smallestCount(holds, guess);
}

/** extremal.studies.planning.search.smallest_count */
function smallestCount(holds, guess) {
  const least = LEAST_PEOPLE;
  if (holds(least)) return least;
  const start = Math.min(Math.max(guess, least + 1), MOST_PEOPLE);
  let step = Math.max(1, Math.floor(start / 64));
  let low, high;
  if (holds(start)) {
    high = start;
    low = Math.max(least, high - step);
    while (holds(low)) {
      step *= 2;
      [low, high] = [Math.max(least, low - step), low];
    }
  } else {
    [low, high] = [start, Math.min(start + step, MOST_PEOPLE)];
    while (!holds(high)) {
      if (high === MOST_PEOPLE) return null;
      step *= 2;
      [low, high] = [high, Math.min(high + step, MOST_PEOPLE)];
    }
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** The smallest ε of four digits with which n people reach a half-width: ex.plan(k=k, n=n, half_width=h).epsilon */
export function epsilonFor(k, n, wanted, level) {
  const holds = (epsilon) => halfWidth(best(k, epsilon), n, level) <= wanted;
  let [low, high] = [1, 1];
  if (holds(high)) {
    while (holds(low)) {
      if (low <= LEAST_EPSILON) return low;
      [low, high] = [Math.max(LEAST_EPSILON, fourDigits(low / 2)), low];
    }
  } else {
    while (!holds(high)) {
      if (high >= MOST_EPSILON) return null;
      [low, high] = [high, Math.min(MOST_EPSILON, fourDigits(high * 2))];
    }
  }
  for (;;) {
    const middle = fourDigits((low + high) / 2);
    if (middle === low || middle === high) return high;
    if (holds(middle)) high = middle;
    else low = middle;
  }
}

/** Up to four significant digits, without the dust of doubles. */
function fourDigits(value) {
  const clean = Number(value.toPrecision(12));
  const power = Math.floor(Math.log10(clean)) - 3;
  const units = Math.ceil(Number((clean / 10 ** power).toPrecision(12)));
  return Number(`${units}e${power}`);
}

/** ex.plan(k=k, …) for each mechanism in use and without privacy. */
export function costs({ k, epsilon, n, level }) {
  const rows = Object.entries(SHARE_MECHANISMS).map(([key, make]) => ({ key, ...make(k, epsilon) }));
  rows.push({ key: "plain", ...PLAIN });
  return rows.map((row) => ({ ...row, halfWidth: halfWidth(row, n, level) }));
}

// -- means: from the table of n × mean squared errors that the package computed (table.js)

/** Half-width of a mean from n × its mean squared error: extremal.optimize.workload.notes.half_width */
export function meanHalfWidth(value, n) {
  return ROUNDED_95 * Math.sqrt(value / n);
}

/** The same inverted: the people for a half-width. */
export function meanPeople(value, wanted) {
  return Math.max(1, Math.ceil((ROUNDED_95 / wanted) ** 2 * value - 1e-6));
}

/** n × the variance of the mean of plain answers 0..k−1, equally likely: ex.Mean(range(k)) of the answers themselves. */
export function plainMeanCost(k) {
  return (k * k - 1) / 12;
}

// -- one report: ex.Mechanism.matrix, .explain()

/** Rows of probabilities of each report given each answer, and what the reports are. */
export function table(kind, k, epsilon) {
  const answers = [...Array(k).keys()];
  if (kind === "geometric") return { reports: answers.map((y) => [y]), matrix: geometric(k, epsilon) };
  const size = kind === "subsets" ? bestSize(k, epsilon) : 1;
  const reports = combinations(k, size);
  const low = 1 / (binomial(k - 1, size - 1) * Math.exp(epsilon) + binomial(k - 1, size));
  const high = low * Math.exp(epsilon);
  return { reports, matrix: answers.map((x) => reports.map((held) => (held.includes(x) ? high : low))) };
}

/** ex.geometric */
function geometric(k, epsilon) {
  const rate = epsilon / (k - 1);
  const scale = Math.tanh(rate / 2);
  const end = 1 / (1 + Math.exp(-rate));
  return [...Array(k).keys()].map((x) =>
    [...Array(k).keys()].map((y) => {
      if (y === 0) return end * Math.exp(-rate * x);
      if (y === k - 1) return end * Math.exp(-rate * (k - 1 - x));
      return scale * Math.exp(-rate * Math.abs(x - y));
    }),
  );
}

/** All sets of so many of 0..k−1, in order. */
export function combinations(k, size) {
  const found = [];
  const grow = (held, next) => {
    if (held.length === size) found.push(held);
    else for (let x = next; x < k; x++) grow([...held, x], x + 1);
  };
  grow([], 0);
  return found;
}

function binomial(n, d) {
  let value = 1;
  for (let i = 1; i <= d; i++) value = (value * (n - d + i)) / i;
  return Math.round(value);
}

/** What someone believes after report y: prior(x)·Q(y|x), over its sum. */
export function posterior(prior, matrix, y) {
  const joint = prior.map((p, x) => p * matrix[x][y]);
  const sum = joint.reduce((total, p) => total + p, 0);
  return joint.map((p) => p / sum);
}

/** The least and the most that someone can come to believe whose ratio is at most e^ε: Belief of `m.explain(prior)`. */
export function beliefs(before, epsilon) {
  return {
    least: before / (before + (1 - before) * Math.exp(epsilon)),
    most: before / (before + (1 - before) * Math.exp(-epsilon)),
  };
}

// -- be the respondent: ex.estimate_frequencies(counts, m)

/** Unbiased shares and exact intervals. */
export function estimate(counts, epsilon, level) {
  const k = counts.length;
  const n = counts.reduce((total, c) => total + c, 0);
  const mechanism = response(k, epsilon);
  const { a, b } = mechanism;
  const unbiased = counts.map((c) => (c / n - b) / (a - b));
  const known = new Map();
  return { unbiased, intervals: counts.map((c) => limits(c, n, level, mechanism, known)) };
}

// -- several questions: ex.Questionnaire.within(ε, {…}, strategy).summary()

/** n × the mean variance of a share: extremal.questionnaire.questions.total_variance / k */
export function shareVariance(k, epsilon) {
  const d = bestSize(k, epsilon);
  return ((k - 1) ** 2 * (k / Math.expm1(epsilon) + d) ** 2) / (k * d * (k - d)) / k;
}

/** Variances of the three ways to ask J questions with k answers each within one budget. */
export function strategies(questions, k, epsilon) {
  const split = { name: "split", asked: questions, variance: shareVariance(k, epsilon / questions) };
  let sample = null;
  for (let s = 1; s <= questions; s++) {
    const variance = (shareVariance(k, epsilon / s) * questions) / s;
    if (sample === null || variance < sample.variance * (1 - 1e-12)) sample = { name: "sample", asked: s, variance };
  }
  return [jointly(questions, k, epsilon), sample, split];
}

/** The best block under one coin: sizes of sets for some of the questions, all arrangements equally often. */
function jointly(questions, k, epsilon) {
  const c = Math.expm1(epsilon);
  let found = { told: 0, asked: 0 };
  const grow = (sizes, least) => {
    if (sizes.length) {
      const odds = sizes.reduce((product, d) => (product * k) / d, 1);
      const worth = sizes.reduce((sum, d) => sum + (k / d - 1) / (k - 1), 0);
      const told = ((c / (c + odds)) ** 2 * worth) / questions;
      if (told > found.told) found = { told, asked: sizes.length };
    }
    if (sizes.length < questions)
      for (let d = least; d <= Math.max(1, Math.floor(k / 2)); d++) grow([...sizes, d], d);
  };
  grow([], 1);
  return { name: "joint", asked: found.asked, variance: (1 - 1 / k) / k / found.told };
}

/** Half-width of a 95% interval from n × a variance, as a questionnaire prints it, and the people for one. */
export function normalHalfWidth(variance, n) {
  return NORMAL_95 * Math.sqrt(variance / n);
}

export function normalPeople(variance, wanted) {
  return Math.ceil((NORMAL_95 / wanted) ** 2 * variance);
}

// -- what can go wrong

/** Where the honest estimate can lie when a share of the reports is made up: ex.estimate_frequencies(…).poisoning */
export function poisoning(observed, fake, { a, b }) {
  return [(1 - b) / (a - b), -b / (a - b)].map((moved) => (observed - fake * moved) / (1 - fake));
}

/** Level of all reports of a person who is asked again, each time at random anew: levels add up. */
export function askedAgain(epsilon, times, before) {
  return { epsilon: epsilon * times, ...beliefs(before, epsilon * times) };
}

/** ex.PML(…, prior).level of randomised response: what leaks when the shares are these. */
export function leakage(prior, epsilon) {
  const { a, b } = response(prior.length, epsilon);
  return Math.max(...prior.map((p) => Math.log(a / (b + (a - b) * p))));
}
