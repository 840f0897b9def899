// Randomises what a survey of SurveyJS collects, on the device, before anything is sent:
//
//   import { attach } from "./attach.js";
//   const survey = new Survey.Model(await (await fetch("survey.json")).json());
//   await attach(survey, (record) => fetch("/reports", { method: "POST", body: JSON.stringify(record) }));
//
// The form is checked and drawn as any other; when it is completed, `send` gets {questionnaire: hash, reports}, and the
// answers are forgotten. Do not send `survey.data` yourself, and keep the tool's own storage of answers off.

import { deviceStorage, loadQuestionnaire, Respondent } from "./randomiser.js";

// The answers of a survey, {question: answer}: a box that is ticked is an item's name in the list of its group.
export function answersOf(data, questionnaire) {
  const ticked = new Set(Object.values(data).filter(Array.isArray).flat());
  const found = {};
  for (const { name, group, answers } of questionnaire.questions) {
    const tick = group !== "" && answers.length === 2 && answers[0].value === false && answers[1].value === true;
    const value = tick ? ticked.has(name) : data[name];
    if (value !== undefined) Object.defineProperty(found, name, { value, enumerable: true });
  }
  return found;
}

// `text` is the questionnaire's file, fetched from beside this script unless given.
export async function attach(survey, send, { text, storage = deviceStorage() } = {}) {
  const file = text ?? await (await fetch(new URL("./questionnaire.json", import.meta.url))).text();
  const questionnaire = await loadQuestionnaire(file);
  const respondent = new Respondent(storage);
  survey.sendResultOnPageNext = false;
  survey.cookieName = "";
  survey.onComplete.add(async (sender) => {
    const reports = await respondent.reports(answersOf(sender.data, questionnaire), questionnaire);
    sender.data = {};
    await send({ questionnaire: questionnaire.hash, reports });
  });
  return questionnaire;
}
