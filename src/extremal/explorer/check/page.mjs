// The page: files that are dropped or chosen go to the worker, and its verdict is shown.

const VERDICTS = {
  0: ["proved", "Every claim in the file is proved."],
  1: ["false", "A claim is false, or a proof is refused."],
  2: ["malformed", "The file is malformed."],
  3: ["open", "Nothing is false, but something is not proven, or is too large to check here."],
};
const status = document.getElementById("status");
const verdict = document.getElementById("verdict");
const chosen = document.getElementById("files");
const area = document.getElementById("area");

let worker = null;

function started() {
  if (worker !== null) return worker;
  status.textContent = "Loading Python (12 MB, once) …";
  worker = new Worker("./worker.mjs", { type: "module" });
  worker.onerror = (event) => { status.textContent = `Python could not be loaded here (${event.message ?? "no answer"}). Serve this page over http, or run check.py yourself.`; };
  worker.onmessage = ({ data }) => {
    if (data.ready) status.textContent = "Ready. Nothing that you drop leaves this page.";
    else if (data.failed) status.textContent = data.failed;
    else show(data);
  };
  return worker;
}

function show({ code, text, seconds }) {
  const [kind, sentence] = VERDICTS[code] ?? ["open", "The checker itself failed; please report it."];
  verdict.className = kind;
  verdict.dataset.code = code;
  verdict.replaceChildren(Object.assign(document.createElement("strong"), { textContent: sentence }),
    Object.assign(document.createElement("pre"), { textContent: text, tabIndex: 0 }));
  status.textContent = `Checked by check.py in ${seconds.toFixed(1)} s.`;
}

async function decide(list) {
  if (list.length === 0) return;
  const files = await Promise.all([...list].map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })));
  verdict.replaceChildren();
  delete verdict.dataset.code;
  started().postMessage(files);
  status.textContent = "Checking …";
}

chosen.addEventListener("change", () => decide(chosen.files));
area.addEventListener("dragover", (event) => { event.preventDefault(); area.classList.add("over"); });
area.addEventListener("dragleave", () => area.classList.remove("over"));
area.addEventListener("drop", (event) => {
  event.preventDefault();
  area.classList.remove("over");
  decide(event.dataTransfer.files);
});
document.getElementById("controls").hidden = false;
started();
