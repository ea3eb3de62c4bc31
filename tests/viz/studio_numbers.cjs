// Runs cases from standard input on the WebAssembly kernel: node studio_numbers.cjs kernel.wasm script.js ...
"use strict";
const fs = require("fs");
const [wasm, ...scripts] = process.argv.slice(2);
const source = scripts.map((path) => fs.readFileSync(path, "utf8")).join("\n");
const { Kernel, Analysis } = new Function(`${source}; return { Kernel, Analysis };`)();
const list = (k, name) => Array.from(k.of(name));

const does = {
  accelerate(k, x) {
    k.set("u", x.tau);
    const status = k.accelerate();
    return { status, a: list(k, "a"), lam: list(k, "lam"), force: list(k, "force"), unique: Array.from(k.unique) };
  },
  project(k) {
    return { status: k.project(), q: list(k, "q"), v: list(k, "v") };
  },
  run(k, x) {
    k.method(x.method, 1e-8, 1e-10);
    const trouble = k.advance(x.end, Infinity, x.h);
    return { trouble, q: list(k, "q"), v: list(k, "v"), drift: k.report.drift };
  },
  mobility(k) {
    k.call.mobility(k.t);
    return { rank: k.report.rank, values: list(k, "singular_values"), gap: k.report.gap };
  },
  branches(k, x) {
    const analysis = new Analysis(k, x.data);
    const found = x.data.rank ? analysis.approach() : null;
    return { found, branches: analysis.branches(), q: list(k, "q") };
  },
  bodies(k) {
    k.accelerate();
    k.place();
    k.call.wrenches();
    k.call.energies();
    const names = ["rotations", "origins", "twists", "accelerations", "row_wrenches", "row_points", "energy"];
    return Object.fromEntries(names.map((name) => [name, list(k, name)]));
  },
  rows(k) {
    k.call.constraints(k.t);
    return Object.fromEntries(["phi", "J", "b", "gamma"].map((name) => [name, list(k, name)]));
  },
  drag(k, x) {
    k.set("lower", x.lower);
    k.set("upper", x.upper);
    const path = [];
    for (const target of x.targets) {
      k.drag(x.body, x.point, target, 200);
      path.push({ q: list(k, "q"), gap: k.gap() });
    }
    return { path };
  },
  pull(k, x) {
    k.hand(x.body, x.point, x.target, x.stiffness, x.damping);
    k.accelerate();
    return { tau: list(k, "tau") };
  },
};

(async () => {
  const compiled = await WebAssembly.compile(fs.readFileSync(wasm));
  const imports = WebAssembly.Module.imports(compiled).length;
  const results = [];
  for (const one of JSON.parse(fs.readFileSync(0, "utf8"))) {
    const k = Kernel.make(compiled, Buffer.from(one.table, "base64"));
    if (one.drives) k.drives(one.drives.first, one.drives.step, one.drives.values);
    k.put(one.q, one.v, one.t || 0);
    results.push(does[one.does](k, one));
  }
  process.stdout.write(JSON.stringify({ imports, results }));
})();
