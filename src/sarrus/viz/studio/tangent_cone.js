// The tangent cone at a singular pose to second order: unit vectors y with y^T Q y = 0 for all of some quadratic forms.
// The same pieces as in src/sarrus/projection/tangent_cone.py: lines, planes by a basis, samples of curved cones.

const VANISHES = 1e-7; // values of forms of unit size and eigenvalues below this are zero
const SAME = 1e-5; // singular values that are zero, distances of directions and planes that are equal
const COINCIDE = 1e-4, OFTEN = 3; // at least OFTEN solutions within this distance of each other are a line
const ROUNDS = 60, LEAST_STARTS = 200, MOST_STARTS = 1000; // of Gauss and Newton
const MOST_WAYS = 12; // directions up to sign
const CLOSEST_SAMPLES = 1e-4; // 1 - cosine between samples of a curved cone

const inner = (x, y) => x.reduce((s, v, i) => s + v * y[i], 0);
const applied = (Q, y) => Q.map((row) => inner(row, y));
const normalized = (y) => y.map((x) => x / Math.hypot(...y));
const without = (x, y, share) => x.map((v, i) => v - share * y[i]);

// Forms (d rows of d numbers) of unit size with the same span: Gram and Schmidt, the largest remainder next
function independentForms(forms) {
  const size = (Q) => Math.hypot(...Q.flat());
  const out = [];
  for (let left = forms; left.length; ) {
    const best = left.reduce((a, b) => (size(b) > size(a) ? b : a));
    const s = size(best);
    if (s < 1e-6) break;
    const unitForm = best.map((row) => row.map((x) => x / s));
    out.push(unitForm);
    left = left.filter((Q) => Q !== best).map((Q) => {
      const part = inner(Q.flat(), unitForm.flat());
      return Q.map((row, i) => without(row, unitForm[i], part));
    });
  }
  return out;
}

// Directions y of d numbers, up to sign, at most MOST_WAYS
function coneLines(forms, d) {
  if (d === 0) return [];
  if (!forms.length) return Array.from({ length: Math.min(d, MOST_WAYS) }, (_, i) => Array.from({ length: d }, (_, j) => (i === j ? 1 : 0)));
  const planes = forms.length === 1 ? planesOf(forms[0]) : null;
  return (planes || piecesOf(forms, solutions(forms, d))).slice(0, MOST_WAYS);
}

// The cone of one form where it is flat: its null space, or bases of two hyperplanes; null where it is curved
function planesOf(Q) {
  const d = Q.length;
  const shift = Math.hypot(...Q.flat());
  const { norms, V } = singular(Q.flatMap((row, i) => row.map((x, j) => (i === j ? x + shift : x))), d, d);
  const values = norms.map((x) => x - shift); // descending
  const up = values.filter((x) => x > VANISHES).length;
  const down = values.filter((x) => x < -VANISHES).length;
  if (!up || !down) return V.slice(up, d - down);
  if (up > 1 || down > 1) return null;
  const normal = (sign) => V[0].map((x, i) => Math.sqrt(values[0]) * x + sign * Math.sqrt(-values[d - 1]) * V[d - 1][i]);
  return [1, -1].flatMap((sign) => nullSpace([normal(sign)], d));
}

// Orthonormal vectors of d numbers on which all rows vanish
function nullSpace(rows, d) {
  const { norms, V } = singular(rows.flat(), rows.length, d);
  return V.filter((_, j) => norms[j] <= SAME);
}

// Unit vectors on the cone, from fixed starts by Gauss and Newton on the sphere
function solutions(forms, d) {
  const starts = Math.min(Math.max(LEAST_STARTS, 40 * 2 ** forms.length), d > 8 ? LEAST_STARTS : MOST_STARTS);
  let seed = 1853;
  const random = () => ((seed = (seed * 1103515245 + 12345) % 2147483648) / 1073741824) - 1;
  const found = [];
  for (let start = 0; start < starts; start++) {
    let y = normalized(Array.from({ length: d }, random));
    for (let round = 0, moved = 1; round < ROUNDS && moved > 1e-15; round++) {
      const next = newtonStep(forms, y);
      moved = Math.hypot(...without(next, y, 1));
      y = next;
    }
    if (forms.every((Q) => Math.abs(inner(y, applied(Q, y))) < 1e-12)) found.push(y);
  }
  return found;
}

// The shortest step at which all forms vanish to first order and y stays on the sphere
function newtonStep(forms, y) {
  const slopes = forms.map((Q) => applied(Q, y).map((x) => 2 * x));
  const rows = [...slopes, y];
  const columns = y.flatMap((_, j) => rows.map((row) => row[j]));
  const { norms, U, V } = singular(columns, y.length, rows.length);
  let next = y;
  norms.forEach((s, k) => {
    if (s <= 1e-9 * norms[0]) return;
    const share = slopes.reduce((sum, slope, i) => sum + (V[k][i] * inner(slope, y)) / 2, 0);
    next = without(next, U[k], share / s);
  });
  return normalized(next);
}

// Lines, bases of planes, then samples of curved pieces among points of the cone
function piecesOf(forms, points) {
  const { lines, others } = sortedOut(points);
  const planes = [];
  const samples = [];
  const within = (basis, y) => Math.hypot(...basis.reduce((left, n) => without(left, n, inner(n, y)), y)) < 10 * SAME;
  for (const y of others) {
    if (planes.some((basis) => within(basis, y))) continue;
    const tangent = nullSpace(forms.map((Q) => applied(Q, y)), y.length);
    const flat = forms.every((Q) => tangent.every((a) => tangent.every((b) => Math.abs(inner(a, applied(Q, b))) < 10 * VANISHES)));
    if (flat) planes.push(tangent);
    else if (samples.length < MOST_WAYS && samples.every((z) => Math.abs(inner(y, z)) < 1 - CLOSEST_SAMPLES)) samples.push(y);
  }
  return [...lines, ...planes.flat(), ...samples];
}

// Directions that OFTEN starts or more have found, up to sign, and the other points
function sortedOut(points) {
  const lines = [];
  const others = [];
  for (let left = points; left.length; ) {
    const first = left[0];
    const near = left.filter((y) => 1 - Math.abs(inner(y, first)) < 0.5 * COINCIDE ** 2);
    if (near.length >= OFTEN) {
      const together = near.map((y) => (inner(y, first) < 0 ? y.map((x) => -x) : y));
      lines.push(normalized(first.map((_, i) => together.reduce((s, y) => s + y[i], 0))));
    } else others.push(...near);
    left = left.filter((y) => !near.includes(y));
  }
  return { lines, others };
}
