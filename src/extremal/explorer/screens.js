// The six screens. Each has its own state (defaults and what may be typed), controls, a result, and the same in Python.

import { TABLE } from "./table.js";
import * as N from "./numbers.js";
import { mechanismFile } from "./files.js";
import { COLOURS, answer, bars, choice, even, make, note, number, percent, plain, points, strong, whole } from "./elements.js";

const EPSILON = { min: 0.05, max: 10, step: 0.1, low: 0.1, high: 8 };
const PEOPLE = { min: 10, max: 1e6, step: 1, low: 50, high: 1e5 };
const ANSWERS = { min: 2, max: 100, step: 1, low: 2, high: 24 };
const NAMES = ["A", "B", "C", "D", "E", "F", "G", "H"];
const MEAN_NAMES = {
  best: "best mechanism",
  rounding: "stochastic rounding",
  piecewise: "piecewise",
  geometric: "geometric noise",
  response: "randomised response",
};

// -- what does ε cost?

const cost = {
  title: "What does ε cost?",
  lead: "Local privacy costs precision, or people. Describe your survey to see how much of each.",
  state: { people: 2000, epsilon: 1, answers: 4, goal: "shares", margin: 3, level: "0.95" },
  within: { people: PEOPLE, epsilon: EPSILON, answers: ANSWERS, margin: { min: 0.2, max: 45 } },
  /** Choices that do not exist become the default; a mean is of 3 to 11 values, at a level of the table. */
  settle(s) {
    const goal = s.goal === "mean" ? "mean" : "shares";
    if (goal === "shares") return { ...s, goal, level: ["0.9", "0.99"].includes(s.level) ? s.level : "0.95" };
    return { ...s, goal, level: "0.95", answers: Math.min(Math.max(s.answers, 3), 11), epsilon: nearest(s.epsilon) };
  },
  controls(s, set) {
    const scale = s.goal === "mean";
    return [
      choice("What do you want to know?", s.goal, { shares: "the share of each answer", mean: "the mean of a rating" }, (goal) => set({ goal })),
      number("People", s.people, PEOPLE, (people) => set({ people })),
      number("Privacy ε", s.epsilon, { ...EPSILON, hint: scale ? "Means are tabulated at 21 levels of ε; the nearest one is shown." : `No report is more than ${plain(Math.exp(s.epsilon))} times as likely under one answer as under another.` }, (epsilon) =>
        set({ epsilon: scale ? nearest(epsilon, s.epsilon) : epsilon })),
      number("Answers", s.answers, scale ? { min: 3, max: 11, step: 1, low: 3, high: 11 } : ANSWERS, (answers) => set({ answers })),
      number(scale ? "I need ± this % of the scale" : "I need ± this many points", s.margin, { min: 0.2, max: 45, step: 0.5, low: 0.5, high: 20 }, (margin) => set({ margin })),
      choice("Confidence", s.level, scale ? { "0.95": "95%" } : { "0.9": "90%", "0.95": "95%", "0.99": "99%" }, (level) => set({ level })),
    ];
  },
  result(s, later) {
    return s.goal === "mean" ? meanCosts(s) : shareCosts(s, later);
  },
  python(s) {
    if (s.goal === "mean")
      return `import extremal as ex

d = ex.design(ex.LDP("${s.epsilon}"), ex.Mean(range(${s.answers})))
print(d.summary())
print(ex.compare(ex.Mean(range(${s.answers})), epsilon="${s.epsilon}").respondents())`;
    return `import extremal as ex

print(ex.plan(k=${s.answers}, epsilon="${s.epsilon}", n=${s.people}, level=${s.level}))             # how precise?
print(ex.plan(k=${s.answers}, epsilon="${s.epsilon}", half_width=${fixed(s.margin / 100)}, level=${s.level}))    # how many people?
# print(ex.plan(k=${s.answers}, n=${s.people}, half_width=${fixed(s.margin / 100)}, level=${s.level}))   # how private can it be?
print(ex.plan(ex.randomized_response(${s.answers}, "${s.epsilon}"), n=${s.people}, level=${s.level}))  # one in use`;
  },
  downloads(s) {
    if (s.goal === "mean") return [];
    const k = s.answers;
    return [
      { text: "the best mechanism", kind: "subsets", k, parameter: N.best(k, s.epsilon).size },
      { text: "randomised response", kind: "response", k },
      { text: "unary encoding (OUE)", kind: "unary", k },
      { text: "basic RAPPOR", kind: "symmetricUnary", k },
      { text: "local hashing (OLH)", kind: "hashing", k, parameter: N.halfEven(Math.exp(Math.min(s.epsilon, 7))) + 1 },
    ];
  },
};

