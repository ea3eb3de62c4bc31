// The picture: solids of the exported page at the poses of the kernel, arrows, traces, the hand.

const LOOK = {
  light: { paper: [0.957, 0.961, 0.969], grid: [0.45, 0.5, 0.56, 0.45], shadow: [0.1, 0.12, 0.15, 0.18] },
  dark: { paper: [0.082, 0.094, 0.11], grid: [0.6, 0.66, 0.72, 0.3], shadow: [0, 0, 0, 0.5] },
};
const COLORS = { loop: [0.82, 0.29, 0.36], joint: [0.48, 0.76, 0.05], spring: [0.48, 0.25, 0.63], hand: [0, 0.62, 0.45], trace: [0.9, 0.55, 0] };
const ROOM = 1.25; // around the first pose, to drag in
const FINGER = 16; // pixels around a touch in which bodies are found

class Scene {
  constructor(canvas, film, changed) {
    this.canvas = canvas;
    this.painter = new Painter(canvas);
    this.show(film);
    this.camera = new Camera(canvas, this.film, changed);
  }

  // The solids of another variant of the mechanism
  show(film) {
    this.film = new Film(film);
    this.film.seek(this.film.first);
    if (film.more) this.film.outline = Float32Array.from([...this.film.outline, ...film.more]);
    if (this.camera) this.camera.film = this.film;
  }

  // [place, quaternion] of all bodies, as the kernel last placed them
  placesOf(bodies) {
    return bodies.parents.map((_, b) => [bodies.origin(b), bodies.quaternion(b)]);
  }

  pose(bodies) {
    this.film.now = this.placesOf(bodies);
  }

  // The solids that move, with all bodies elsewhere: [place, quaternion] of each
  paintAt(places, color) {
    const { film, painter } = this;
    const { now } = film;
    film.now = places;
    for (const solid of film.solids) if (this.bodyOf(solid)) film.solid(painter, solid, color);
    film.now = now;
  }

  paint(look, { arrows, traces, hand, ghosts, pins, line }) {
    const { painter, film, camera, canvas } = this;
    if (camera.framed) {
      camera.aspect = canvas.clientWidth / Math.max(1, canvas.clientHeight);
      camera.frame();
      camera.far *= ROOM;
    }
    film.paint(painter, camera, LOOK[look], { forces: false });
    ghosts.paint();
    for (const trace of traces) this.curve(trace);
    painter.shining((alpha) => {
      for (const arrow of arrows) this.arrow(arrow, alpha);
      if (hand) this.pull(hand, alpha);
      if (line) this.pull(line, alpha);
      for (const { at, chosen } of pins) this.pin(at, chosen, alpha);
    });
  }

  curve(points) {
    const every = Math.max(1, Math.ceil(points.length / 600));
    for (let i = 0; i + every < points.length; i += every)
      this.film.bar(this.painter, points[i], points[i + every], 0.003 * this.film.size, [...COLORS.trace, 1], false);
  }

  // An arrow of a force that ends where it acts
  arrow({ at, force, color, faint }, alpha) {
    const { film, painter } = this;
    const length = norm(force);
    if (!(length > 0.01 * film.size)) return;
    const z = times(force, 1 / length);
    const thick = 0.007 * film.size;
    const head = Math.min(5 * thick, 0.5 * length);
    const rgba = [...color, faint ? 0.45 * alpha : alpha];
    film.bar(painter, sub(at, force), sub(at, times(z, head)), faint ? 0.5 * thick : thick, rgba, false);
    const [u, v] = across(z);
    const wide = [2.3 * thick, 2.3 * thick, head];
    painter.draw("cone", matrix(u, v, z, wide, sub(at, times(z, head))), wide, rgba);
  }

  pull({ from, to }, alpha) {
    const { film, painter } = this;
    const rgba = [...COLORS.hand, alpha];
    const r = 0.012 * film.size;
    film.bar(painter, from, to, 0.25 * r, rgba, false);
    for (const p of [from, to]) painter.draw("ball", placed([0, 0, 0, 1], [r, r, r], p), [r, r, r], rgba);
  }

