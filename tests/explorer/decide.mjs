// Decides files with the page's own lines, in Node: folder of node_modules, check.py, then files. Writes JSON.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { checker } from "../../src/extremal/explorer/check/decide.mjs";

const [modules, source, ...paths] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${modules}/pyodide/pyodide.mjs`));
const decide = await checker(loadPyodide, {}, readFileSync(source));
const found = paths.map((path) => {
  const began = performance.now();
  return { ...decide([{ name: basename(path), bytes: readFileSync(path) }]), seconds: (performance.now() - began) / 1000 };
});
process.stdout.write(JSON.stringify(found));
