// The six screens. Each has its own state (defaults and what may be typed), controls, a result, and the same in Python.

import { TABLE } from "./table.js";
import * as N from "./numbers.js";
import { mechanismFile } from "./files.js";
import { COLOURS, answer, bars, choice, make, note, number, percent, plain, points, strong, whole } from "./elements.js";

const EPSILON = { min: 0.05, max: 10, step: 0.1, low: 0.1, high: 8 };
const PEOPLE = { min: 10, max: 1e6, step: 1, low: 50, high: 1e5 };
const ANSWERS = { min: 2, max: 100, step: 1, low: 2, high: 24 };
const NAMES = ["A", "B", "C", "D", "E", "F", "G", "H"];
const MEAN_NAMES = {
  best: "best mechanism",
  rounding: "stochastic rounding",
  piecewise: "piecewise",
  geometric: "geometric noise",
  response: "randomized response",
};

// -- what does ε cost?

const cost = {
  title: "What does ε cost?",
  lead: "Local privacy is paid for with precision, or with people. Choose a survey and see both.",
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
      choice("What do you want to know?", s.goal, { shares: "the share of each answer", mean: "the mean of a rating 0, 1, 2, …" }, (goal) => set({ goal })),
      number("People", s.people, PEOPLE, (people) => set({ people })),
      number("Privacy ε", s.epsilon, { ...EPSILON, hint: scale ? "Means are computed at 21 levels; the nearest is shown." : `A report is at most e^ε = ${plain(Math.exp(s.epsilon))} times likelier from one answer than from another.` }, (epsilon) =>
        set({ epsilon: scale ? nearest(epsilon, s.epsilon) : epsilon })),
      number("Answers", s.answers, scale ? { min: 3, max: 11, step: 1, low: 3, high: 11 } : ANSWERS, (answers) => set({ answers })),
      number(scale ? "I need ± this much, % of the scale" : "I need ± this many points", s.margin, { min: 0.2, max: 45, step: 0.5, low: 0.5, high: 20 }, (margin) => set({ margin })),
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
      { text: "randomized response", kind: "response", k },
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
  const size = rows[0].size === 1 ? "randomized response" : `subset selection, sets of ${rows[0].size}`;
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
        : `With ${whole(s.people)} people, ±${plain(s.margin)} points needs ε = ${plain(epsilon, 4)} or more.`,
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
      ["mechanism", `±, ${whole(s.people)} people`, `people for ±${plain(s.margin)}`],
      rows.map((row, i) => ({
        name: row.key === "best" ? `best mechanism (${size})` : row.name,
        length: row.halfWidth, text: points(row.halfWidth), colour: COLOURS[row.key], more: [cells[i]], strong: row.key === "best",
      })),
    ),
    note("Exact intervals, as ex.estimate_frequencies reports them; the numbers are those of ex.plan."),
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
      `With ${whole(s.people)} people and ε = ${plain(s.epsilon)}, the mean of 0…${s.answers - 1} is known to within `,
      strong(`±${plain(N.meanHalfWidth(costs[0].value, s.people))}`), ` (without privacy ±${plain(N.meanHalfWidth(costs.at(-1).value, s.people))}).`,
    ),
    make("p", { class: "second" },
      enough === undefined
        ? `None of the computed levels up to ε = ${TABLE.means.epsilons.at(-1)} reaches ±${plain(wanted)} with ${whole(s.people)} people.`
        : `With ${whole(s.people)} people, ±${plain(wanted)} is reached from ε = ${enough} on (of the computed levels).`),
    bars(
      "Half-width of the 95% interval of the mean, at equal shares",
      ["mechanism", `±, ${whole(s.people)} people`, `people for ±${plain(wanted)}`],
      costs.map((one) => {
        const half = N.meanHalfWidth(one.value, s.people);
        return { name: one.name, length: half, text: `±${plain(half)}`, colour: COLOURS[one.key], more: [whole(N.meanPeople(one.value, wanted))], strong: one.key === "best" };
      }),
    ),
    note("Normal approximation from n × mean squared error, as ex.compare(…).respondents() prints it. Values are looked up in a table that the package computed."),
  ];
}