  pin(at, chosen, alpha) {
    const r = (chosen ? 0.022 : 0.014) * this.film.size;
    this.painter.draw("ball", placed([0, 0, 0, 1], [r, r, r], at), [r, r, r], [...(chosen ? COLORS.hand : COLORS.trace), alpha]);
  }

  // Ray through a place of the canvas [pixels]: {eye, along}
  ray(x, y) {
    const { canvas, camera } = this;
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    const eye = camera.eye();
    const z = unit(sub(eye, camera.target));
    const right = unit(cross(this.film.up, z));
    const up = cross(z, right);
    const high = Math.tan((w < h ? 2 * Math.atan((Math.tan(0.3) * h) / w) : 0.6) / 2);
    const [dx, dy] = [((2 * x) / w - 1) * high * (w / h), (1 - (2 * y) / h) * high];
    return { eye, along: unit(add(add(times(right, dx), times(up, dy)), times(z, -1))) };
  }

  // Pixels of a world point
  pixels(p) {
    const [w, h] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const m = this.painter.view;
    const at = [0, 1, 2, 3].map((r) => m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r]);
    return [((at[0] / at[3] + 1) * w) / 2, ((1 - at[1] / at[3]) * h) / 2];
  }

  // The solid seen at a place or next to it: each is painted in a colour that says its number.
  solidAt(x, y) {
    const { painter, film } = this;
    const { gl } = painter;
    painter.begin(this.camera, film.up, [0, 0, 0]);
    painter.use(painter.view, false);
    const check = (i) => (i * 37 + 91) & 255;
    film.solids.forEach((solid, i) => film.solid(painter, solid, [((i + 1) & 255) / 255, ((i + 1) >> 8) / 255, check(i + 1) / 255, 1]));
    const ratio = window.devicePixelRatio || 1;
    const r = Math.round(FINGER * ratio);
    const side = 2 * r + 1;
    const [cx, cy] = [Math.round(x * ratio), Math.round(painter.canvas.height - y * ratio)];
    const seen = new Uint8Array(4 * side * side);
    gl.readPixels(cx - r, cy - r, side, side, gl.RGBA, gl.UNSIGNED_BYTE, seen);
    let best = null;
    for (let k = 0; k < side * side; k++) {
      const id = seen[4 * k] + 256 * seen[4 * k + 1];
      const far = Math.hypot((k % side) - r, Math.floor(k / side) - r);
      if (!id || id > film.solids.length || seen[4 * k + 2] !== check(id) || far > r) continue;
      if (this.bodyOf(film.solids[id - 1]) && (!best || far < best.far)) best = { far, solid: film.solids[id - 1] };
    }
    return best && best.solid;
  }

  // A body other than the ground that a solid belongs to, 0: none
  bodyOf(solid) {
    return solid.at ? solid.at[0] : solid.a[0] || solid.b[0];
  }

  // What is seen at a place: {body, at} with the point in the world, or null
  pick(x, y) {
    const solid = this.solidAt(x, y);
    if (!solid) return null;
    const { eye, along } = this.ray(x, y);
    if (!solid.a) {
      const middle = this.film.point(solid.at);
      return { body: solid.at[0], at: add(eye, times(along, dot(sub(middle, eye), along))) };
    }
    const [a, b] = [this.film.point(solid.a), this.film.point(solid.b)];
    const line = sub(b, a);
    const w = sub(a, eye);
    const [uu, ud, wu, wd] = [dot(line, line), dot(line, along), dot(w, line), dot(w, along)];
    const below = uu - ud * ud;
    const s = Math.min(1, Math.max(0, below > 1e-12 * uu ? (ud * wd - wu) / below : 0.5));
    const near = s < 0.5 ? solid.a[0] || solid.b[0] : solid.b[0] || solid.a[0];
    return { body: near, at: add(a, times(line, s)) };
  }
}
