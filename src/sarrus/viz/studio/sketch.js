// How edited parts look: bars between pins, pins, blocks on rails; and the checks of what edits name.

Object.assign(Description.prototype, {
  checkPlace(place, least = 0) {
    if (!numbersOf(place, 4) || !Number.isInteger(place[0]) || place[0] < least || place[0] >= this.data.bodies.length) throw new Error("an edit names a place that is not there");
  },

  checkMass(mass) {
    if (!(mass > 0 && mass < 1e12)) throw new Error("the mass of a new part must be above zero");
  },

  // Half the width of links, as of those of the picture
  thickness() {
    const drum = this.data.film.solids.find((solid) => solid.kind === "drum");
    return drum ? 2.4 * drum.radius : 0.05 * this.data.length;
  },

  // A flat link of body b between two points in its axes, up: the normal of the plane there
  link(b, from, to, up, look) {
    const [r, line] = [this.thickness(), sub(to, from)];
    const x = unit(line);
    const flat = 0.4 * r;
    const quat = quaternionOf(columns3(x, cross(up, x), up));
    this.show("box", { at: [b, ...times(add(from, to), 0.5)], quat, half: [0.5 * norm(line), r, flat], ...look });
    for (const end of [from, to]) this.show("drum", { at: [b, ...end], quat, radius: r, half: flat, ...look });
  },

  // Solids that show a pin at a world point: [solid, body]; feet of the ground lie beside it.
  solidsAt(p) {
    const { data } = this;
    const out = [];
    for (const solid of data.film.solids) {
      if (!solid.at || solid.kind === "face") continue;
      const away = norm(this.inPlane(sub(this.world.place(solid.at), p)));
      const near = solid.at[0] === 0 && solid.name === "ground" ? 0.12 * data.length : solid.kind === "mesh" ? 0 : 1e-4 * data.length;
      if (away < near) out.push([solid, solid.at[0]]);
    }
    return out;
  },

  // Corners of outlines at a pin: [body, point]
  cornersAt(pin) {
    const outlines = new Map(this.document.bodies.map((body) => [body.name, body.outline || []]));
    const bodies = new Set(pin.bodies.flatMap((b) => this.rigidWith(b)));
    const at = (b, point) => norm(sub(this.world.place([b, ...point]), pin.at)) < 1e-6 * this.data.length;
    return [...bodies].flatMap((b) => (outlines.get(this.data.bodies[b].name) || []).filter((point) => at(b, point)).map((point) => [b, point]));
  },

  // What a solid has on body b moves by d, in the axes of the body
  shiftSolid(solid, b, d) {
    for (const key of ["a", "b", "at"]) if (solid[key] && solid[key][0] === b) shiftFrom(solid[key], 1, d);
    if (solid.kind === "mesh" && solid.at[0] === b) solid.shift = add(solid.shift || [0, 0, 0], d);
    if (solid.points && solid.at[0] === b) solid.points = solid.points.map((point) => add(point, d));
  },

  // Bars from pin to pin for bodies whose pins have moved; bodies with shapes of their own keep them.
  redraw(bodies) {
    const { data, document } = this;
    const shaped = new Set((document.visuals || []).map((visual) => visual.body));
    const pins = this.pins(this.placedAgain());
    const parts = new Map(bodies.map((b) => this.rigidWith(b)).map((part) => [Math.min(...part), part]));
    for (const [first, own] of parts) {
      const held = pins.filter((pin) => pin.bodies.some((b) => own.includes(b)));
      if (first === 0 || held.length < 2 || own.some((b) => shaped.has(data.bodies[b].name))) continue;
      const pin = (solid) => solid.kind === "drum" && solid.color === PIN_COLOR;
      const shows = (solid) => ["mesh", "bar", "face", "box", "drum"].includes(solid.kind) && !pin(solid) && solid.name !== "ground" && own.includes((solid.at || solid.a)[0]) && (!solid.b || own.includes(solid.b[0]));
      const old = data.film.solids.find(shows);
      if (!old) continue;
      const b = (old.at || old.a)[0];
      const n = this.onBody(b, data.plane);
      const height = dot(n, (old.at || old.a).slice(1));
      data.film.solids = data.film.solids.filter((solid) => !shows(solid));
      const at = held.map((pin) => {
        const here = this.local(b, pin.at);
        return add(here, times(n, height - dot(here, n)));
      });
      const pairs = at.length === 2 ? [[0, 1]] : at.map((_, i) => [i, (i + 1) % at.length]);
      for (const [i, j] of pairs) this.link(b, at[i], at[j], n, { color: old.color, name: old.name });
    }
  },

  // Poses of the bodies after the edit so far
  placedAgain() {
    const k = Kernel.make(this.world.kernel.module, this.table.bytes());
    k.put(this.data.q, new Float64Array(k.nv), 0);
    k.place();
    return new Bodies(k, this.data);
  },

  show(kind, solid) {
    this.data.film.solids.push({ kind, alpha: 1, radius: 0, ...solid });
  },

  // The colour that fewest parts of the picture have
  freeColor() {
    const parts = (color) => new Set(this.data.film.solids.filter((solid) => solid.color === color).map((solid) => solid.name)).size;
    return PART_COLORS.reduce((best, color) => (parts(color) < parts(best) ? color : best));
  },

  // World points that the first view must hold
  keepInView(...points) {
    this.data.film.more = [...(this.data.film.more || []), ...points.flat()];
  },

  // Above all that is there, along the normal of the plane
  nextHeight() {
    const { data } = this;
    return Math.max(...data.film.solids.map((solid) => dot(this.world.place(solid.at || solid.a), data.plane))) + this.thickness();
  },

  // A new bar from its origin to `end`, with a pin at its parent and one at body `other` (-1: none); up: the normal of
  // the plane in its axes
  drawBar(b, up, end, from, other) {
    const height = this.nextHeight() - dot(from.slice(1), this.data.plane);
    const normal = times(up, height);
    const { name } = this.data.bodies[b];
    const r = this.thickness();
    this.link(b, normal, add(end, normal), up, { color: this.freeColor(), name });
    const quat = quaternionOf(columns3(...across(up), up));
    const pin = (at) => this.show("drum", { at: [b, ...add(at, times(normal, 0.5))], quat, radius: 0.42 * r, half: 0.5 * height + 0.6 * r, color: PIN_COLOR, name });
    pin([0, 0, 0]);
    if (other >= 0) pin(end);
    if (from[0] === 0) this.show("ball", { at: [b, 0, 0, 0], radius: 1.2 * r, color: FOOT_COLOR, name: "ground" });
    if (other === 0) this.show("ball", { at: [b, ...end], radius: 1.2 * r, color: FOOT_COLOR, name: "ground" });
  },

  drawSlider(b, F, p, x, edge) {
    const { name } = this.data.bodies[b];
    const [u, v] = [x, unit(cross(this.data.plane, x))];
    const quat = quaternionOf(product3(transposed3(F), columns3(u, v, this.data.plane)));
    this.show("box", { at: [b, 0, 0, 0], quat, half: [edge, 0.5 * edge, 0.5 * edge], color: this.freeColor(), name });
    const reach = times(x, 1.2 * this.data.length);
    this.show("bar", { a: [0, ...sub(p, reach)], b: [0, ...add(p, reach)], radius: 0.3 * this.thickness(), color: FOOT_COLOR, name: "ground" });
    this.keepInView(p, sub(p, reach), add(p, reach));
  },
});
