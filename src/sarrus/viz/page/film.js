// The recorded motion: where everything is at a time, and how it is painted.

function decoded(text, kind = Float32Array) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new kind(bytes.buffer);
}

const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);

const short = (x) => `${+x.toPrecision(4)}`;

class Film {
  constructor(data) {
    Object.assign(this, data);
    this.poses = decoded(data.poses);
    this.arrows = data.arrows.map((arrow) => ({ ...arrow, data: decoded(arrow.data), rgb: channels(arrow.color) }));
    this.solids = data.solids.map((solid) => ({ ...solid, rgb: channels(solid.color) }));
    this.traces = data.traces.map((trace) => ({ ...trace, rgb: channels(trace.color) }));
    [this.outline, this.whole] = [decoded(data.outline), decoded(data.whole)];
    this.centers = decoded(data.center);
    this.bodies = this.poses.length / 7 / this.count;
    this.t = this.first;
  }

  get last() {
    return this.first + this.step * (this.count - 1);
  }

  // Frame before t and how far beyond it t is, in frames.
  frame(t) {
    const x = this.count > 1 ? (t - this.first) / this.step : 0;
    const i = Math.min(Math.max(Math.floor(x), 0), Math.max(this.count - 2, 0));
    return [i, this.count > 1 ? Math.min(Math.max(x - i, 0), 1) : 0];
  }

  // Numbers of all kinds between two frames.
  between(values, width, offset, i, s) {
    const out = [];
    const stride = values.length / this.count;
    const j = this.count > 1 ? i + 1 : i;
    for (let k = 0; k < width; k++)
      out.push((1 - s) * values[i * stride + offset + k] + s * values[j * stride + offset + k]);
    return out;
  }

  seek(t) {
    this.t = t;
    const [i, s] = this.frame(t);
    this.now = [];
    for (let b = 0; b < this.bodies; b++) {
      const x = this.between(this.poses, 7, 7 * b, i, s);
      const q = x.slice(3);
      const size = Math.hypot(...q) || 1;
      this.now.push([x.slice(0, 3), q.map((v) => v / size)]);
    }
  }

  // How far the centre of mass has moved since the first picture.
  moved() {
    const [i, s] = this.frame(this.t);
    return sub(this.between(this.centers, 3, 0, i, s), Array.from(this.centers.slice(0, 3)));
  }

  // World point of an anchor [body, x, y, z].
  point(anchor) {
    const [p, q] = this.now[anchor[0]];
    return add(p, rotate(q, anchor.slice(1)));
  }

  bar(painter, a, b, radius, color, round = true) {
    const line = sub(b, a);
    const length = norm(line);
    if (length > 1e-9) {
      const z = times(line, 1 / length);
      const [x, y] = across(z);
      const s = [radius, radius, length];
      painter.draw("tube", matrix(x, y, z, s, a), s, color);
    }
    if (round)
      for (const p of [a, b]) painter.draw("ball", placed([0, 0, 0, 1], [radius, radius, radius], p), [radius, radius, radius], color);
  }

  coil(painter, a, b, radius, color) {
    const line = sub(b, a);
    const [x, y] = across(unit(line));
    const wide = Math.min(3.5 * radius, 0.25 * norm(line));
    const turns = 8;
    const at = (k) => {
      const s = k / 96;
      const w = wide * Math.min(1, 12 * s, 12 * (1 - s));
      const f = 2 * Math.PI * turns * s;
      return add(add(a, times(line, s)), add(times(x, w * Math.cos(f)), times(y, w * Math.sin(f))));
    };
    for (let k = 0; k < 96; k++) this.bar(painter, at(k), at(k + 1), 0.35 * radius, color, false);
  }

  solid(painter, solid, color) {
    if (solid.kind === "bar") this.bar(painter, this.point(solid.a), this.point(solid.b), solid.radius, color);
    else if (solid.kind === "coil") this.coil(painter, this.point(solid.a), this.point(solid.b), solid.radius, color);
    else if (solid.kind === "ball") {
      const s = [solid.radius, solid.radius, solid.radius];
      painter.draw("ball", placed([0, 0, 0, 1], s, this.point(solid.at)), s, color);
    } else {
      const [p, q] = this.now[solid.at[0]];
      const turn = solid.quat ? product(q, solid.quat) : q;
      const place = add(p, rotate(q, solid.at.slice(1)));
      if (solid.kind === "box") painter.draw("cube", placed(turn, solid.half, place), solid.half, color);
      else if (solid.kind === "drum") {
        const s = [solid.radius, solid.radius, 2 * solid.half];
        const foot = sub(place, times(rotate(turn, [0, 0, 1]), solid.half));
        painter.draw("drum", placed(turn, s, foot), s, color);
      } else if (solid.kind === "mesh") {
        const name = `mesh${solid.mesh}`;
        const { points, faces } = this.meshes[solid.mesh];
        if (!painter.meshes[name]) painter.keep(name, faceted(decoded(points), decoded(faces, Uint16Array)));
        painter.draw(name, placed(q, [1, 1, 1], solid.shift ? add(p, rotate(q, solid.shift)) : p), [1, 1, 1], color);
      } else {
        if (!solid.mesh) painter.keep((solid.mesh = `face${this.solids.indexOf(solid)}`), fan(solid.points));
        painter.draw(solid.mesh, placed(q, [1, 1, 1], p), [1, 1, 1], color);
      }
    }
  }