const fixed = (value) => String(Number(value.toPrecision(6)));

/** The level of the table that is nearest, or the next one in the direction of a step. */
function nearest(epsilon, from = epsilon) {
  const levels = TABLE.means.epsilons.map(Number);
  const found = levels.reduce((a, b) => (Math.abs(b - epsilon) < Math.abs(a - epsilon) ? b : a));
  if (found !== from || epsilon === from) return found;
  return levels[Math.min(Math.max(levels.indexOf(from) + Math.sign(epsilon - from), 0), levels.length - 1)];
}

function shareCosts(s, later) {
  const rows = N.costs({ k: s.answers, epsilon: s.epsilon, n: s.people, level: Number(s.level) });
  const wanted = s.margin / 100;
  const found = rows[0].halfWidth;
  const size = rows[0].size === 1 ? "randomised response" : `subset selection, sets of ${rows[0].size}`;
  const cells = rows.map((row) => {
    const cell = make("span", { class: "waiting" }, "…");
    later(() => cell.replaceChildren(whole(N.people(row, wanted, Number(s.level)))), cell);
    return cell;
  });
  const solved = make("span", { class: "waiting" }, "…");
  later(() => {
    const epsilon = N.epsilonFor(s.answers, s.people, wanted, Number(s.level));
    solved.replaceChildren(
      epsilon === null
        ? `${whole(s.people)} people cannot reach ±${plain(s.margin)} points even without privacy.`
        : `To reach ±${plain(s.margin)} points with ${whole(s.people)} people you need ε = ${plain(epsilon, 4)} or more.`,
    );
  }, solved);
  return [
    answer(
      `With ${whole(s.people)} people and ε = ${plain(s.epsilon)}, every share is known to within `,
      strong(`${points(found)} points`), ` (without privacy ${points(rows.at(-1).halfWidth)}).`,
    ),
    make("p", { class: "second" }, solved),
    bars(
      `Half-width of the widest ${percent(Number(s.level))} interval, in points, whatever the shares are`,
      ["mechanism", `± with ${whole(s.people)} people`, `people for ±${plain(s.margin)}`],
      rows.map((row, i) => ({
        name: row.key === "best" ? `best mechanism (${size})` : row.name,
        length: row.halfWidth, text: points(row.halfWidth), colour: COLOURS[row.key], more: [cells[i]], strong: row.key === "best",
      })),
    ),
    note("Exact intervals, as ex.estimate_frequencies reports them; ex.plan gives the same numbers."),
  ];
}

function meanCosts(s) {
  const [row, column] = [TABLE.means.answers.indexOf(s.answers), TABLE.means.epsilons.map(Number).indexOf(s.epsilon)];
  const costs = Object.entries(MEAN_NAMES).map(([key, name]) => ({ key, name, value: TABLE.means.costs[key][row][column] }));
  costs.push({ key: "plain", name: "no privacy", value: N.plainMeanCost(s.answers) });
  const wanted = ((s.answers - 1) * s.margin) / 100;
  const enough = TABLE.means.epsilons.find((_, i) => N.meanHalfWidth(TABLE.means.costs.best[row][i], s.people) <= wanted);
  return [
    answer(
      `With ${whole(s.people)} people and ε = ${plain(s.epsilon)}, the mean of a rating from 0 to ${s.answers - 1} is known to within `,
      strong(`±${even(N.meanHalfWidth(costs[0].value, s.people))}`), ` (without privacy ±${even(N.meanHalfWidth(costs.at(-1).value, s.people))}).`,
    ),
    make("p", { class: "second" },
      enough === undefined
        ? `${whole(s.people)} people cannot reach ±${plain(wanted)} at any tabulated level (up to ε = ${TABLE.means.epsilons.at(-1)}).`
        : `To reach ±${plain(wanted)} with ${whole(s.people)} people you need ε = ${enough} (the smallest of the tabulated levels that does).`),
    bars(
      "Half-width of the 95% interval of the mean, at equal shares",
      ["mechanism", `± with ${whole(s.people)} people`, `people for ±${plain(wanted)}`],
      costs.map((one) => {
        const half = N.meanHalfWidth(one.value, s.people);
        return { name: one.name, length: half, text: `±${even(half)}`, colour: COLOURS[one.key], more: [whole(N.meanPeople(one.value, wanted))], strong: one.key === "best" };
      }),
    ),
    note("Normal approximation from n × mean squared error, as ex.compare(…).respondents() prints it; the package computed the errors in advance."),
  ];
}

