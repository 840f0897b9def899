// Decides files by check.py inside Pyodide; the page's worker and the tests use the same lines.

const RUN = `
import contextlib, io, sys
def decide(names):
    said, code = io.StringIO(), 0
    space = {"__name__": "__main__"}
    sys.argv = ["check.py", *names]
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            exec(compiled, space)
        except SystemExit as left:
            code = left.code
    return [int(code or 0), said.getvalue()]
compiled = compile(open("/check.py", encoding="utf-8").read(), "check.py", "exec")
`;

/** A function from files ([{ name, bytes }]) to { code, text }: 0 proved, 1 false, 2 malformed, 3 not proven. */
export async function checker(loadPyodide, options, source) {
  const python = await loadPyodide(options);
  python.FS.writeFile("/check.py", source);
  python.runPython(RUN);
  const decide = python.globals.get("decide");
  return (files) => {
    python.FS.mkdirTree("/files");
    const paths = files.map(({ name, bytes }, i) => {
      const path = `/files/${i}_${name.replace(/[^\w.-]/g, "_")}`;
      python.FS.writeFile(path, bytes);
      return path;
    });
    try {
      const [code, text] = decide(python.toPy(paths)).toJs();
      return { code, text: text.replaceAll(/\/files\/\d+_/g, "") };
    } finally {
      paths.forEach((path) => python.FS.unlink(path));
    }
  };
}
