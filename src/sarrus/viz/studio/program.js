// The Python program that makes a mechanism, from the description as sarrus saves it. Names become string literals.

const LINE = 108; // columns of the program

// A literal of Python: printable ASCII, everything else by code point
function pythonText(text) {
  const codes = Array.from(String(text), (c) => c.codePointAt(0));
  const plain = (c) => c >= 32 && c < 127 && c !== 34 && c !== 92;
  const escaped = (c) => (c < 0x10000 ? `\\u${c.toString(16).padStart(4, "0")}` : `\\U${c.toString(16).padStart(8, "0")}`);
  return `"${codes.map((c) => (plain(c) ? String.fromCodePoint(c) : c === 34 || c === 92 ? `\\${String.fromCharCode(c)}` : escaped(c))).join("")}"`;
}

// A call of sarrus: names of classes and arguments must be words, whatever a file says.
function pythonCall(name, positional, given) {
  const word = (x) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/.test(x)) throw new Error(`${x} is not a name of sarrus`);
    return x;
  };
  const inside = [...positional.map(pythonValue), ...Object.entries(given).map(([key, x]) => `${word(key)}=${pythonValue(x, key)}`)];
  const line = `${word(name)}(${inside.join(", ")})`;
  return line.length <= LINE || !name.startsWith("spec") ? line : `${name}(\n${inside.map((x) => `    ${x},\n`).join("")})`;
}

function pythonValue(x, key = "") {
  if (x === null || x === undefined) return "None";
  if (typeof x === "boolean") return x ? "True" : "False";
  if (typeof x === "number") return Number.isFinite(x) ? String(x) : `float("${x}")`;
  if (typeof x === "string") return pythonText(x);
  if (Array.isArray(x)) return `(${x.map((y) => pythonValue(y)).join(", ")}${x.length === 1 ? "," : ""})`;
  if (["at", "at_a", "at_b"].includes(key)) return pythonCall("sr.Pose", [], x);
  if (key === "joint" || key === "shape") return pythonTyped(x);
  return `{${Object.entries(x).map(([name, y]) => `${pythonText(name)}: ${pythonValue(y)}`).join(", ")}}`;
}

const pythonTyped = ({ type, ...given }) => pythonCall(`sr.${type}`, [], given);

// spec.body wants parents declared
function parentsFirst(bodies) {
  const known = new Set(["ground"]);
  const out = [];
  while (out.length < bodies.length) {
    const next = bodies.find((body) => !known.has(body.name) && known.has(body.parent));
    if (!next) throw new Error("the bodies are no tree");
    known.add(next.name);
    out.push(next);
  }
  return out;
}

function pythonProgram(document) {
  const { name, gravity, length } = document;
  const lines = ["import sarrus as sr", ""];
  lines.push(`spec = ${pythonCall("sr.MechanismSpec", [], length === undefined ? { name, gravity } : { name, gravity, length })}`);
  for (const [point, xyz] of Object.entries(document.points || {})) lines.push(pythonCall("spec.point", [point, xyz], {}));
  for (const { name: body, parent, joint, ...given } of parentsFirst(document.bodies)) lines.push(pythonCall("spec.body", [body], { parent, joint, ...given }));
  for (const { name: said, type, ...given } of document.constraints)
    lines.push(type === "Closure" ? pythonCall("spec.close", [said], given) : `spec.constrain(${pythonText(said)}, ${pythonTyped({ type, ...given })})`);
  for (const [list, does] of [["forces", "force"], ["measures", "measure"]])
    for (const { name: said, ...given } of document[list] || []) lines.push(`spec.${does}(${pythonText(said)}, ${pythonTyped(given)})`);
  for (const [list, does] of [["surfaces", "surface"], ["contacts", "contact"]])
    for (const given of document[list] || []) lines.push(pythonCall(`spec.${does}`, [], given));
  if (document.actuators) lines.push("spec.actuate()");
  for (const { name: said, limits } of document.actuators || []) lines.push(pythonCall("spec.actuate", [said], { limits }));
  for (const [said, laws] of Object.entries(document.laws || {}))
    lines.push(`spec.laws[${pythonText(said)}] = (${laws.map((law) => `${pythonCall("sr.ActuatorLaw", [], law)}, `).join("")})`);
  for (const visual of document.visuals || []) lines.push(`spec.visuals.append(${pythonCall("sr.Visual", [], visual)})`);
  if (document.floor) lines.push(pythonCall("spec.floor", [], document.floor));
  if (document.omitted) lines.push(`spec.omitted = ${pythonValue(document.omitted)}`);
  lines.push("mech = spec.compile()");
  if (document.default) lines.push(`mech = ${pythonCall("mech.with_default", [], document.default)}`);
  return [...lines, "", 'if __name__ == "__main__":', "    print(mech)", ""].join("\n");
}
