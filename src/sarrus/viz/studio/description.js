// A planar mechanism as data that can be edited: the table of the kernel, the description as sarrus saves it, and
// what the page shows, changed together. Edits are made at a pose: nothing that they do not name moves in the world.

const HINGE = 1, SLIDE = 2; // kernels/tree/model.hpp
const SAME_PLACE = 1e-9; // of the length of the mechanism
const PART_COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6d5f", "#9467bd"]; // as in viz/style.py
const PIN_COLOR = "#59626b", FOOT_COLOR = "#a4abb3";

// 3 x 3 matrices, row by row
const turned3 = (R, x) => [0, 1, 2].map((i) => R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2]);
const turnedBack3 = (R, x) => [0, 1, 2].map((i) => R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2]);
const transposed3 = (R) => [0, 3, 6, 1, 4, 7, 2, 5, 8].map((i) => R[i]);
const columns3 = (x, y, z) => transposed3([...x, ...y, ...z]);
const product3 = (A, B) => columns3(...[0, 1, 2].map((j) => turned3(A, [B[j], B[3 + j], B[6 + j]])));
const axis3 = (k) => [0, 1, 2].map((i) => (i === k ? 1 : 0));
const IDENTITY = columns3(axis3(0), axis3(1), axis3(2));
// Which axis a unit vector lies along, -1: none
const axisNumber = (n) => n.findIndex((x) => Math.abs(Math.abs(x) - 1) < 1e-12);
// The rotation that takes z to axis k
const toAxis = (k) => columns3(axis3((k + 1) % 3), axis3((k + 2) % 3), axis3(k));
const rows3 = (R) => [R.slice(0, 3), R.slice(3, 6), R.slice(6, 9)];
const isIdentity = (R) => R.every((x, i) => x === IDENTITY[i]);
const poseData = (xyz, R = IDENTITY) => (isIdentity(R) ? { xyz: xyz.slice() } : { xyz: xyz.slice(), matrix: rows3(R) });
const shiftFrom = (list, start, d, sign = 1) => d.forEach((x, k) => (list[start + k] += sign * x));

// Everything in a description that is fixed on a body: [name of the body, point]
function* pointsIn(document) {
  for (const body of document.bodies) {
    yield [body.parent, body.at.xyz];
    for (const point of [body.com, ...(body.outline || [])]) yield [body.name, point];
  }
  for (const entry of [...document.constraints, ...document.forces, ...(document.measures || [])]) {
    for (const side of ["a", "b"])
      for (const point of [entry[`p_${side}`], entry[`at_${side}`] && entry[`at_${side}`].xyz]) if (point) yield [entry[side], point];
    if (entry.body && entry.point) yield [entry.body, entry.point];
  }
  for (const visual of [...(document.visuals || []), ...(document.surfaces || [])]) yield [visual.body, visual.at.xyz];
}

class Description {
  // data of the page, the kernel's table, the description
  static from(data, bytes) {
    const document = structuredClone(data.edit.document);
    for (const body of document.bodies) {
      body.com = body.com || [0, 0, 0];
      body.at = body.at || { xyz: [0, 0, 0] };
    }
    for (const visual of [...(document.visuals || []), ...(document.surfaces || [])]) visual.at = visual.at || { xyz: [0, 0, 0] };
    return new Description(data, new Table(bytes, data.edit), document);
  }

  constructor(data, table, document) {
    Object.assign(this, { data, table, document });
  }

  copy() {
    const { data } = this;
    const own = ["bodies", "coordinates", "rows", "unit", "row_unit", "limits", "loops", "motors", "measures"];
    const next = { ...data, stops: null, run: null, ...Object.fromEntries(own.map((name) => [name, structuredClone(data[name])])) };
    next.film = { ...data.film, solids: structuredClone(data.film.solids) };
    return new Description(next, this.table.copy(), structuredClone(this.document));
  }

