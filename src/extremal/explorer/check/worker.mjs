// Loads Python once, in a thread of its own, and decides what the page hands over.
import { loadPyodide } from "./pyodide/pyodide.mjs";
import { checker } from "./decide.mjs";

const ready = (async () => {
  const source = new Uint8Array(await (await fetch("./check.py")).arrayBuffer());
  return checker(loadPyodide, { indexURL: new URL("./pyodide/", import.meta.url).href }, source);
})();
ready.then(() => postMessage({ ready: true }), (error) => postMessage({ failed: String(error) }));

onmessage = async ({ data }) => {
  const began = performance.now();
  try {
    const found = (await ready)(data);
    postMessage({ ...found, seconds: (performance.now() - began) / 1000 });
  } catch (error) {
    postMessage({ failed: String(error) });
  }
};