// -- one report

const report = {
  title: "One report",
  lead: "What does someone learn from a single report? Choose what they believed before, then click a cell.",
  state: { epsilon: 1, answers: 3, kind: "response", prior: "", true: 0, seen: 0 },
  within: { epsilon: EPSILON, answers: { min: 2, max: 6, step: 1 }, true: { min: 0, max: 5, step: 1 }, seen: { min: 0, max: 19, step: 1 } },
  settle: (s) => ({ ...s, kind: ["subsets", "geometric"].includes(s.kind) ? s.kind : "response" }),
  controls(s, set) {
    const prior = priorOf(s.prior, s.answers);
    return [
      choice("Mechanism", s.kind, { response: "randomised response", subsets: "subset selection", geometric: "geometric noise (ordered answers)" }, (kind) => set({ kind, seen: 0 })),
      number("Privacy ε", s.epsilon, EPSILON, (epsilon) => set({ epsilon })),
      number("Answers", s.answers, { min: 2, max: 6, step: 1, low: 2, high: 6 }, (answers) => set({ answers, prior: "", true: 0, seen: 0 })),
      make("fieldset", {}, make("legend", {}, "Belief before the report"),
        prior.map((p, x) => number(NAMES[x], Math.round(1000 * p) / 10, { min: 0.1, max: 99.9, step: 1, low: 1, high: 99, unit: "%" }, (value) =>
          set({ prior: moved(prior, x, value / 100) })))),
    ];
  },
  result(s, _later, set) {
    const prior = priorOf(s.prior, s.answers);
    const { reports, matrix } = N.table(s.kind, s.answers, s.epsilon);
    const y = Math.min(s.seen, reports.length - 1);
    const x = Math.min(s.true, s.answers - 1);
    const after = N.posterior(prior, matrix, y);
    const { least, most } = N.beliefs(prior[x], s.epsilon);
    const said = reports.map((held) => held.map((one) => NAMES[one]).join(""));
    return [
      answer(
        `A person whose answer is ${NAMES[x]} reports ${said[y]} with probability `, strong(percent(matrix[x][y])),
        `. Someone who was ${percent(prior[x])} sure of ${NAMES[x]} and sees the report ${said[y]} becomes `, strong(`${percent(after[x])} sure`), `. At ε = ${plain(s.epsilon)} no report can take them below ${percent(least)} or above ${percent(most)}.`,
      ),
      bars(`Belief after the report ${said[y]}; the line marks the belief before it`, ["answer", "after", "before"],
        prior.map((p, i) => ({ name: NAMES[i], length: after[i], mark: p, text: percent(after[i]), colour: COLOURS.best, more: [percent(p)], strong: i === x })), 1),
      heat(matrix, said, x, y, (answerOf, seen) => set({ true: answerOf, seen })),
      note("Rows are true answers, columns are reports; stronger colour means more likely. Arrow keys move between cells."),
    ];
  },
  python(s) {
    const given = priorOf(s.prior, s.answers).map((p) => Number(p.toPrecision(12)));
    const prior = new Set(given).size === 1 ? `[1 / ${s.answers}] * ${s.answers}` : `[${given.join(", ")}]`;
    const call = { response: "randomized_response", subsets: "subset_selection", geometric: "geometric" }[s.kind];
    return `import extremal as ex

m = ex.${call}(${s.answers}, "${s.epsilon}")
print(m.matrix.round(4))
print(m.explain(prior=${prior}))`;
  },
  downloads(s) {
    const k = s.answers;
    if (s.kind === "response") return [{ text: "this mechanism", kind: "response", k }];
    return s.kind === "subsets" ? [{ text: "this mechanism", kind: "subsets", k, parameter: N.bestSize(k, s.epsilon) }] : [];
  },
};