  // Another description with one edit {kind, q (pose at which it is made), ...}; throws where it does not fit
  edited(edit, module) {
    const next = this.copy();
    const k = Kernel.make(module, next.table.bytes());
    if (!numbersOf(edit.q, k.nq)) throw new Error("an edit does not fit this mechanism");
    k.put(edit.q, new Float64Array(k.nv), 0);
    k.place();
    next.world = new Bodies(k, this.data);
    next.data.q = edit.q.slice();
    if (!Object.hasOwn(EDITS, edit.kind)) throw new Error("an edit is of no known kind");
    EDITS[edit.kind](next, edit);
    Object.assign(next.data, { v: new Array(next.data.coordinates.length).fill(0), t: 0, rank: 0 });
    next.data.words = `${next.data.coordinates.length} coordinates, ${next.data.rows.length} constraint rows.`;
    return next;
  }

  // ---------------------------------------------------------------- frames, at the pose in `world`

  // d in world axes, in the axes of the node of a body, or of the body
  onNode(b, d) {
    return turned3(this.table.R_NB.slice(9 * b, 9 * b + 9), this.onBody(b, d));
  }

  onBody(b, d) {
    return this.world.turnedBack(b, d);
  }

  // A world point in the frame of a body, and in that of its node
  local(b, p) {
    return this.onBody(b, sub(p, this.world.origin(b)));
  }

  localNode(b, p) {
    return add(turned3(this.table.R_NB.slice(9 * b, 9 * b + 9), this.local(b, p)), this.table.p_NB.slice(3 * b, 3 * b + 3));
  }

  // World place of a point in the node frame of body b
  fromNode(b, x) {
    const onBody = turnedBack3(this.table.R_NB.slice(9 * b, 9 * b + 9), sub(x, this.table.p_NB.slice(3 * b, 3 * b + 3)));
    return this.world.place([b, ...onBody]);
  }

  // The normal of the plane on a body: axis k where it is one of the body's axes, else frame F with it as z
  axisOn(b) {
    const n = this.onBody(b, this.data.plane);
    const k = axisNumber(n);
    return k >= 0 ? { k, F: IDENTITY } : { k: 2, F: columns3(...across(n), n) };
  }

  // ---------------------------------------------------------------- pins

  // Joints at one place of one body move together: [{joints: [{body} or {loop}], at, bodies, name}]
  pins(world = this.world) {
    const { data, table, document } = this;
    this.world = world;
    const found = [];
    const given = new Map(document.bodies.map((body) => [body.name, body]));
    data.bodies.forEach((body, b) => {
      if (b && given.get(body.name).joint.type === "Revolute") found.push({ joints: [{ body: b }], at: world.origin(b), bodies: [body.parent, b], name: body.name });
    });
    data.loops.forEach((loop, i) => {
      if (!this.holdsPoint(loop)) return;
      const begin = table.el_begin[loop.element];
      found.push({ joints: [{ loop: i }], at: this.fromNode(loop.b, table.el_values.slice(begin + 3, begin + 6)), bodies: [loop.a, loop.b], name: loop.name });
    });
    return found.reduce((pins, one) => (this.join(pins, one) ? pins : [...pins, one]), []);
  }

  // Whether a loop is a pin, or a point in a slot of the plane
  holdsPoint(loop) {
    const said = this.document.constraints.find((entry) => entry.name === loop.name);
    const along = (axis) => Math.abs(dot(this.world.turned(loop.a, axis), this.data.plane));
    if (!said) return false;
    if (said.type === "Closure") return said.joint.type === "Revolute";
    return (said.type === "PointOnLine" && along(said.direction) > 1 - 1e-9) || (said.type === "PointOnPlane" && along(said.normal) < 1e-9);
  }

  // Bodies that are one rigid body with b: on its node, or welded to it, as parts of drawings whose loops are cut
  rigidWith(b) {
    const { data, table, document } = this;
    const welded = new Set(document.constraints.filter((entry) => entry.type === "Closure" && entry.joint.type === "Fixed").map((entry) => entry.name));
    const found = new Set([b]);
    for (let before = 0; before < found.size; ) {
      before = found.size;
      data.bodies.forEach((_, c) => [...found].some((d) => table.body_node[c] === table.body_node[d]) && found.add(c));
      for (const loop of data.loops) if (welded.has(loop.name) && (found.has(loop.a) || found.has(loop.b))) found.add(loop.a).add(loop.b);
    }
    return [...found];
  }

