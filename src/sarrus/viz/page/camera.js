// Turns around a target: drag turns, shift or right drag moves, the wheel or two fingers zoom. The first view has the
// machine in its frame, with its motion where that is not much larger; otherwise it follows the centre of mass.

class Camera {
  constructor(canvas, film, changed) {
    Object.assign(this, { film, changed, touches: new Map() });
    this.reset();
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      this.touches.set(e.pointerId, [e.clientX, e.clientY]);
    });
    canvas.addEventListener("pointermove", (e) => this.drag(e, canvas.clientHeight));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (e) => this.touches.delete(e.pointerId));
    canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoom(Math.exp(0.0012 * e.deltaY));
    }, { passive: false });
  }

  reset() {
    [this.azimuth, this.height] = this.film.eye;
    this.target = this.film.middle.slice();
    this.far = 0.98 * this.film.size;
    this.framed = true;
    this.all = false;
    this.follows = this.film.roams;
    this.changed();
  }

  // Everything that is ever shown.
  fitAll() {
    [this.all, this.framed, this.follows] = [true, true, false];
    this.changed();
  }

  follow(on) {
    const aside = this.shift();
    this.follows = on;
    this.target = add(this.target, sub(aside, this.shift()));
    this.changed();
  }

  shift() {
    return this.follows ? this.film.moved() : [0, 0, 0];
  }

  // Moves back and aside until all points of the outline fill the picture; the same as `framed` in camera.py.
  frame() {
    const z = this.direction();
    const x = unit(cross(this.film.up, z));
    const y = cross(z, x);
    const points = [];
    const outline = this.all ? this.film.whole : this.film.outline;
    for (let i = 0; i < outline.length; i += 3) {
      const p = Array.from(outline.slice(i, i + 3));
      points.push([dot(p, x), dot(p, y), dot(p, z)]);
    }
    const slope = [Math.max(this.aspect, 1), Math.max(1 / this.aspect, 1)].map((s) => (Math.tan(0.3) * s) / 1.12);
    const middle = [0, 1, 2].map((k) => (Math.min(...points.map((p) => p[k])) + Math.max(...points.map((p) => p[k]))) / 2);
    let away = 1;
    for (let step = 0; step < 8; step++) {
      const near = points.map((p) => sub(p, middle));
      away = Math.max(...near.map((p) => p[2] + Math.max(Math.abs(p[0]) / slope[0], Math.abs(p[1]) / slope[1])));
      for (const k of [0, 1]) {
        const seen = near.map((p) => p[k] / Math.max(away - p[2], 1e-9));
        middle[k] += ((Math.min(...seen) + Math.max(...seen)) / 2) * away;
      }
    }
    this.target = add(add(times(x, middle[0]), times(y, middle[1])), times(z, middle[2]));
    this.far = Math.max(away, 1e-6) / 1.6;
  }

  zoom(factor) {
    this.framed = false;
    this.far = Math.min(Math.max(this.far * factor, 0.05 * this.film.size), 20 * this.film.size);
    this.changed();
  }

  axes() {
    const up = this.film.up;
    const [x, y] = across(up);
    return [x, y, up];
  }

  direction() {
    const [x, y, up] = this.axes();
    const flat = add(times(x, Math.cos(this.azimuth)), times(y, Math.sin(this.azimuth)));
    return add(times(flat, Math.cos(this.height)), times(up, Math.sin(this.height)));
  }

  aim() {
    return add(this.target, this.shift());
  }

  eye() {
    return add(this.aim(), times(this.direction(), this.far * 1.6));
  }

  drag(e, high) {
    const before = this.touches.get(e.pointerId);
    if (!before) return;
    this.framed = false;
    const [dx, dy] = [e.clientX - before[0], e.clientY - before[1]];
    if (this.touches.size === 2) {
      const other = [...this.touches].find(([id]) => id !== e.pointerId)[1];
      const gap = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      this.zoom(gap(before) / gap([e.clientX, e.clientY]));
    } else if (e.shiftKey || e.buttons === 2 || e.buttons === 4) {
      const z = this.direction();
      const x = unit(cross(this.film.up, z));
      const s = this.far / high;
      this.target = add(this.target, add(times(x, -dx * s), times(cross(z, x), dy * s)));
    } else {
      this.azimuth -= 0.008 * dx;
      this.height = Math.min(Math.max(this.height + 0.008 * dy, -1.5), 1.5);
    }
    this.touches.set(e.pointerId, [e.clientX, e.clientY]);
    this.changed();
  }
}
