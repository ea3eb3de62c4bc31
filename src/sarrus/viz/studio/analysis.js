// What a pose can do: degrees of freedom, redundant rows, nearness of singular poses, branches.

// V (n columns of n numbers) orthogonal and norms of the columns of A V, descending; A (m rows of n).
// One-sided Jacobi rotations, [Golub2013] sec. 8.6.3
function singular(A, m, n) {
  const B = Array.from({ length: n }, (_, j) => Array.from({ length: m }, (_, i) => A[i * n + j]));
  const V = Array.from({ length: n }, (_, j) => Array.from({ length: n }, (_, i) => (i === j ? 1 : 0)));
  const turn = (x, y, c, s) => x.forEach((v, i) => ([x[i], y[i]] = [c * v - s * y[i], s * v + c * y[i]]));
  for (let sweep = 0, worst = 1; sweep < 40 && worst > 1e-15; sweep++) {
    worst = 0;
    for (let p = 0; p < n; p++)
      for (let q = p + 1; q < n; q++) {
        const [a, b, c] = [inner(B[p], B[p]), inner(B[q], B[q]), inner(B[p], B[q])];
        if (Math.abs(c) <= 1e-300 || Math.abs(c) <= 1e-16 * Math.sqrt(a * b)) continue;
        worst = Math.max(worst, Math.abs(c) / Math.max(Math.sqrt(a * b), 1e-30));
        const zeta = (b - a) / (2 * c);
        const t = Math.sign(zeta || 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
        const cosine = 1 / Math.hypot(1, t);
        turn(B[p], B[q], cosine, cosine * t);
        turn(V[p], V[q], cosine, cosine * t);
      }
  }
  const order = B.map((x, j) => [Math.sqrt(inner(x, x)), j]).sort((x, y) => y[0] - x[0]);
  return { norms: order.map((x) => x[0]), V: order.map((x) => V[x[1]]), U: order.map(([s, j]) => B[j].map((x) => (s > 0 ? x / s : 0))) };
}

// A (m rows of n) as n rows of m
const transposed = (A, m, n) => Float64Array.from({ length: m * n }, (_, k) => A[(k % m) * n + Math.floor(k / m)]);

// Rows of J (nc rows of nv) that depend on rows above them: as many as rank leaves, by Gram and Schmidt, twice
function dependentRows(J, nc, nv, rank) {
  const basis = [];
  const left = [];
  for (let r = 0; r < nc; r++) {
    const row = Array.from(J.subarray(r * nv, r * nv + nv));
    for (let twice = 0; twice < 2; twice++)
      for (const b of basis) {
        const s = b.reduce((sum, x, j) => sum + x * row[j], 0);
        b.forEach((x, j) => (row[j] -= s * x));
      }
    const size = Math.hypot(...row);
    left.push([size, r]);
    if (size > 1e-9) basis.push(row.map((x) => x / size));
  }
  return left.sort((x, y) => x[0] - y[0]).slice(0, nc - rank).map((x) => x[1]).sort((x, y) => x - y);
}

const SINGULAR_POSE = 1e-6; // singular values of J without units below this are lost
const ASIDE = 0.2; // how far beside a step along a branch further starts lie, relative to the step
const MOST_OWNERS = 6; // constraints whose redundant rows are named
const LARGE = 60; // coordinates: the analysis of larger mechanisms waits until it is asked for

class Analysis {
  constructor(kernel, data) {
    Object.assign(this, { kernel, data, generic: data.rank });
  }

  get large() {
    return this.kernel.nv > LARGE;
  }

  // {dof, rank, redundant (indices), nearness, singular} at the state of the kernel
  look() {
    const k = this.kernel;
    k.call.mobility(k.t);
    const { rank } = k.report;
    const values = k.of("singular_values");
    this.generic = Math.max(this.generic, rank);
    const nearness = this.generic ? values[this.generic - 1] : Infinity;
    const redundant = dependentRows(k.of("J"), k.nc, k.nv, rank);
    return { dof: k.nv - rank, rank, redundant, nearness, singular: nearness < SINGULAR_POSE };
  }

  // Rows by the constraint that they belong to, by the names of the drawing: "coupler at D: tz, rx; gear"
  rowNames(rows) {
    const byOwner = new Map();
    for (const r of rows) {
      const loop = this.data.loops.find(({ rows: [begin, end] }) => r >= begin && r < end);
      const owner = loop ? loop.label ?? loop.name : this.data.rows[r];
      const own = loop && this.data.rows[r].startsWith(`${loop.name}.`) ? [this.data.rows[r].slice(loop.name.length + 1)] : [];
      byOwner.set(owner, [...(byOwner.get(owner) || []), ...own]);
    }
    const shown = [...byOwner].slice(0, MOST_OWNERS).map(([owner, own]) => (own.length ? `${owner}: ${own.join(", ")}` : owner));
    return shown.join("; ") + (byOwner.size > MOST_OWNERS ? "; …" : "");
  }

  words(found) {
    const { nv, nc } = this.kernel;
    const many = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
    const said = [`${many(found.dof, "degree")} of freedom: ${many(nv, "coordinate")} less ${found.rank} independent constraint rows${found.rank < nc ? ` (of ${nc})` : ""}.`];
    if (found.dof === 0) said.push(this.data.drives ? "Nothing moves but what the drives prescribe." : "It cannot move from this pose.");
    if (found.redundant.length) {
      said.push(`${many(found.redundant.length, "row")} depend${found.redundant.length === 1 ? "s" : ""} on rows declared before: ${this.rowNames(found.redundant)}.${found.singular ? "" : " The motion is unique; how these rows share the load is not."}`);
    }
    if (found.singular) said.push("The pose is singular: not every velocity that is possible here continues into a motion.");
    return said;
  }

  // The pose here + step times a direction without units
  move(here, direction, step) {
    const k = this.kernel;
    k.of("q").set(here);
    k.of("dq").set(direction.map((x, j) => x * step * this.data.unit[j]));
    k.call.integrate();
    k.of("q").set(k.of("q1"));
  }

  // Moves the kernel's pose along a direction and back onto the constraints; the direction in which it has gone, without
  // units, or null where the constraints do not close.
  stepAlong(along, step) {
    const k = this.kernel;
    const here = k.of("q").slice();
    this.move(here, along, step);
    if (k.closePose()) {
      k.of("q").set(here);
      return null;
    }
    const there = k.of("q").slice();
    k.of("q1").set(there);
    k.of("q").set(here);
    k.call.difference();
    const gone = Array.from(k.of("dq"), (x, j) => x / this.data.unit[j]);
    k.of("q").set(there);
    const size = Math.hypot(...gone) || 1;
    return gone.map((x) => x / size);
  }

  // Directions (nv, without units, of unit size) in which the constraints can be followed from a singular pose:
  // w^T gamma(v) = 0 for every left null vector w (src/sarrus/projection/branches.py), then followed a little.
  branches() {
    const k = this.kernel;
    const [here, t] = [k.of("q").slice(), k.t];
    k.call.mobility(t);
    const J = k.of("J").slice();
    const right = singular(J, k.nc, k.nv);
    const left = singular(transposed(J, k.nc, k.nv), k.nv, k.nc);
    const N = right.V.filter((_, j) => right.norms[j] < SINGULAR_POSE);
    const lost = left.V.filter((_, j) => left.norms[j] < SINGULAR_POSE);
    const directions = coneLines(this.forms(here, N, lost), N.length).map((y) => this.combined(N, y));
    const found = [];
    for (const x of directions)
      for (const sign of [1, -1]) {
        const along = x.map((v) => sign * v);
        if (this.follows(here, along, N)) found.push(along);
      }
    k.put(here, new Float64Array(k.nv), t);
    return found;
  }

  combined(N, y) {
    return Array.from({ length: this.kernel.nv }, (_, j) => N.reduce((s, n, i) => s + y[i] * n[j], 0));
  }

  // Quadratic forms on the null space, of unit size, without those that depend on others
  forms(here, N, lost) {
    const k = this.kernel;
    const value = (y) => {
      k.of("q").set(here);
      k.of("v").set(this.combined(N, y).map((x, j) => x * this.data.unit[j]));
      k.call.held_constraints(k.t);
      const gamma = Array.from(k.of("gamma"), (x, r) => x / this.data.row_unit[r]);
      return lost.map((w) => w.reduce((s, x, r) => s + x * gamma[r], 0));
    };
    const e = (i, s = 1) => N.map((_, k2) => (k2 === i ? s : 0));
    const single = N.map((_, i) => value(e(i)));
    const forms = lost.map((_, l) => N.map((_, i) => N.map((_, j) => (i === j ? single[i][l] : 0))));
    for (let i = 0; i < N.length; i++)
      for (let j = 0; j < i; j++) {
        const both = value(e(i).map((x, m) => x + e(j)[m]));
        const apart = value(e(i).map((x, m) => x - e(j)[m]));
        lost.forEach((_, l) => (forms[l][i][j] = forms[l][j][i] = (both[l] - apart[l]) / 4));
      }
    return independentForms(forms);
  }

  // Whether corrections back onto the constraints fall faster than the steps along a direction
  follows(here, along, N) {
    const [far, near] = [0.02, 0.005].map((step) => this.correction(here, along, step, N));
    return near < Math.max(0.6 * far, 1e-7) && near < 0.5;
  }

  // The correction that a step along a direction needs, over the step. Where the straight step does not close, steps
  // that start beside it are tried: at a cusp the rows' gradient points along the direction.
  correction(here, along, step, N) {
    const k = this.kernel;
    this.move(here, along, step);
    const straight = k.of("q").slice();
    let best = Infinity;
    for (const aside of [along.map(() => 0), ...N.flatMap((n) => [n, n.map((x) => -x)])]) {
      this.move(straight, aside, ASIDE * step);
      if (!k.closePose()) {
        k.of("q1").set(k.of("q"));
        k.of("q").set(straight);
        k.call.difference();
        best = Math.min(best, Math.hypot(...Array.from(k.of("dq"), (x, j) => x / this.data.unit[j])) / step);
      }
      if (best < ASIDE) break;
    }
    return best;
  }
}
