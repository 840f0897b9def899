// Draws the reports of vectors.json and compares them: `node check.js`, or open check.html from a server.
// With a number N it also draws N reports of the generator's own on the first input of every mechanism, and counts them.

import { loadMechanism, loadQuestionnaire, PROTOCOL, secureWords } from "./randomiser.js";

async function check(file, own) {
  if (file.version !== PROTOCOL) throw new Error(`the vectors are of protocol ${file.version}, the script of ${PROTOCOL}`);
  let [agreed, total] = [0, 0];
  const counts = [];
  for (const { mechanism: content, vectors } of file.mechanisms) {
    const mechanism = await loadMechanism(JSON.stringify(content));
    for (const { value, words, report } of vectors) {
      const queue = words.map(BigInt);
      const drawn = mechanism.draw(value, () => queue.shift());
      total += 1;
      agreed += Number(JSON.stringify(drawn) === JSON.stringify(report) && queue.length === 0);
    }
    const found = {};
    const fresh = secureWords();
    for (let i = 0; i < own; i += 1) {
      const key = JSON.stringify(mechanism.draw(mechanism.inputs.at(0), fresh));
      found[key] = (found[key] ?? 0) + 1;
    }
    counts.push(found);
  }
  for (const { questionnaire: content, vectors } of file.questionnaires ?? []) {
    const questionnaire = await loadQuestionnaire(JSON.stringify(content));
    for (const { answers, words, reports } of vectors) {
      const queue = words.map(BigInt);
      const drawn = questionnaire.draw(answers, () => queue.shift());
      total += 1;
      agreed += Number(JSON.stringify(drawn) === JSON.stringify(reports) && queue.length === 0);
    }
  }
  return { agreed, total, counts: own ? counts : [] };
}

if (typeof document === "undefined") {
  const { readFile } = await import("node:fs/promises");
  const file = JSON.parse(await readFile(new URL("./vectors.json", import.meta.url), "utf8"));
  const found = await check(file, Number(process.argv[2] ?? 0));
  console.log(JSON.stringify(found));
  process.exitCode = found.agreed === found.total ? 0 : 1;
} else {
  const place = document.getElementById("result");
  try {
    const file = await (await fetch("vectors.json")).json();
    place.textContent = JSON.stringify(await check(file, Number(new URLSearchParams(location.search).get("own") ?? 0)));
  } catch (error) {
    place.textContent = JSON.stringify({ error: String(error) });
  }
}