// -- one report

const report = {
  title: "One report",
  lead: "What does somebody learn who sees a single report? Choose what they believed before, and click a cell.",
  state: { epsilon: 1, answers: 3, kind: "response", prior: "", true: 0, seen: 0 },
  within: { epsilon: EPSILON, answers: { min: 2, max: 6, step: 1 }, true: { min: 0, max: 5, step: 1 }, seen: { min: 0, max: 19, step: 1 } },
  settle: (s) => ({ ...s, kind: ["subsets", "geometric"].includes(s.kind) ? s.kind : "response" }),
  controls(s, set) {
    const prior = priorOf(s.prior, s.answers);
    return [
      choice("Mechanism", s.kind, { response: "randomized response", subsets: "subset selection", geometric: "geometric noise (ordered answers)" }, (kind) => set({ kind, seen: 0 })),
      number("Privacy ε", s.epsilon, EPSILON, (epsilon) => set({ epsilon })),
      number("Answers", s.answers, { min: 2, max: 6, step: 1, low: 2, high: 6 }, (answers) => set({ answers, prior: "", true: 0, seen: 0 })),
      make("fieldset", {}, make("legend", {}, "Belief before (weights)"),
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
        `Whoever answers ${NAMES[x]} reports ${said[y]} with probability `, strong(percent(matrix[x][y])),
        `. Somebody who sees ${said[y]} goes from ${percent(prior[x])} to `, strong(percent(after[x])), ` sure of ${NAMES[x]}; no report takes them below ${percent(least)} or above ${percent(most)}.`,
      ),
      bars(`Belief after the report ${said[y]}`, ["answer", "after", "before"],
        prior.map((p, i) => ({ name: NAMES[i], length: after[i], text: percent(after[i]), colour: COLOURS.best, more: [percent(p)], strong: i === x })), 1),
      heat(matrix, said, x, y, (answerOf, seen) => set({ true: answerOf, seen })),
      note("Rows are true answers, columns are reports; darker is likelier. Arrow keys move between cells."),
    ];
  },
  python(s) {
    const prior = priorOf(s.prior, s.answers).map((p) => Number(p.toPrecision(12)));
    const call = { response: "randomized_response", subsets: "subset_selection", geometric: "geometric" }[s.kind];
    return `import extremal as ex

m = ex.${call}(${s.answers}, "${s.epsilon}")
print(m.matrix.round(4))
print(m.explain(prior=[${prior.join(", ")}]))`;
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
    made.style.background = `rgba(27, 108, 168, ${(0.08 + 0.9 * share).toFixed(3)})`;
    made.style.color = share > 0.55 ? "#fff" : "var(--text)";
    return make("td", {}, made);
  };
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "probability of each report" },
    make("table", { class: "heat" },
      make("caption", {}, "Probability of each report, given the true answer"),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "answer"), said.map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, matrix.map((row, i) => make("tr", {}, make("th", { scope: "row" }, NAMES[i]), row.map((_, j) => cell(i, j)))))));
}

// -- be the respondent

const TRUTH = [0.5, 0.3, 0.2]; // of the hundred others; the page shows it when asked