/** Weights such as "30.20.50" as probabilities; equal ones when there are none, or not as many as answers. */
function priorOf(text, k) {
  const weights = String(text).split("~").map(Number);
  const good = weights.length === k && weights.every((w) => w > 0 && w <= 1);
  const used = good ? weights : Array(k).fill(1 / k);
  const sum = used.reduce((a, b) => a + b, 0);
  return used.map((w) => w / sum);
}

/** One probability is changed, and the others keep their proportions. */
function moved(prior, place, value) {
  const rest = 1 - prior[place];
  return prior.map((p, i) => fixed(i === place ? value : (p * (1 - value)) / rest)).join("~");
}

const MANY_REPORTS = 8; // more than that fit only in smaller cells

function heat(matrix, said, x, y, pick) {
  const most = Math.max(...matrix.flat());
  const cell = (row, column) => {
    const chance = matrix[row][column];
    const chosen = row === x && column === y;
    const made = make("button", {
      type: "button", "aria-pressed": String(chosen), tabindex: chosen ? "0" : "-1",
      "aria-label": `answer ${NAMES[row]}, report ${said[column]}: ${percent(chance)}`,
      click: () => pick(row, column),
      keydown: (event) => {
        const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        pick((row + step[0] + matrix.length) % matrix.length, (column + step[1] + said.length) % said.length);
      },
    }, percent(chance));
    made.dataset.cell = `${row},${column}`;
    const share = chance / most;
    made.style.background = `rgba(27, 108, 168, ${(0.06 + 0.6 * share).toFixed(3)})`; // the text stays readable on all of them
    return make("td", {}, made);
  };
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "probability of each report" },
    make("table", { class: said.length > MANY_REPORTS ? "heat small" : "heat" },
      make("caption", {}, "Probability of each report"),
      make("thead", {}, make("tr", {}, make("td", { class: "corner" }, "answer ↓", make("br"), "report →"), said.map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, matrix.map((row, i) => make("tr", {}, make("th", { scope: "row" }, NAMES[i]), row.map((_, j) => cell(i, j)))))));
}

// -- be the respondent

const TRUTH = [0.5, 0.3, 0.2]; // of the hundred others; the page shows it when asked
const OPTIONS = ["never", "sometimes", "often"];
const AT_A_TIME = 4; // reports that arrive in one step of a hundred
const STEP = 80; // milliseconds between steps

