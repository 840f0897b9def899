// Reads calls as JSON lines, [name, arguments…], and writes what numbers.js answers.
import { createInterface } from "node:readline";
import * as numbers from "../../src/extremal/explorer/numbers.js";
import { mechanismFile } from "../../src/extremal/explorer/files.js";

const made = (name, k, epsilon) => (name === "plain" ? numbers.PLAIN : numbers.SHARE_MECHANISMS[name](k, epsilon));
const calls = {
  halfWidth: (name, k, epsilon, n, level) => numbers.halfWidth(made(name, k, epsilon), n, level),
  people: (name, k, epsilon, width, level) => numbers.people(made(name, k, epsilon), width, level),
  poisoning: (observed, fake, k, epsilon) => numbers.poisoning(observed, fake, numbers.response(k, epsilon)),
  mechanismFile,
};
const lines = createInterface({ input: process.stdin });
for await (const line of lines) {
  const [name, ...given] = JSON.parse(line);
  const answer = await (calls[name] ?? numbers[name])(...given);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
