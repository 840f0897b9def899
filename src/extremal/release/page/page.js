// The smallest page: checks mechanism.json, asks, randomises, remembers. Sending the report is left to you.

import { loadMechanism, Respondent } from "./randomiser.js";

const [form, answer, send, status] = ["form", "answer", "send", "status"].map((id) => document.getElementById(id));

try {
  const mechanism = await loadMechanism(await (await fetch("mechanism.json")).text());
  const respondent = new Respondent(globalThis.localStorage);
  for (let code = 0; code < mechanism.inputs.length; code += 1) {
    answer.append(new Option(String(mechanism.inputs.at(code)), String(code)));
  }
  answer.disabled = send.disabled = false;
  status.textContent = `The mechanism keeps its promise: ε = ${mechanism.epsilon}.`;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    try {
      const report = respondent.report("answer", mechanism.inputs.at(Number(answer.value)), mechanism);
      status.textContent = `The report is ${JSON.stringify(report)}. Asked again, this device repeats it.`;
    } catch (error) {
      status.textContent = `Nothing is reported: ${error.message}.`;
    }
  });
} catch (error) {
  status.textContent = `Nothing is reported: ${error.message}.`;
}
