// A form for the questions of a questionnaire: one fieldset each, items of a group together as boxes to tick, questions
// that earlier answers skip hidden. Nothing of it is sent or stored; `answers()` is what is chosen now.

const FEW = 12; // answers that are listed one below the other; more are a list to open
const WORDS = { choose: "Choose…", optional: "You need not answer.", tick_all: "Tick all that apply." }; // what the form says itself
const SCALE = 4; // answers from which whole numbers stand beside each other

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// A question with one answer: buttons, or a list where there are many. `value` is undefined where nothing is chosen.
function single(question, number, changed, words) {
  const { answers, optional } = question;
  const name = `question-${number}`;
  const scale = answers.length >= SCALE && answers.every(({ value, text }) => typeof value === "number" && text === String(value));
  const field = element("fieldset", { className: scale ? "scale" : "" }, element("legend", { textContent: question.text }));
  let value;
  if (answers.length <= FEW) {
    const place = element("div", { className: "answers" });
    const inputs = answers.map(({ text }, i) => {
      const input = element("input", { type: "radio", name, value: String(i) });
      place.append(element("label", { className: "answer" }, input, element("span", { textContent: text })));
      return input;
    });
    field.append(place);
    value = () => answers[inputs.findIndex((input) => input.checked)]?.value;
  } else {
    const list = element("select", { name });
    list.setAttribute("aria-label", question.text);
    list.append(new Option(words.choose, ""), ...answers.map(({ text }, i) => new Option(text, String(i))));
    field.append(list);
    value = () => (list.value === "" ? undefined : answers[Number(list.value)].value);
  }
  field.append(element("p", { className: "note", textContent: optional ? words.optional : "" }));
  field.addEventListener("change", changed);
  return { field, names: [question.name], values: () => [value()] };
}

// Yes/no questions of one group, as boxes: a box that is not ticked is the answer false.
function ticked(group, questions, changed, words) {
  const field = element("fieldset", {}, element("legend", { textContent: group }));
  const boxes = questions.map((question) => {
    const box = element("input", { type: "checkbox" });
    field.append(element("label", { className: "answer" }, box, element("span", { textContent: question.text })));
    return box;
  });
  field.append(element("p", { className: "note", textContent: words.tick_all }));
  field.addEventListener("change", changed);
  return { field, names: questions.map(({ name }) => name), values: () => boxes.map((box) => box.checked) };
}

const isTick = ({ group, answers }) => group !== "" && answers.length === 2 && answers[0].value === false && answers[1].value === true;

// Puts the questions into an element. `answers()` is {question: answer} of what is chosen and not hidden; `mark(name)`
// shows the question that still needs an answer, `mark(null)` none. `words` are the texts of the form in another language.
export function formOf(questionnaire, place, words = WORDS) {
  const parts = [];
  const changed = () => {
    const chosen = answers();
    for (const part of parts) part.field.hidden = !part.names.some((name) => questionnaire.applies(name, chosen));
  };
  const answers = () => {
    const found = {};
    for (const { names, values } of parts) {
      values().forEach((value, i) => {
        if (value !== undefined && questionnaire.applies(names[i], found)) {
          Object.defineProperty(found, names[i], { value, enumerable: true });
        }
      });
    }
    return found;
  };
  const waiting = [...questionnaire.questions];
  while (waiting.length > 0) {
    const first = waiting.shift();
    if (isTick(first)) {
      const group = [first];
      while (waiting.length > 0 && waiting[0].group === first.group && isTick(waiting[0])) group.push(waiting.shift());
      parts.push(ticked(first.group, group, changed, words));
    } else parts.push(single(first, parts.length, changed, words));
  }
  place.replaceChildren(...parts.map(({ field }) => field));
  const mark = (name) => {
    for (const { field, names } of parts) field.classList.toggle("wrong", names.includes(name));
    parts.find(({ names }) => names.includes(name))?.field.scrollIntoView({ block: "center" });
  };
  changed();
  return { answers, mark };
}

// The first question that applies and is not answered, null if there is none.
export function unanswered(questionnaire, answers) {
  const open = ({ name, optional }) => !optional && !Object.hasOwn(answers, name) && questionnaire.applies(name, answers);
  return questionnaire.questions.find(open)?.name ?? null;
}