const respond = {
  title: "Be the respondent",
  lead: "Choose your answer and send it: only a randomised report leaves. Then watch the reports of a hundred others become an estimate.",
  state: { epsilon: 1, choice: 0, mine: "", counts: "0~0~0", reveal: "no" },
  within: { epsilon: EPSILON, choice: { min: 0, max: 2, step: 1 } },
  controls(s, set) {
    const counts = countsOf(s.counts);
    const send = () => {
      const report_ = drawn(s.choice, s.epsilon);
      set({ mine: `${s.choice}~${report_}`, counts: added(counts, report_) });
    };
    const radio = (text, x) => {
      const field = make("input", { type: "radio", name: "choice", value: x, checked: x === s.choice, change: () => set({ choice: x }) });
      field.dataset.name = text;
      return make("label", { class: "option" }, field, text);
    };
    return [
      number("Privacy ε", s.epsilon, { ...EPSILON, hint: "Changing ε starts again: reports of two mechanisms cannot be added up." }, (epsilon) => set({ epsilon, counts: "0~0~0", mine: "" })),
      make("fieldset", {}, make("legend", {}, "Have you cheated in an exam?"), OPTIONS.map(radio),
        make("button", { type: "button", click: send }, "Send a randomised report")),
      make("div", { class: "options" },
        make("button", { type: "button", click: () => arrive(counts, s.epsilon, 100, set) }, "A hundred others answer"),
        make("button", { type: "button", click: () => set({ reveal: s.reveal === "yes" ? "no" : "yes" }), "aria-pressed": String(s.reveal === "yes") }, "Show the truth"),
        make("button", { type: "button", click: () => set({ counts: "0~0~0", mine: "" }) }, "Start again")),
    ];
  },
  result(s) {
    const counts = countsOf(s.counts);
    const n = counts.reduce((a, b) => a + b, 0);
    const [mine, sent] = String(s.mine).split("~").map(Number);
    const told = String(s.mine).includes("~") && OPTIONS[mine] && OPTIONS[sent]
      ? answer(`You chose “${OPTIONS[mine]}”; the report says `, strong(`“${OPTIONS[sent]}”`),
        `. That happens with probability ${percent(N.response(3, s.epsilon)[mine === sent ? "a" : "b"])}, so nobody can tell from the report what you chose.`)
      : answer("Choose an answer and send it. Your browser draws the report at random; only the report is kept.");
    if (n < 2) return [told, note("An estimate needs at least two reports. Nothing is sent anywhere: this page has no server.")];
    const found = N.estimate(counts, s.epsilon, 0.95);
    const shown = s.reveal === "yes";
    return [
      told,
      bars(`Estimated shares from ${whole(n)} reports, with 95% intervals${shown ? "; the line marks the truth" : ""}`,
        ["answer", "estimated share", "95% interval", "reports", ...(shown ? ["truth"] : [])],
        OPTIONS.map((name, x) => ({
          name, length: found.unbiased[x], range: found.intervals[x], mark: shown ? TRUTH[x] : undefined, text: percent(found.unbiased[x]), colour: COLOURS.response,
          more: [`${percent(found.intervals[x][0])} to ${percent(found.intervals[x][1])}`, whole(counts[x]), ...(shown ? [percent(TRUTH[x])] : [])],
        })), 1),
      note("The intervals are exact. The estimates are unbiased, so with few reports one can fall below 0% or above 100%. The truth is that of the others, without you."),
    ];
  },
  python(s) {
    const counts = countsOf(s.counts);
    return `import extremal as ex

m = ex.randomized_response(["never", "sometimes", "often"], "${s.epsilon}")
m.privatize("sometimes")                              # a report, drawn with the system's randomness
reports = ["never"] * ${counts[0]} + ["sometimes"] * ${counts[1]} + ["often"] * ${counts[2]}
${counts.reduce((a, b) => a + b, 0) > 1 ? "print(ex.estimate_frequencies(reports, m).summary())" : "# print(ex.estimate_frequencies(reports, m).summary())"}`;
  },
  downloads: () => [{ text: "this mechanism", kind: "response", k: 3 }],
};

function countsOf(text) {
  const counts = String(text).split("~").map(Number);
  return counts.length === 3 && counts.every((c) => Number.isInteger(c) && c >= 0 && c <= 1e6) ? counts : [0, 0, 0];
}

/** A whole number below 2^32, uniformly random, as a share of 2^32. */
function uniform() {
  return globalThis.crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32;
}

/** The report on answer x: the answer with probability a, else one of the others. A demonstration, 32 bits fine. */
function drawn(x, epsilon) {
  const { a, b } = N.response(3, epsilon);
  const u = uniform();
  const others = [0, 1, 2].filter((y) => y !== x);
  return u < a ? x : others[u < a + b ? 0 : 1];
}

function added(counts, report_) {
  return counts.map((c, y) => c + (y === report_ ? 1 : 0)).join("~");
}

/** Reports of so many others arrive a few at a time, or at once where motion is not wanted. `set` knows when to stop. */
function arrive(counts, epsilon, left, set) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const now = still ? left : Math.min(AT_A_TIME, left);
  const next = [...counts];
  for (let i = 0; i < now; i++) {
    const u = uniform();
    next[drawn(u < TRUTH[0] ? 0 : u < TRUTH[0] + TRUTH[1] ? 1 : 2, epsilon)] += 1;
  }
  set({ counts: next.join("~") });
  if (left > now) set.later(() => arrive(next, epsilon, left - now, set), STEP);
}

// -- several questions