  // Force arrows end where the force acts; those of moments turn about them, by the right hand.
  arrow(painter, arrow, alpha) {
    const [i, s] = this.frame(this.t);
    const x = this.between(arrow.data, 6, 0, i, s);
    const [tip, force] = [x.slice(0, 3), times(x.slice(3), this.newton * (arrow.scale || 1))];
    const length = norm(force);
    if (length < 0.02 * this.size) return;
    const z = times(force, 1 / length);
    const thick = 0.008 * this.size;
    const head = Math.min(5 * thick, 0.5 * length);
    const color = alpha.length ? alpha : [...arrow.rgb, alpha];
    const [u, v] = across(z);
    const wide = [2.3 * thick, 2.3 * thick, head];
    if (arrow.unit === "N m") {
      const at = (k) => add(tip, times(add(times(u, Math.cos(k * 0.0625 * Math.PI)), times(v, Math.sin(k * 0.0625 * Math.PI))), 0.5 * length));
      for (let k = 0; k < 24; k++) this.bar(painter, at(k), at(k + 1), 0.8 * thick, color, false);
      painter.draw("cone", matrix(v, z, u, wide, at(24)), wide, color);
      return;
    }
    this.bar(painter, sub(tip, force), sub(tip, times(z, head)), thick, color, false);
    painter.draw("cone", matrix(u, v, z, wide, sub(tip, times(z, head))), wide, color);
  }

  trace(painter, trace) {
    const [i] = this.frame(this.t);
    const every = Math.max(1, Math.floor(this.count / 400));
    const at = (k) => {
      const x = this.between(this.poses, 7, 7 * trace.at[0], Math.min(k, this.count - 1), 0);
      return add(x.slice(0, 3), rotate(x.slice(3), trace.at.slice(1)));
    };
    for (let k = 0; k + every <= i; k += every) this.bar(painter, at(k), at(k + every), 0.004 * this.size, [...trace.rgb, 1], false);
  }

  // Axes of all bodies: x red, y green, z blue.
  triads(painter) {
    const s = 0.1 * this.size;
    for (const [p, q] of this.now)
      [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((axis, k) => {
        const color = [[0.85, 0.2, 0.2, 1], [0.15, 0.62, 0.25, 1], [0.2, 0.4, 0.9, 1]][k];
        this.bar(painter, p, add(p, times(rotate(q, axis), s)), 0.004 * this.size, color, false);
      });
  }

  // What one reads when pointing at solid or arrow number i.
  text(i) {
    if (i >= this.solids.length) {
      const arrow = this.arrows[i - this.solids.length];
      const [k, s] = this.frame(this.t);
      return `${arrow.name}: ${short(norm(this.between(arrow.data, 3, 3, k, s)))} ${arrow.unit}`;
    }
    const solid = this.solids[i];
    if (!solid.spring) return solid.name;
    const [stiffness, rest] = solid.spring;
    const length = norm(sub(this.point(solid.b), this.point(solid.a)));
    return `${solid.name}: ${short(stiffness)} N/m, length ${short(length)} m, ${short(stiffness * (length - rest))} N`;
  }

  // Number of the solid or arrow at a pixel, -1 for none.
  pick(painter, camera, x, y, forces) {
    return painter.pick(camera, this.up, x, y, (coded) => {
      this.solids.forEach((solid, i) => this.solid(painter, solid, coded(i)));
      if (forces) this.arrows.forEach((arrow, i) => this.arrow(painter, arrow, coded(this.solids.length + i)));
    });
  }

  paint(painter, camera, look, shown) {
    const clear = this.solids.filter((solid) => solid.alpha === 1);
    const through = this.solids.filter((solid) => solid.alpha < 1);
    painter.begin(camera, this.up, look.paper);
    if (shown.ground !== false) painter.ground(this.floor, this.up, this.cell, look.grid);
    if (shown.ground !== false) painter.shadow((color) => this.solids.forEach((solid) => this.solid(painter, solid, color)), this.up, dot(this.up, this.floor), look.shadow);
    clear.forEach((solid) => this.solid(painter, solid, [...solid.rgb, 1]));
    this.traces.forEach((trace) => this.trace(painter, trace));
    if (shown.frames) this.triads(painter);
    if (through.length) painter.glass(() => through.forEach((solid) => this.solid(painter, solid, [...solid.rgb, solid.alpha])));
    if (shown.forces && this.arrows.length) painter.shining((alpha) => this.arrows.forEach((arrow) => this.arrow(painter, arrow, alpha)));
  }
}