  join(pins, one) {
    const shared = (pin) => pin.bodies.some((b) => this.rigidWith(b).some((c) => one.bodies.includes(c)));
    const same = pins.find((pin) => norm(this.inPlane(sub(pin.at, one.at))) < SAME_PLACE * this.data.length && shared(pin));
    if (!same) return false;
    same.joints.push(...one.joints);
    same.bodies.push(...one.bodies.filter((b) => !same.bodies.includes(b)));
    return true;
  }

  // The joint frame of body b, and with it the body's frame, moves by d; all else on the body stays.
  shiftJoint(b, d) {
    const { table: T, data, document } = this;
    const n = T.body_node[b];
    const [onNode, onBody, parent] = [this.onNode(b, d), this.onBody(b, d), data.bodies[b].parent];
    shiftFrom(T.p_PJ, 3 * n, this.onNode(parent, d));
    shiftFrom(T.com, 3 * n, onNode, -1);
    T.parent.forEach((p, c) => c && p === n && shiftFrom(T.p_PJ, 3 * c, onNode, -1));
    T.body_node.forEach((m, i) => m === n && i !== b && shiftFrom(T.p_NB, 3 * i, onNode, -1));
    for (const family of ["el", "fo"])
      T[`${family}_begin`].forEach((begin, i) =>
        ["a", "b"].forEach((side, s) => T[`${family}_${side}`][i] === n && shiftFrom(T[`${family}_values`], begin + 3 * s, onNode, -1)),
      );
    const { name } = data.bodies[b];
    for (const [body, point] of pointsIn(document)) if (body === name) shiftFrom(point, 0, onBody, -1);
    shiftFrom(document.bodies.find((body) => body.name === name).at.xyz, 0, this.onBody(parent, d));
    shiftFrom(data.bodies[b].com, 0, onBody, -1);
    for (const measure of data.measures) for (const key of ["a", "b", "at"]) if (Array.isArray(measure[key]) && measure[key][0] === b) shiftFrom(measure[key], 1, onBody, -1);
    for (const solid of data.film.solids) this.shiftSolid(solid, b, times(onBody, -1));
  }

  shiftLoop(i, d) {
    const { table: T, data, document } = this;
    const loop = data.loops[i];
    const said = document.constraints.find((entry) => entry.name === loop.name);
    ["a", "b"].forEach((side, s) => {
      shiftFrom(T.el_values, T.el_begin[loop.element] + 3 * s, this.onNode(loop[side], d));
      shiftFrom(said[`p_${side}`] || said[`at_${side}`].xyz, 0, this.onBody(loop[side], d));
    });
  }

  // ---------------------------------------------------------------- new parts

  name(stem) {
    const { data } = this;
    const taken = new Set([...data.bodies, ...data.coordinates, ...data.loops, ...data.forces, ...data.measures].map((x) => x.name));
    for (const entry of [...this.document.constraints, ...this.document.forces]) taken.add(entry.name);
    for (let i = 1; ; i++) if (!taken.has(`${stem} ${i}`)) return `${stem} ${i}`;
  }

