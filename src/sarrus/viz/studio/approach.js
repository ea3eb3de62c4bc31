// The way from a pose to a singular pose near by.

const LOST = 1e-11; // singular values of J without units that are zero
const ON_ROWS = 1e-13; // size of phi without units that is zero
const CLOSE = 1e-2; // smallest singular value from which the singular pose is tried at once
const LONGEST = 0.1, SHORTEST = 1e-3, MOST_ROUNDS = 80; // steps [rad, or times L], their halving, how many

Object.assign(Analysis.prototype, {
  // Moves the kernel to a singular pose near by; {found, least: the smallest singular value on the way}. Newton along
  // the constraints on the smallest singular value that counts; steps are halved until it falls.
  approach() {
    const k = this.kernel;
    const start = k.of("q").slice();
    const size = () => (k.call.mobility(k.t), k.of("singular_values")[this.generic - 1]);
    let least = size();
    for (let round = 0; round < MOST_ROUNDS; round++) {
      if (least < CLOSE && this.landOnSingular()) return { found: true, least: size() };
      const here = k.of("q").slice();
      const along = this.towardsSingular(here);
      let step = along ? 1 : 0;
      for (; step > SHORTEST; step /= 2) {
        this.move(here, along, step);
        const next = k.closePose() ? Infinity : size();
        if (next < (1 - 0.1 * step) * least) {
          least = next;
          break;
        }
      }
      if (step > SHORTEST) continue;
      k.of("q").set(here);
      break;
    }
    const found = least < 0.1 * SINGULAR_POSE; // several singular values vanish together
    if (!found) k.set("q", start);
    return { found, least };
  },

  // From next to a singular pose onto it, where branches meet: with the left vector u of the smallest singular value and
  // all vectors v_i that are nearly in the null space, phi = 0 in the other directions and u^T J v_i = 0 for every i.
  // False where that has no solution here on the constraints: the branches miss each other.
  landOnSingular() {
    const k = this.kernel;
    const [start, r] = [k.of("q").slice(), this.generic - 1];
    for (let round = 0; round < 8; round++) {
      const here = k.of("q").slice();
      k.call.mobility(k.t);
      const { norms, V, U } = singular(k.of("J").slice(), k.nc, k.nv);
      k.call.constraints(k.t);
      const phi = Array.from(k.of("phi"), (x, i) => x / this.data.row_unit[i]);
      if (norms[r] < LOST && Math.hypot(...phi) < ON_ROWS) return true;
      const free = V.slice(r);
      const form = free.map((v) => free.map((w) => this.slope(here, U[r], v, w)));
      const { norms: sizes, V: X, U: Y } = singular(form.flat(), free.length, free.length);
      const along = new Array(k.nv).fill(0);
      const put = (x, size) => x.forEach((y, j) => (along[j] += size * y));
      sizes.forEach((s, m) => s > 1e-6 * sizes[0] && X[m].forEach((x, i) => put(free[i], (-norms[r] * Y[m][0] * x) / s)));
      for (let i = 0; i < r; i++) put(V[i], -U[i].reduce((sum, x, m) => sum + x * phi[m], 0) / norms[i]);
      if (!(Math.hypot(...along) < LONGEST)) break;
      this.move(here, along, 1);
    }
    k.of("q").set(start);
    return false;
  },

  // d/ds u^T J(q + s along) v at s = 0, without units
  slope(here, u, v, along) {
    const k = this.kernel;
    const side = [1, -1].map((sign) => {
      this.move(here, along, 1e-5 * sign);
      k.call.mobility(k.t);
      const J = k.of("J");
      return u.reduce((s, x, i) => s + x * v.reduce((z, y, j) => z + y * J[i * k.nv + j], 0), 0);
    });
    return (side[0] - side[1]) / 2e-5;
  },

  // The step of Newton (nv, without units) from a pose to where the smallest singular value is zero, not longer than
  // LONGEST; null where it is stationary along the motions of the pose.
  towardsSingular(here) {
    const k = this.kernel;
    const r = this.generic - 1;
    k.of("q").set(here);
    k.call.mobility(k.t);
    const { norms, V, U } = singular(k.of("J").slice(), k.nc, k.nv);
    const slopes = V.slice(this.generic).map((n) => this.slope(here, U[r], V[r], n));
    const steepest = Math.hypot(...slopes);
    if (!(steepest > 1e-7)) return null;
    const length = Math.min(LONGEST, norms[r] / steepest);
    const along = new Array(k.nv).fill(0);
    slopes.forEach((x, i) => V[this.generic + i].forEach((y, j) => (along[j] -= (length / steepest) * x * y)));
    return along;
  },
});
