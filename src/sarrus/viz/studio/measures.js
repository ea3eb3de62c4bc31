// Points and loads in the world, and the measures that a description declares, from the arrays of the kernel.

// The quaternion of a rotation (9 numbers, row by row)
function quaternionOf(m) {
  const trace = m[0] + m[4] + m[8];
  if (trace > 0) {
    const s = 2 * Math.sqrt(trace + 1);
    return [(m[7] - m[5]) / s, (m[2] - m[6]) / s, (m[3] - m[1]) / s, s / 4];
  }
  const i = m[0] > m[4] && m[0] > m[8] ? 0 : m[4] > m[8] ? 1 : 2;
  const [j, k] = [(i + 1) % 3, (i + 2) % 3];
  const s = 2 * Math.sqrt(Math.max(1 + m[4 * i] - m[4 * j] - m[4 * k], 1e-30));
  const q = [0, 0, 0, (m[3 * k + j] - m[3 * j + k]) / s];
  [q[i], q[j], q[k]] = [s / 4, (m[3 * j + i] + m[3 * i + j]) / s, (m[3 * k + i] + m[3 * i + k]) / s];
  return q;
}

class Bodies {
  constructor(kernel, data) {
    Object.assign(this, { kernel, data });
    this.parents = data.bodies.map((body) => body.parent);
  }

  // As the kernel last placed them: rotations, origins, twists, accelerations
  get R() {
    return this.kernel.of("rotations");
  }

  get p() {
    return this.kernel.of("origins");
  }

  get V() {
    return this.kernel.of("twists");
  }

  get A() {
    return this.kernel.of("accelerations");
  }

  turned(body, x) {
    const R = this.R.subarray(9 * body, 9 * body + 9);
    return [0, 1, 2].map((i) => R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2]);
  }

  // x in world axes, in the axes of a body
  turnedBack(body, x) {
    const R = this.R.subarray(9 * body, 9 * body + 9);
    return [0, 1, 2].map((i) => R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2]);
  }

  origin(body) {
    return Array.from(this.p.subarray(3 * body, 3 * body + 3));
  }

  // World place of anchor [body, x, y, z]
  place(anchor) {
    return add(this.origin(anchor[0]), this.turned(anchor[0], anchor.slice(1)));
  }

  speed(anchor) {
    const V = this.V.subarray(6 * anchor[0], 6 * anchor[0] + 6);
    const r = this.turned(anchor[0], anchor.slice(1));
    return add([V[0], V[1], V[2]], cross([V[3], V[4], V[5]], r));
  }

  quaternion(body) {
    return quaternionOf(this.R.subarray(9 * body, 9 * body + 9));
  }

  // Wrenches of loops and forces between bodies on their second body: {name, a, b, force, moment, at, sure}
  loads() {
    const k = this.kernel;
    const [lam, W, at] = ["lam", "row_wrenches", "row_points"].map((name) => k.of(name));
    const [F, where] = ["force_wrenches", "force_points"].map((name) => k.of(name));
    const unique = k.unique;
    const loops = this.data.loops.map((loop) => {
      const sum = [0, 0, 0, 0, 0, 0];
      let sure = true;
      for (let r = loop.rows[0]; r < loop.rows[1]; r++) {
        sure = sure && unique[r] === 1;
        for (let i = 0; i < 6; i++) sum[i] += lam[r] * W[6 * r + i];
      }
      const e = loop.element;
      return { name: loop.name, a: loop.a, b: loop.b, force: sum.slice(0, 3), moment: sum.slice(3), at: Array.from(at.subarray(3 * e, 3 * e + 3)), sure };
    });
    const forces = this.data.forces.map((force, i) => {
      const x = Array.from(F.subarray(6 * i, 6 * i + 6));
      return { name: force.name, a: force.a, b: force.b, force: x.slice(0, 3), moment: x.slice(3), at: Array.from(where.subarray(3 * i, 3 * i + 3)), sure: true };
    });
    return { loops, forces };
  }

  // Wrench that the joint of each body transmits to it, at its origin: what the bodies behind it need beyond
  // their other loads (Newton and Euler), as src/sarrus/dynamics/bearings.py.
  bearings(loads, gravity, hand) {
    const n = this.parents.length;
    const force = Array.from({ length: n }, () => [0, 0, 0]);
    const moment = Array.from({ length: n }, () => [0, 0, 0]); // about the world's origin
    const put = (b, f, m, at, sign) => {
      force[b] = add(force[b], times(f, sign));
      moment[b] = add(moment[b], times(add(m, cross(at, f)), sign));
    };
    for (let b = 1; b < n; b++) {
      const { mass, com, inertia } = this.data.bodies[b];
      if (!mass && !inertia.some((x) => x)) continue;
      const [w, dw] = [Array.from(this.V.subarray(6 * b + 3, 6 * b + 6)), Array.from(this.A.subarray(6 * b + 3, 6 * b + 6))];
      const r = this.turned(b, com);
      const a = add(Array.from(this.A.subarray(6 * b, 6 * b + 3)), add(cross(dw, r), cross(w, cross(w, r))));
      const spin = (x) => {
        const local = this.turnedBack(b, x);
        return this.turned(b, [0, 1, 2].map((i) => inertia[3 * i] * local[0] + inertia[3 * i + 1] * local[1] + inertia[3 * i + 2] * local[2]));
      };
      put(b, times(sub(a, gravity), mass), add(spin(dw), cross(w, spin(w))), add(this.origin(b), r), 1);
    }
    for (const load of [...loads.loops, ...loads.forces]) {
      put(load.b, load.force, load.moment, load.at, -1);
      put(load.a, load.force, load.moment, load.at, 1);
    }
    if (hand) put(hand.body, hand.force, [0, 0, 0], hand.at, -1);
    for (let b = n - 1; b > 0; b--) {
      const up = this.parents[b];
      force[up] = add(force[up], force[b]);
      moment[up] = add(moment[up], moment[b]);
    }
    return force.map((f, b) => ({ force: f, moment: sub(moment[b], cross(this.origin(b), f)), at: this.origin(b) }));
  }
}