  // A body on parent whose joint is at p: type HINGE or SLIDE along axis k of F (in axes of the parent), at q.
  // com and inertia (diagonal) in its own axes.
  addBody(name, { parent, p, type, k, F, q, mass, com, inertia, outline }) {
    const { table: T, data, document } = this;
    const turn = toAxis(k);
    const onParent = product3(T.R_NB.slice(9 * parent, 9 * parent + 9), F);
    const node = T.parent.length;
    const nv = data.coordinates.length;
    const I = product3(transposed3(turn), product3([inertia[0], 0, 0, 0, inertia[1], 0, 0, 0, inertia[2]], turn));
    T.append({ parent: T.body_node[parent], joint: type, iq: T.sizes.nq, iv: nv, R_PJ: product3(onParent, turn), p_PJ: this.localNode(parent, p), pitch: 0 });
    T.append({ mass, com: turnedBack3(turn, com), inertia: [I[0], I[1], I[2], I[4], I[5], I[8]] });
    T.append({ armature: 0, damping: 0, friction: 0, friction_speed: 0.01, unit: type === SLIDE ? data.length : 1, first_order: 0 });
    T.append({ body_node: node, R_NB: transposed3(turn), p_NB: [0, 0, 0] });
    const joint = { type: type === HINGE ? "Revolute" : "Prismatic", axis: "xyz"[k] };
    document.bodies.push({ name, parent: data.bodies[parent].name, joint, at: poseData(this.local(parent, p), F), mass, com: com.slice(), inertia, ...(outline ? { outline } : {}) });
    data.bodies.push({ name, parent, mass, com: com.slice(), inertia: [inertia[0], 0, 0, 0, inertia[1], 0, 0, 0, inertia[2]] });
    data.coordinates.push({ name, q: T.sizes.nq, unit: type === SLIDE ? "m" : "rad" });
    data.unit.push(type === SLIDE ? data.length : 1);
    data.limits.push([null, null]);
    T.sizes.nq += 1;
    data.q.push(q);
    return data.bodies.length - 1;
  }

  // A pin between body a and the new body b, whose frame has axis k and in which the pin is at `there`
  addPin(name, a, b, k, p, there) {
    const { table: T, data, document } = this;
    const own = this.axisOn(a);
    const letter = isIdentity(own.F) && own.k === k;
    const [A, B, axis] = letter ? [IDENTITY, IDENTITY, k] : [product3(own.F, toAxis(own.k)), toAxis(k), 2];
    const frame = (body, F) => product3(T.R_NB.slice(9 * body, 9 * body + 9), F);
    const [R_aA, R_bB] = [frame(a, A), frame(b, B)];
    const columns = (R, list) => list.flatMap((j) => [R[j], R[3 + j], R[6 + j]]);
    const others = [0, 1, 2].filter((j) => j !== axis);
    const placeB = add(turned3(T.R_NB.slice(9 * b, 9 * b + 9), there), T.p_NB.slice(3 * b, 3 * b + 3));
    const values = { p_a: this.localNode(a, p), p_b: placeB, R_aA, R_bB, directions: columns(R_aA, [0, 1, 2]), across_a: columns(R_aA, others) };
    Object.assign(values, { across_b: columns(R_bB, others), axis_b: columns(R_bB, [axis]), pitch: 0, pitch_row: -1, linear: 7, angular: data.edit.across });
    const [nodeA, nodeB] = [T.body_node[a], T.body_node[b]];
    const [aboveA, aboveB] = [T.path(nodeA), T.path(nodeB)];
    const moves = [...aboveB.filter((n) => !aboveA.includes(n)).map((n) => [T.iv[n], 1]), ...aboveA.filter((n) => !aboveB.includes(n)).map((n) => [T.iv[n], -1])];
    moves.sort((x, y) => x[0] - y[0]);
    const [row, support] = [data.rows.length, T.sup_col.length];
    data.loops.push({ name, rows: [row, row + 5], element: T.el_kind.length, a, b });
    T.append({ el_kind: data.edit.closure, el_a: nodeA, el_b: nodeB, el_row: row, el_rows: 5, el_begin: T.el_values.length, el_values: data.edit.parameters.flatMap((x) => values[x]) });
    T.append({ el_sup_begin: support, el_sup_end: support + moves.length, sup_col: moves.map((x) => x[0]), sup_sign: moves.map((x) => x[1]) });
    const units = [...axis3(0).map(() => data.length), 1, 1];
    T.append({ row_unit: units, row_holonomic: [1, 1, 1, 1, 1] });
    data.row_unit.push(...units);
    data.rows.push(...["tx", "ty", "tz", ...others.map((j) => `r${"xyz"[j]}`)].map((x) => `${name}.${x}`));
    const ends = { at_a: poseData(this.local(a, p), A), at_b: poseData(there, B) };
    document.constraints.push({ name, type: "Closure", a: data.bodies[a].name, b: data.bodies[b].name, joint: { type: "Revolute", axis: "xyz"[axis] }, ...ends });
  }
}