const several = {
  title: "Several questions",
  lead: "Six questions at ε = 1 each cost a respondent ε = 6 in total. Here are three ways to spend one budget on all of them.",
  state: { questions: 6, answers: 2, epsilon: 4, people: 1200, margin: 5 },
  within: { questions: { min: 2, max: 8, step: 1 }, answers: { min: 2, max: 6, step: 1 }, epsilon: EPSILON, people: PEOPLE, margin: { min: 0.2, max: 45 } },
  controls(s, set) {
    return [
      number("Questions", s.questions, { min: 2, max: 8, step: 1, low: 2, high: 8 }, (questions) => set({ questions })),
      number("Answers to each", s.answers, { min: 2, max: 6, step: 1, low: 2, high: 6 }, (answers) => set({ answers })),
      number("ε for one person, all questions", s.epsilon, EPSILON, (epsilon) => set({ epsilon })),
      number("People", s.people, PEOPLE, (people) => set({ people })),
      number("I need ± this many points", s.margin, { min: 0.2, max: 45, step: 0.5, low: 0.5, high: 20 }, (margin) => set({ margin })),
    ];
  },
  result(s) {
    const ways = N.strategies(s.questions, s.answers, s.epsilon);
    const words = {
      joint: (w) => `jointly: ${w.asked} of ${s.questions}, one coin for all`,
      sample: (w) => `at random: ${w.asked} of ${s.questions}, ε = ${plain(s.epsilon / w.asked)} each`,
      split: () => `split: all ${s.questions}, ε = ${plain(s.epsilon / s.questions)} each`,
    };
    const halves = ways.map((w) => N.normalHalfWidth(w.variance, s.people));
    return [
      answer(`Asked jointly, ${whole(s.people)} people give every share to within `, strong(`${points(halves[0])} points`),
        `. Splitting the budget gives ${points(halves[2])}, so it needs `, strong(`${even(ways[2].variance / ways[0].variance)} times`), " as many people for the same precision."),
      bars("Half-width of a 95% interval of a share, in points, at equal shares", ["way to ask", `± with ${whole(s.people)} people`, `people for ±${plain(s.margin)}`],
        ways.map((w, i) => ({ name: words[w.name](w), length: halves[i], text: points(halves[i]), colour: [COLOURS.best, COLOURS.sample, COLOURS.response][i], more: [whole(N.normalPeople(w.variance, s.margin / 100))], strong: i === 0 }))),
      note("Jointly: one coin decides whether a randomly chosen block of questions is answered truthfully or at random. In all three ways the whole questionnaire is ε-LDP. Normal approximation, as ex.Questionnaire prints it."),
    ];
  },
  python(s) {
    return `import extremal as ex

questions = {f"question {i}": ${s.answers} for i in range(1, ${s.questions + 1})}
print(ex.Questionnaire.within("${s.epsilon}", questions))`;
  },
  downloads: () => [],
};

// -- what can go wrong

