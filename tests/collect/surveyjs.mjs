// A SurveyJS survey whose completion randomises and sends, as docs/collect/index.md shows it. Arguments: modules,
// randomiser.js, address.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, script, collector] = process.argv.slice(2);
const { Model } = createRequire(`${modules}/`)("survey-core");
const { loadQuestionnaire, Respondent } = await import(pathToFileURL(script));

const kept = new Map();
const storage = {
  read: async (key) => kept.get(key),
  remember: async (key, text) => { if (!kept.has(key)) kept.set(key, text); return kept.get(key); },
};
const randomId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
const study = await (await fetch(`${collector}/api/study`)).json();
const asked = await loadQuestionnaire(study.questionnaire);
const survey = new Model({
  elements: asked.questions.map(({ name, text, answers }) => ({ type: "radiogroup", name, title: text, choices: answers.map(({ value }) => value) })),
});
const statuses = [];
let sent;
survey.onComplete.add((sender) => {
  sent = (async () => {
    const reports = await new Respondent(storage).reports(sender.data, asked);
    sender.data = {};
    const id = await storage.remember("upload id", randomId());
    for (let i = 0; i < 2; i += 1) { // the second is a retry
      const answer = await fetch(`${collector}/api/reports`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ id, questionnaire: asked.hash, reports }),
      });
      statuses.push(answer.status);
    }
  })();
});
survey.data = { drugs: "yes", party: "left", days: 3 };
const completed = survey.completeLastPage() ?? survey.tryComplete?.();
await sent;
console.log(JSON.stringify({ statuses, left: survey.data, completed: survey.state }));
