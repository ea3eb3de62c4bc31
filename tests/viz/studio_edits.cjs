// Makes edits of cases from standard input: node studio_edits.cjs kernel.wasm script.js ...
"use strict";
const fs = require("fs");
const [wasm, ...scripts] = process.argv.slice(2);
const wanted = "{ Kernel, Description, Bodies, pythonProgram }";
const source = scripts.map((path) => fs.readFileSync(path, "utf8")).join("\n");
const { Kernel, Description, Bodies, pythonProgram } = new Function(`${source}; return ${wanted};`)();

// An edit given by numbers of pins and ways in the plane, as the page makes it
function completed({ at = 0, end = null, by = [0, 0], ...edit }, description, world) {
  const { right, up } = description.data.edit;
  const pins = description.pins(world);
  const way = right.map((x, i) => by[0] * x + by[1] * up[i]);
  const pin = pins[at % pins.length];
  const moved = pin.at.map((x, i) => x + way[i]);
  const last = (one) => [one.bodies[one.bodies.length - 1], ...one.at];
  const q = description.data.q;
  if (edit.kind === "pin") return { ...edit, q, pin: at % pins.length, to: moved };
  if (edit.kind === "bar") return { ...edit, q, from: [pin.bodies[0], ...pin.at], to: end === null ? [-1, ...moved] : last(pins[end % pins.length]) };
  return edit.kind === "slider" ? { ...edit, q, on: last(pin), along: way } : { ...edit, q };
}

(async () => {
  const module = await WebAssembly.compile(fs.readFileSync(wasm));
  const placed = (description) => {
    const k = Kernel.make(module, description.table.bytes());
    k.put(description.data.q, new Float64Array(k.nv), 0);
    k.place();
    return k;
  };
  const results = JSON.parse(fs.readFileSync(0, "utf8")).map(({ data, table, edits }) => {
    let made = Description.from(data, Buffer.from(table, "base64"));
    for (const edit of edits) made = made.edited(completed(edit, made, new Bodies(placed(made), made.data)), module);
    const k = placed(made);
    const gap = k.gap();
    const pins = made.pins(new Bodies(k, made.data)).map((pin) => pin.at);
    k.set("v", Float64Array.from({ length: k.nv }, (_, i) => Math.sin(1 + i)));
    const status = k.project();
    k.accelerate();
    k.place();
    k.call.mobility(0);
    const { rank } = k.report;
    k.call.constraints(0);
    const arrays = Object.fromEntries(["q", "v", "a", "lam", "J", "phi", "origins"].map((name) => [name, Array.from(k.of(name))]));
    const document = { ...made.document, default: { q: arrays.q, v: arrays.v } };
    const names = { bodies: made.data.bodies.map((body) => body.name), rows: made.data.rows, motors: made.data.motors.map((motor) => motor.name) };
    return { ...arrays, ...names, pins, gap, status, rank, json: JSON.stringify(document), program: pythonProgram(document) };
  });
  process.stdout.write(JSON.stringify(results));
})();