// Values of one measure, one number for each of its columns.
const MEASURES = {
  Length: (m, s) => [norm(sub(s.bodies.place(m.b), s.bodies.place(m.a)))],
  Position: (m, s) => s.bodies.place(m.at),
  Speed: (m, s) => s.bodies.speed(m.at),
  Angle(m, s) {
    const [axis, one] = [m.axis, m.from].map((x) => s.bodies.turned(m.a, x));
    const other = s.bodies.turned(m.b, m.to);
    return [Math.atan2(dot(axis, cross(one, other)), dot(one, other) - dot(axis, one) * dot(axis, other))];
  },
  Row: (m, s) => [m.sign * s.kernel.of("lam")[m.row]],
  Input: (m, s) => [s.kernel.of("tau")[m.coordinate]],
  // positive in tension: the force on b points from B to A
  Spring(m, s) {
    const apart = sub(s.bodies.place(m.b), s.bodies.place(m.a));
    const F = s.kernel.of("force_wrenches").subarray(6 * m.force, 6 * m.force + 3);
    return [-dot(F, apart) / (norm(apart) || 1)];
  },
  Linear: (m, s) => [m.stiffness * (s.kernel.of("q")[m.q] - m.rest) + m.damping * s.kernel.of("v")[m.v]],
  Reaction(m, s) {
    const loads = s.loads();
    const found = m.loop >= 0 ? loads.loops[m.loop] : loads.joints[m.body];
    const axes = (x) => {
      if (m.frame < 0) return x;
      const local = s.bodies.turnedBack(m.frame, x);
      return [0, 1, 2].map((i) => m.axes[i] * local[0] + m.axes[3 + i] * local[1] + m.axes[6 + i] * local[2]);
    };
    const sign = m.backwards ? -1 : 1;
    return [...axes(times(found.force, sign)), ...axes(times(found.moment, sign))];
  },
};
