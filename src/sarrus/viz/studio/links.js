// Links whose mass lies half way between two pins stay so when a pin is moved: the inertia turns with the link and
// grows with the square of its length, as of a similar body of the same mass.

// The rotation by an angle about a unit vector, [Murray1994] eq. (2.14)
function rotationAbout(n, angle) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return columns3(...[0, 1, 2].map((k) => add(add(times(axis3(k), c), times(cross(n, axis3(k)), s)), times(n, (1 - c) * n[k]))));
}

const symmetric3 = (R) => R.map((x, i) => (x + transposed3(R)[i]) / 2);

Object.assign(Description.prototype, {
  // Bodies that are such links at a pin: [{b, before: from their other pin to this one}]
  linksAt(pin, pins) {
    const { data, table } = this;
    const out = [];
    for (const part of new Set(pin.bodies.map((b) => this.rigidWith(b).sort((x, y) => x - y).join()))) {
      const own = part.split(",").map(Number);
      const held = pins.filter((one) => one.bodies.some((b) => own.includes(b)));
      if (own.includes(0) || held.length !== 2) continue;
      const other = held.find((one) => one !== pin);
      const middle = times(add(pin.at, other.at), 0.5);
      for (const b of own) {
        const alone = own.filter((c) => table.body_node[c] === table.body_node[b] && data.bodies[c].mass > 0).length === 1;
        const away = this.inPlane(sub(this.world.place([b, ...data.bodies[b].com]), middle));
        if (data.bodies[b].mass > 0 && alone && norm(away) < SAME_PLACE * data.length) out.push({ b, before: this.inPlane(sub(pin.at, other.at)) });
      }
    }
    return out;
  },

  inPlane(d) {
    return sub(d, times(this.data.plane, dot(d, this.data.plane)));
  },

  // The link after its pin has moved by d
  reshape({ b, before }, d) {
    const { table: T, data, document } = this;
    const after = add(before, d);
    const growth = dot(after, after) / dot(before, before);
    const angle = Math.atan2(dot(data.plane, cross(before, after)), dot(before, after));
    const said = document.bodies.find((body) => body.name === data.bodies[b].name);
    const half = times(d, 0.5);
    shiftFrom(said.com, 0, this.onBody(b, half));
    shiftFrom(data.bodies[b].com, 0, this.onBody(b, half));
    shiftFrom(T.com, 3 * T.body_node[b], this.onNode(b, half));
    const turned = (I, normal) => {
      const R = rotationAbout(normal, angle);
      return symmetric3(product3(R, product3(I, transposed3(R)))).map((x) => growth * x);
    };
    data.bodies[b].inertia = turned(data.bodies[b].inertia, this.onBody(b, data.plane));
    said.inertia = rows3(data.bodies[b].inertia);
    const at = 6 * T.body_node[b];
    const [xx, xy, xz, yy, yz, zz] = T.inertia.slice(at, at + 6);
    const I = turned([xx, xy, xz, xy, yy, yz, xz, yz, zz], this.onNode(b, data.plane));
    [I[0], I[1], I[2], I[4], I[5], I[8]].forEach((x, k) => (T.inertia[at + k] = x));
  },
});
