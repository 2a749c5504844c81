// Runs answers.py in the CPython that the npm package `pyodide` brings.
//   node pyodide.mjs PYODIDE PACKAGES ROOT TARGET PART/PARTS
// PYODIDE is the folder of that package, PACKAGES a folder as `site-packages` is one, ROOT the checkout.
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [pyodide, packages, root, target, part] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`));
const python = await loadPyodide({ stdout: console.log, stderr: console.error });
for (const [name, folder] of Object.entries({ packages, root })) {
    python.FS.mkdirTree(`/mounted/${name}`);
    python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, `/mounted/${name}`);
}
python.globals.set("part", part);
try {
    await python.runPythonAsync(`
import runpy, shutil, sys
for name in ("packages", "root/examples", "root/tests/cases", "root/tests/interpreters"):
    shutil.copytree(f"/mounted/{name}", f"/here/{name}", ignore=shutil.ignore_patterns("__pycache__"))
sys.path.insert(0, "/here/packages")
sys.argv = ["answers.py", "/here/root", "/answers", part]
runpy.run_path("/here/root/tests/interpreters/answers.py", run_name="__main__")
print(sys.version.split()[0])
`);
} catch (error) {
    console.error(error.message);
    process.exit(1);
}
writeFileSync(target, python.FS.readFile("/answers"));