const respond = {
  title: "Be the respondent",
  lead: "Answer for yourself; only a randomized report leaves. Then a hundred others answer, and the shares appear.",
  state: { epsilon: 1, mine: "", counts: "0~0~0", reveal: "no" },
  within: { epsilon: EPSILON },
  controls(s, set) {
    const counts = countsOf(s.counts);
    const options = ["never", "sometimes", "often"];
    const send = (x) => set({ mine: `${x}~${drawn(x, s.epsilon)}`, counts: added(counts, drawn.last) });
    const group = options.map((text, x) =>
      make("button", { type: "button", class: "option", click: () => send(x) }, text));
    return [
      number("Privacy ε", s.epsilon, { ...EPSILON, hint: "Changing ε starts again: reports of two mechanisms do not mix." }, (epsilon) => set({ epsilon, counts: "0~0~0", mine: "" })),
      make("fieldset", {}, make("legend", {}, "Have you cheated in an exam?"), make("div", { class: "options" }, group)),
      make("div", { class: "options" },
        make("button", { type: "button", click: () => set({ counts: hundred(counts, s.epsilon) }) }, "A hundred others answer"),
        make("button", { type: "button", click: () => set({ reveal: s.reveal === "yes" ? "no" : "yes" }), "aria-pressed": String(s.reveal === "yes") }, "Show the truth"),
        make("button", { type: "button", click: () => set({ counts: "0~0~0", mine: "" }) }, "Start again")),
    ];
  },
  result(s) {
    const counts = countsOf(s.counts);
    const n = counts.reduce((a, b) => a + b, 0);
    const options = ["never", "sometimes", "often"];
    const [mine, sent] = String(s.mine).split("~").map(Number);
    const told = String(s.mine).includes("~") && options[mine] && options[sent]
      ? answer(`You chose “${options[mine]}”; the report that left says `, strong(`“${options[sent]}”`),
        `. It says so with probability ${percent(N.response(3, s.epsilon)[mine === sent ? "a" : "b"])}; nobody can tell whether it is true.`)
      : answer("Choose an answer: a coin is thrown in this browser, and only what comes out is kept.");
    if (n < 2) return [told, note("Nothing is sent anywhere: this page has no server.")];
    const found = N.estimate(counts, s.epsilon, 0.95);
    return [
      told,
      bars(`Estimated shares from ${whole(n)} report${n === 1 ? "" : "s"}, with 95% intervals`,
        ["answer", "estimated share", "95% interval", "reports", ...(s.reveal === "yes" ? ["truth"] : [])],
        options.map((name, x) => ({
          name, length: found.unbiased[x], text: percent(found.unbiased[x]), colour: COLOURS.best,
          more: [`${percent(found.intervals[x][0])} to ${percent(found.intervals[x][1])}`, whole(counts[x]), ...(s.reveal === "yes" ? [percent(TRUTH[x])] : [])],
        })), 1),
      note("Intervals are exact. The truth is that of the others, without you. Estimates are unbiased, so that with few reports one can fall below 0% or above 100%."),
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
  drawn.last = u < a ? x : others[u < a + b ? 0 : 1];
  return drawn.last;
}

function added(counts, report_) {
  return counts.map((c, y) => c + (y === report_ ? 1 : 0)).join("~");
}

function hundred(counts, epsilon) {
  const next = [...counts];
  for (let i = 0; i < 100; i++) {
    const u = uniform();
    const x = u < TRUTH[0] ? 0 : u < TRUTH[0] + TRUTH[1] ? 1 : 2;
    next[drawn(x, epsilon)] += 1;
  }
  return next.join("~");
}

// -- several questions

const several = {
  title: "Several questions",
  lead: "Six questions at ε = 1 each cost a respondent ε = 6. One budget can be spent in three ways.",
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
      joint: (w) => `jointly: ${w.asked} of ${s.questions} under one coin`,
      sample: (w) => `at random: ${w.asked} of ${s.questions}, ε = ${plain(s.epsilon / w.asked)} each`,
      split: () => `split: all ${s.questions}, ε = ${plain(s.epsilon / s.questions)} each`,
    };
    const halves = ways.map((w) => N.normalHalfWidth(w.variance, s.people));
    return [
      answer(`Asked jointly, ${whole(s.people)} people give every share to within `, strong(`${points(halves[0])} points`),
        `; splitting the budget gives ${points(halves[2])}, or needs `, strong(`${plain(ways[2].variance / ways[0].variance)} times`), " as many people for the same."),
      bars("Half-width of a 95% interval of a share, in points, at equal shares", ["way to ask", `±, ${whole(s.people)} people`, `people for ±${plain(s.margin)}`],
        ways.map((w, i) => ({ name: words[w.name](w), length: halves[i], text: points(halves[i]), colour: [COLOURS.best, COLOURS.unary, COLOURS.response][i], more: [whole(N.normalPeople(w.variance, s.margin / 100))], strong: i === 0 }))),
      note("Jointly: a random block of questions is answered truthfully or at random, by one coin for the whole block. The whole questionnaire is ε-LDP in all three. Normal approximation, as ex.Questionnaire prints it."),
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
  lead: "Three things that no mechanism prevents, in numbers.",
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
      make("section", { class: "card" }, make("h3", {}, "Fake reporters"),
        answer(`If ${plain(s.fake)}% of the reports are made up, an estimate of ${percent(s.share / 100)} may stand for an honest `, strong(`${percent(within(low))} to ${percent(within(high))}`), "."),
        note(`Randomized response on ${s.answers} answers. One fake report moves the estimate as much as ${plain((1 - mechanism.b) / (mechanism.a - mechanism.b))} honest people would; at small ε the mechanism itself makes fakes strong. ex.estimate_frequencies(…).poisoning(${fixed(s.fake / 100)})`)),
      make("section", { class: "card" }, make("h3", {}, "Asked again"),
        answer(`After ${whole(s.times)} report${s.times === 1 ? "" : "s"} with fresh randomness the guarantee is `, strong(`ε = ${plain(again.epsilon)}`), `: somebody who was ${percent(s.before / 100)} sure can become ${percent(again.most)} sure. With one report, repeated, it stays at ${percent(once.most)}.`),
        note("ex.Memory, and the memory of the script for browsers, repeat the first report instead.")),
      make("section", { class: "card" }, make("h3", {}, "A wrong prior"),
        answer(`Randomized response on two answers leaks at most ${plain(pair(s.expected), 4)} nats if ${plain(s.expected)}% answer yes. If ${plain(s.actual)}% do, it is `, strong(`${plain(pair(s.actual), 4)} nats`), `; never more than ε = ${plain(s.epsilon)}.`),
        note("Pointwise maximal leakage depends on the prior, ε-LDP does not: ex.PML(epsilon, prior).level(mechanism, other_prior).")),
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
  downloads: (s) => [{ text: "randomized response", kind: "response", k: s.answers }],
};

// -- shuffled

const options = (values, say) => Object.fromEntries(values.map((value) => [String(value), say(value)]));

const shuffle = {
  title: "Shuffled",
  lead: "If somebody trusted removes names and order, n reports hide each other: a central guarantee far below ε.",
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
      answer(`Shuffled, ${whole(chosen.n)} reports of randomized response are `, strong(`(${plain(up(chosen.found[1]), 4)}, ${s.delta})`),
        `-differentially private centrally; one report alone is ε = ${s.epsilon}.`),
      bars("Central ε by the number of people who report", ["people", "central ε", "proved to be at least", "knowing only ε"],
        rows.map((row) => ({ name: whole(row.n), length: row.found[1], text: plain(up(row.found[1]), 4), colour: COLOURS.best, more: [plain(row.found[0], 4), plain(row.found[2], 4)], strong: row === chosen }))),
      note("Computed points, proved in ball arithmetic by ex.shuffled; other numbers of people need the package. “Knowing only ε” is the bound for every mechanism of this local level (numerical clones). It holds for what a shuffler publishes, not for a collector who sees who sent what."),
    ];
  },
  python(s) {
    return `import extremal as ex

print(ex.shuffled(ex.randomized_response(${s.answers}, "${s.epsilon}"), n=${s.people}).summary(delta="${s.delta}"))`;
  },
  downloads: (s) => [{ text: "randomized response", kind: "response", k: Number(s.answers) }],
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
