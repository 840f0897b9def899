// The page of a questionnaire: checks questionnaire.json, asks, randomises, remembers. Sending the reports is left to you.

import { deviceStorage, loadQuestionnaire, Respondent } from "./randomiser.js";
import { formOf, unanswered } from "./form.js";

const [form, place, send, status, report, title] =
  ["form", "questions", "send", "status", "report", "title"].map((id) => document.getElementById(id));

try {
  const questionnaire = await loadQuestionnaire(await (await fetch("questionnaire.json")).text());
  const respondent = new Respondent(deviceStorage());
  if (questionnaire.title) document.title = title.textContent = questionnaire.title;
  const shown = formOf(questionnaire, place);
  const show = (reports) => {
    report.textContent = JSON.stringify({ questionnaire: questionnaire.hash, reports }, null, 1);
    report.hidden = false;
    status.textContent = "This is the report. Asked again, this device repeats it.";
  };
  const before = await respondent.storedReports(questionnaire);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answers = shown.answers();
    const open = unanswered(questionnaire, answers);
    shown.mark(open);
    if (open !== null) {
      status.textContent = "Please answer the question that is marked.";
      return;
    }
    try {
      show(await respondent.reports(answers, questionnaire));
    } catch (error) {
      status.textContent = `Nothing is reported: ${error.message}.`;
    }
  });
  status.textContent = `The questionnaire keeps its promise: ε = ${questionnaire.epsilon} for all your answers together.`;
  if (before !== undefined) show(before);
  send.disabled = false; // not before somebody listens: a form without a script would send what was chosen
} catch (error) {
  status.textContent = `Nothing is reported: ${error.message}.`;
}
