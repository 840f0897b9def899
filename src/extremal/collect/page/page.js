// The respondent's page. The questionnaire's promise is decided before anything is asked; answers are randomised here; the
// reports and the id under which they are sent are stored before they are shown. Sending again sends the same, from any
// tab, until the collector has acknowledged it; answering again changes nothing.

import { deviceStorage, loadQuestionnaire, Respondent } from "./randomiser.js";
import { formOf, unanswered } from "./form.js";

const FIRST_WAIT = 2_000; // milliseconds before the first retry; then twice as long each time
const LONGEST_WAIT = 60_000;
const LATER = [408, 425, 429, 500, 502, 503, 504]; // answers after which the same is sent again
const at = Object.fromEntries(
  ["title", "consent", "promise", "form", "questions", "randomise", "review", "review-head", "reports", "code", "invitation", "send", "status"]
    .map((id) => [id, document.getElementById(id)]),
);

const languages = await (await fetch("/files/languages.json")).json();
const wanted = [new URLSearchParams(location.search).get("lang"), ...navigator.languages].filter(Boolean);
const language = wanted.map((one) => one.toLowerCase().split("-")[0]).find((one) => Object.hasOwn(languages, one)) ?? "en";
const words = { ...languages.en, ...languages[language] };
document.documentElement.lang = language;
for (const place of document.querySelectorAll("[data-say]")) place.textContent = words[place.dataset.say];
const say = (key, more = "") => { at.status.textContent = words[key] + more; };

const randomId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

// The invitation behind # in the link; one that is garbled is refused by the collector, and the page asks for it.
function codeInLink() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

// A report as a respondent reads it; where a question is asked in several ways, its report begins with the number of one.
function reportText(question, report) {
  if (report === null || report === undefined) return words.not_asked;
  const find = (value) => question.answers.find((answer) => answer.value === value)?.text;
  const told = (value) => find(value) ?? String(value);
  const kind = typeof report === "string" && find(report) === undefined ? /^\d+: (.*)$/su.exec(report) : null;
  const plain = kind ? JSON.parse(kind[1]) : report;
  return Array.isArray(plain) ? plain.map(told).join(", ") : told(plain);
}

class Sending {
  #asked; #storage; #study; #reports; #wait = FIRST_WAIT; #timer; #busy = false;

  constructor(asked, storage, study) {
    [this.#asked, this.#storage, this.#study] = [asked, storage, study];
    at.send.addEventListener("click", () => this.send());
    addEventListener("online", () => { if (this.#timer) this.send(); });
  }

  async show(reports, sent) {
    this.#reports = reports;
    at.form.hidden = true;
    at.review.hidden = false;
    at.reports.replaceChildren(...this.#asked.questions.map((question) => {
      const row = document.createElement("tr");
      const [name, report] = [document.createElement("th"), document.createElement("td")];
      name.scope = "row";
      name.textContent = question.group ? `${question.group}: ${question.text}` : question.text;
      report.textContent = reportText(question, reports[question.name]);
      if ((reports[question.name] ?? null) === null) report.className = "unasked";
      row.append(name, report);
      return row;
    }));
    at.code.hidden = sent || !this.#study.invited || location.hash.length > 1;
    at.send.hidden = sent;
    say(sent ? "sent_before" : "ready");
  }

  async send() {
    if (this.#busy) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#busy = true;
    at.send.disabled = true;
    say("sending");
    try {
      const body = {
        id: await this.#storage.remember("upload id", randomId()),
        questionnaire: this.#asked.hash,
        reports: this.#reports,
      };
      if (this.#study.invited) body.invitation = at.invitation.value.trim() || codeInLink();
      await this.#answered(await this.#posted(body));
    } catch (error) {
      say("failed", ` (${error.message})`);
      at.send.disabled = false;
    } finally {
      this.#busy = false;
    }
  }

  async #posted(body) {
    try {
      return await fetch("/api/reports", {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
        credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer",
      });
    } catch {
      return null; // no connection
    }
  }

  async #answered(response) {
    if (response?.status === 201 || response?.status === 200) {
      await response.text();
      await this.#storage.remember("sent", "yes");
      at.send.hidden = at.code.hidden = true;
      say("sent");
    } else if (response === null || LATER.includes(response.status)) {
      say(response === null ? "offline" : "busy");
      at.send.disabled = false;
      this.#timer = setTimeout(() => this.send(), this.#wait);
      this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
    } else {
      const { reason, text } = await response.json().catch(() => ({}));
      at.code.hidden = reason !== "invitation";
      at.send.disabled = reason === "closed";
      say(["closed", "invitation"].includes(reason) ? reason : "refused", text && !["closed", "invitation"].includes(reason) ? ` (${text})` : "");
    }
  }
}

function ask(asked, respondent, sending) {
  const shown = formOf(asked, at.questions, words);
  at.form.hidden = false;
  say("ask");
  at.form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answers = shown.answers();
    const open = unanswered(asked, answers);
    shown.mark(open);
    if (open !== null) return say("unanswered");
    at.randomise.disabled = true;
    try {
      await sending.show(await respondent.reports(answers, asked), false);
      at["review-head"].focus();
    } catch (error) {
      at.randomise.disabled = false;
      say("failed", ` (${error.message})`);
    }
  });
}

async function begin() {
  const study = await (await fetch("/api/study")).json();
  document.title = at.title.textContent = study.title;
  at.consent.replaceChildren(...study.consent.split(/\n\s*\n/).filter((text) => text.trim()).map((text) => {
    const paragraph = document.createElement("p");
    paragraph.textContent = text.trim();
    return paragraph;
  }));
  const asked = await loadQuestionnaire(study.questionnaire);
  at.promise.textContent = words.promise.replace("{epsilon}", asked.epsilon);
  const storage = deviceStorage(`extremal ${asked.hash}`);
  const respondent = new Respondent(storage);
  const sending = new Sending(asked, storage, study);
  const before = await respondent.storedReports(asked);
  if (before !== undefined) await sending.show(before, (await storage.read("sent")) !== undefined);
  else if (!study.open) say("closed");
  else ask(asked, respondent, sending);
}

try {
  await begin();
} catch (error) {
  say("failed", ` (${error.message})`);
}
navigator.serviceWorker?.register("/worker.js").catch(() => {}); // without it a reload needs the network
