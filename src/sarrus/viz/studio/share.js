// The state as a link or a file: numbers only, checked when they come back.

const numbersOf = (x, n) => Array.isArray(x) && x.length === n && x.every((v) => typeof v === "number" && Number.isFinite(v));

// What may be restored from a text of JSON for sizes {nq, nv, nb, stops}; throws with a reason
function checkedState(text, { nq, nv, nb, stops }) {
  const given = JSON.parse(text);
  if (!given || typeof given !== "object") throw new Error("it is not a state");
  if (!numbersOf(given.q, nq) || !numbersOf(given.v, nv)) throw new Error(`it is not a state of this mechanism (${nq} positions, ${nv} velocities)`);
  const out = { q: given.q, v: given.v, t: Number.isFinite(given.t) ? given.t : 0 };
  out.gravity = Number.isFinite(given.gravity) ? Math.min(Math.max(given.gravity, 0), 2) : 1;
  out.stop = Number.isInteger(given.stop) && given.stop >= 0 && given.stop < stops ? given.stop : undefined;
  for (const name of SETTINGS) out[name] = numbersOf(given[name], nv) ? given[name] : undefined;
  out.traces = Array.isArray(given.traces) ? given.traces.filter((x) => numbersOf(x, 4) && Number.isInteger(x[0]) && x[0] >= 0 && x[0] < nb).slice(0, 6) : [];
  out.eye = numbersOf(given.eye, 6) ? given.eye : undefined;
  return out;
}

// Edits of a text of JSON; each checks its own numbers when it is made
function checkedEdits(text) {
  const { edits = [] } = JSON.parse(text) || {};
  if (!Array.isArray(edits) || edits.length > 200 || !edits.every((edit) => edit && typeof edit === "object")) throw new Error("its edits are none");
  return edits;
}

const toFragment = (text) => btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const fromFragment = (text) => atob(text.replace(/-/g, "+").replace(/_/g, "/"));

function download(name, text, type = "application/json") {
  const link = element("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