const wrong = {
  title: "What can go wrong",
  lead: "Three things that no mechanism can prevent, and how much damage each does.",
  state: { epsilon: 1, answers: 4, fake: 1, share: 20, times: 5, before: 10, expected: 50, actual: 10 },
  within: {
    epsilon: EPSILON, answers: { min: 2, max: 24, step: 1 }, fake: { min: 0.01, max: 50 }, share: { min: 0, max: 100 },
    times: { min: 1, max: 365, step: 1 }, before: { min: 0.1, max: 99.9 }, expected: { min: 1, max: 99 }, actual: { min: 1, max: 99 },
  },
  controls(s, set) {
    const share = (label, name, low, high) => number(label, s[name], { min: this.within[name].min, max: this.within[name].max, step: 1, low, high, unit: "%" }, (value) => set({ [name]: value }));
    return [
      number("Privacy ε", s.epsilon, EPSILON, (epsilon) => set({ epsilon })),
      number("Answers", s.answers, { min: 2, max: 24, step: 1, low: 2, high: 24 }, (answers) => set({ answers })),
      make("fieldset", {}, make("legend", {}, "Fake reporters"), share("Fake reports", "fake", 0.1, 20), share("Estimated share", "share", 1, 99)),
      make("fieldset", {}, make("legend", {}, "Asked again"),
        number("Reports with fresh randomness", s.times, { min: 1, max: 365, step: 1, low: 1, high: 365 }, (times) => set({ times })), share("Belief before", "before", 1, 99)),
      make("fieldset", {}, make("legend", {}, "A wrong prior (two answers)"), share("Share that was assumed", "expected", 1, 99), share("Share that is true", "actual", 1, 99)),
    ];
  },
  result(s) {
    const mechanism = N.response(s.answers, s.epsilon);
    const [low, high] = N.poisoning(s.share / 100, s.fake / 100, mechanism);
    const again = N.askedAgain(s.epsilon, s.times, s.before / 100);
    const once = N.beliefs(s.before / 100, s.epsilon);
    const pair = (share) => N.leakage([share / 100, 1 - share / 100], s.epsilon);
    const within = (value) => Math.min(Math.max(value, 0), 1);
    return [
      make("section", { class: "card" }, make("h2", {}, "Fake reporters"),
        answer(`If ${plain(s.fake)}% of the reports are fake, an estimate of ${percent(s.share / 100)} is consistent with an honest share of `, strong(`${percent(within(low))} to ${percent(within(high))}`), "."),
        bars("Share that the estimate may stand for", ["", "estimate", "honest share"],
          [{ name: "this answer", length: s.share / 100, range: [within(low), within(high)], text: percent(s.share / 100), colour: COLOURS.response, more: [`${percent(within(low))} to ${percent(within(high))}`] }], 1),
        note(`Randomised response on ${s.answers} answers: one fake report moves the estimate as much as ${plain((1 - mechanism.b) / (mechanism.a - mechanism.b))} honest people would, and more at smaller ε. In Python: ex.estimate_frequencies(…).poisoning(${fixed(s.fake / 100)}).`)),
      make("section", { class: "card" }, make("h2", {}, "Asked again"),
        answer(`After ${whole(s.times)} report${s.times === 1 ? "" : "s"} with fresh randomness the guarantee is only `, strong(`ε = ${plain(again.epsilon)}`), `: someone who was ${percent(s.before / 100)} sure can become ${percent(again.most)} sure. If the first report is repeated instead, it stays at ${percent(once.most)}.`),
        bars("How sure someone can become of one answer", ["", "at most", "ε"], [
          { name: "before any report", length: s.before / 100, text: percent(s.before / 100), colour: COLOURS.plain, more: ["0"] },
          { name: "one report", length: once.most, text: percent(once.most), colour: COLOURS.response, more: [plain(s.epsilon)] },
          { name: `${whole(s.times)} fresh reports`, length: again.most, text: percent(again.most), colour: COLOURS.response, more: [plain(again.epsilon)] }], 1),
        note("ex.Memory and the browser script both remember the first report and repeat it.")),
      make("section", { class: "card" }, make("h2", {}, "A wrong prior"),
        answer(`Randomised response on two answers leaks at most ${plain(pair(s.expected), 4)} nats if ${plain(s.expected)}% answer yes. If in truth ${plain(s.actual)}% do, it leaks `, strong(`${plain(pair(s.actual), 4)} nats`), `, but never more than ε = ${plain(s.epsilon)}.`),
        bars("Pointwise maximal leakage, in nats", ["", "at most", "share of yes"], [
          { name: "assumed", length: pair(s.expected), text: plain(pair(s.expected), 4), colour: COLOURS.response, more: [`${plain(s.expected)}%`] },
          { name: "true", length: pair(s.actual), text: plain(pair(s.actual), 4), colour: COLOURS.response, more: [`${plain(s.actual)}%`] },
          { name: "ε-LDP, any share", length: s.epsilon, text: plain(s.epsilon), colour: COLOURS.plain, more: ["any"] }]),
        note("Pointwise maximal leakage depends on the prior; ε-LDP does not. In Python: ex.PML(epsilon, prior).level(mechanism, other_prior).")),
    ];
  },
  python(s) {
    return `import extremal as ex

m = ex.randomized_response(${s.answers}, "${s.epsilon}")
reports = m.privatize([0] * 200 + [1] * 800)
print(ex.estimate_frequencies(reports, m).poisoning(${fixed(s.fake / 100)}))     # low and high for each answer
two = ex.randomized_response(2, "${s.epsilon}")
print(two.explain(prior=[${fixed(s.before / 100)}, ${fixed(1 - s.before / 100)}]))                    # one report; ${s.times} fresh ones are at ε = ${plain(s.epsilon * s.times)}
assumed = ex.PML("${s.epsilon}", [${fixed(s.expected / 100)}, ${fixed(1 - s.expected / 100)}])
print(assumed.level(two), assumed.level(two, [${fixed(s.actual / 100)}, ${fixed(1 - s.actual / 100)}]))`;
  },
  downloads: (s) => [{ text: "randomised response", kind: "response", k: s.answers }],
};

