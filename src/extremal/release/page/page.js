// The smallest page: checks mechanism.json, asks, randomises, remembers. Sending the report is left to you.

import { deviceStorage, loadMechanism, Respondent } from "./randomiser.js";

const MOST_OPTIONS = 10_000; // beyond that a list is no way to ask
const [form, answer, send, status] = ["form", "answer", "send", "status"].map((id) => document.getElementById(id));

try {
  const mechanism = await loadMechanism(await (await fetch("mechanism.json")).text());
  const respondent = new Respondent(deviceStorage());
  if (mechanism.inputs.length > MOST_OPTIONS) throw new Error("this page lists at most 10,000 answers");
  for (let code = 0; code < mechanism.inputs.length; code += 1) {
    answer.append(new Option(String(mechanism.inputs.at(code)), String(code)));
  }
  answer.disabled = send.disabled = false;
  status.textContent = `The mechanism keeps its promise: ε = ${mechanism.epsilon}.`;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const report = await respondent.report("answer", mechanism.inputs.at(Number(answer.value)), mechanism);
      status.textContent = `The report is ${JSON.stringify(report)}. Asked again, this device repeats it.`;
    } catch (error) {
      status.textContent = `Nothing is reported: ${error.message}.`;
    }
  });
} catch (error) {
  status.textContent = `Nothing is reported: ${error.message}.`;
}