// -- shuffled

const options = (values, say) => Object.fromEntries(values.map((value) => [String(value), say(value)]));

const shuffle = {
  title: "Shuffled",
  lead: "If a trusted party removes names and order before anyone sees the reports, they hide one another: the central guarantee is far stronger than ε.",
  state: { answers: "4", epsilon: "1", people: "10000", delta: "1e-6" },
  within: {},
  settle(s) {
    const grid = TABLE.shuffled;
    const known = (values, value, usual) => (values.map(String).includes(String(value)) ? String(value) : usual);
    return {
      answers: known(grid.answers, s.answers, "4"), epsilon: known(grid.epsilons, s.epsilon, "1"),
      people: known(grid.people, s.people, "10000"), delta: known(grid.deltas, s.delta, "1e-6"),
    };
  },
  controls(s, set) {
    const grid = TABLE.shuffled;
    return [
      choice("People", s.people, options(grid.people, whole), (people) => set({ people })),
      choice("Local ε of one report", s.epsilon, options(grid.epsilons, String), (epsilon) => set({ epsilon })),
      choice("Answers", s.answers, options(grid.answers, String), (answers) => set({ answers })),
      choice("δ", s.delta, options(grid.deltas, String), (delta) => set({ delta })),
    ];
  },
  result(s) {
    const grid = TABLE.shuffled;
    const place = (values, value) => values.map(String).indexOf(value);
    const at = grid.central[place(grid.answers, s.answers)][place(grid.epsilons, s.epsilon)];
    const rows = grid.people.map((n, i) => ({ n, found: at[i][place(grid.deltas, s.delta)] }));
    const chosen = rows[place(grid.people, s.people)];
    return [
      answer(`Shuffled, ${whole(chosen.n)} reports of randomised response are `, strong(`(${plain(up(chosen.found[1]), 4)}, ${s.delta})`),
        `-differentially private in the central model; a single report has ε = ${s.epsilon}.`),
      bars("Central ε by the number of people who report", ["people", "central ε at most", "and at least", "bound from ε alone"],
        rows.map((row) => ({ name: whole(row.n), length: row.found[1], text: plain(up(row.found[1]), 4), colour: COLOURS.best, more: [plain(row.found[0], 4), plain(row.found[2], 4)], strong: row === chosen }))),
      note("ex.shuffled proved both ends in advance, in ball arithmetic; for other numbers use the package. “Bound from ε alone” holds for every mechanism of this local level (numerical clones). The guarantee is about what the shuffler publishes, not about a collector who sees who sent what."),
    ];
  },
  python(s) {
    return `import extremal as ex

print(ex.shuffled(ex.randomized_response(${s.answers}, "${s.epsilon}"), n=${s.people}).summary(delta="${s.delta}"))`;
  },
  downloads: (s) => [{ text: "randomised response", kind: "response", k: Number(s.answers) }],
};

/** Four digits, rounded up: a guarantee is never stated smaller than it is. */
function up(value) {
  if (value === 0) return 0;
  const unit = 10 ** (Math.floor(Math.log10(value)) - 3);
  return Math.ceil(value / unit - 1e-9) * unit;
}

export const SCREENS = { cost, report, respond, several, wrong, shuffle };

/** Offer a mechanism file for download. */
export async function download({ kind, k, parameter }, epsilon) {
  const text = await mechanismFile(kind, k, String(epsilon), parameter);
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: "mechanism.json" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
