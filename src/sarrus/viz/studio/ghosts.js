// The ways out of a singular pose: a ghost of each a little along it, in a colour of its own. Under the pointer, in the
// picture or in the list, a ghost moves along its way; a click takes it.

const WAY_COLORS = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#9467bd", "#7f6d5f"];
const MOST_GHOSTS = 8;
const WAY_STEP = 0.02, WAY_STEPS = 40; // [rad, or times L]
const WAY_SHOWN = 0.16, SAME_WAY = 0.01; // how far points are moved, ways that are one: of the size of the picture
const SWING = 1600; // ms of a preview, there and back

class Ghosts {
  constructor(studio) {
    Object.assign(this, { studio, ways: [], shown: -1, pressed: -1 });
    const canvas = $("scene");
    const first = { capture: true }; // before the hand hears of it
    canvas.addEventListener("pointerdown", (e) => this.down(e), first);
    canvas.addEventListener("pointerup", (e) => this.up(e), first);
    canvas.addEventListener("pointerleave", () => this.choose(-1));
  }

  // Ways for directions (nv, without units), the kernel at the singular pose; it may be left elsewhere
  find(directions) {
    const all = directions.map((along) => this.way(along)).filter((way) => way.poses.length > 1);
    const apart = all.filter((way, i) => all.slice(0, i).every((other) => this.distance(way, other) > SAME_WAY * this.studio.scene.film.size));
    this.ways = this.spread(apart);
    this.left = apart.length - this.ways.length;
    this.ways.forEach((way, i) => (way.rgb = channels((way.color = WAY_COLORS[i]))));
    this.choose(-1);
    this.call();
  }

  // {poses, places: of the bodies at each}: the motion that begins along a direction
  way(along) {
    const { kernel: k, bench, scene } = this.studio;
    const start = Array.from(this.studio.history.now.q);
    k.put(start, new Float64Array(k.nv), k.t);
    k.place();
    const way = { poses: [start], places: [scene.placesOf(bench.bodies)] };
    for (let n = 0; n < WAY_STEPS && this.moved(way) < WAY_SHOWN * scene.film.size; n++) {
      along = bench.analysis.stepAlong(along, WAY_STEP);
      if (!along) break;
      k.place();
      way.poses.push(Array.from(k.of("q")));
      way.places.push(scene.placesOf(bench.bodies));
    }
    return way;
  }

  // World places of points of bodies: of centres of mass, and beside them
  points(place) {
    const reach = 0.5 * this.studio.data.length;
    return this.studio.data.bodies.flatMap(({ com }, b) => [com, add(com, [reach, 0, 0]), add(com, [0, reach, 0]), add(com, [0, 0, reach])].map((p) => add(place[b][0], rotate(place[b][1], p))));
  }

  apart(a, b) {
    const [x, y] = [a, b].map((place) => this.points(place));
    return x.reduce((most, p, i) => Math.max(most, norm(sub(p, y[i]))), 0);
  }

  moved({ places }) {
    return this.apart(places[0], places[places.length - 1]);
  }

  distance(one, other) {
    return this.apart(one.places[one.places.length - 1], other.places[other.places.length - 1]);
  }

  // At most MOST_GHOSTS, as different as can be
  spread(ways) {
    if (ways.length <= MOST_GHOSTS) return ways;
    const out = [ways[0]];
    const away = (way) => Math.min(...out.map((other) => this.distance(way, other)));
    while (out.length < MOST_GHOSTS) out.push(ways.reduce((best, way) => (away(way) > away(best) ? way : best)));
    return out;
  }

  // Names by what moves, as seen: "crank ↺, slider →"; as many parts as tell them apart
  call() {
    const said = this.ways.map((way) => this.parts(way));
    for (let n = 2; n <= 5; n++) {
      const names = said.map((parts) => parts.slice(0, n).join(", "));
      this.ways.forEach((way, i) => (way.name = names[i]));
      if (new Set(names).size === names.length) return;
    }
    this.ways.forEach((way, i) => {
      const same = this.ways.slice(0, i).filter((other) => other.first === way.name || other.name === way.name).length;
      way.first = way.name;
      if (same) way.name += ` (${same + 1})`;
    });
  }

  // What moves along a way, most first
  parts({ places }) {
    const { data, scene, bench } = this.studio;
    const { camera, film } = scene;
    const z = camera.direction();
    const x = unit(cross(film.up, z));
    const y = cross(z, x);
    const [from, to] = [places[0], places[places.length - 1]];
    const found = data.bodies.flatMap((body, b) => {
      if (!b || body.bare || bench.part(b) !== b) return [];
      const turn = product(to[b][1], [-from[b][1][0], -from[b][1][1], -from[b][1][2], from[b][1][3]]);
      const angle = 2 * Math.atan2(dot(turn, z), Math.abs(turn[3]) < 1e-12 ? 1e-12 : turn[3]);
      const ahead = sub(add(to[b][0], rotate(to[b][1], body.com)), add(from[b][0], rotate(from[b][1], body.com)));
      const size = Math.abs(angle) * data.length + 0.2 * norm(ahead);
      const way = Math.round((Math.atan2(dot(ahead, y), dot(ahead, x)) / Math.PI) * 4 + 8) % 8;
      const sign = Math.abs(angle) > 0.02 ? (angle > 0 ? "↺" : "↻") : "→↗↑↖←↙↓↘"[way];
      return size > 0.01 * film.size ? [[size, `${body.label ?? body.name} ${sign}`]] : [];
    });
    return found.sort((a, b) => b[0] - a[0]).map(([, text]) => text);
  }

  // ---------------------------------------------------------------- what is seen

  get on() {
    return this.ways.length > 0 && !this.studio.playing && !this.studio.grabbed && !this.studio.editor.tool;
  }

  // Where bodies of way i are painted: the end, or for the chosen one somewhere between
  places(i) {
    const { places } = this.ways[i];
    if (i !== this.shown) return places[places.length - 1];
    const phase = ((performance.now() - this.since) % SWING) / SWING;
    return places[Math.round((places.length - 1) * (0.5 - 0.5 * Math.cos(2 * Math.PI * phase)))];
  }

  paint() {
    if (!this.on) return;
    const { scene } = this.studio;
    this.ways.forEach((way, i) => {
      const faint = this.ways.length > 4 ? 0.25 : 0.4;
      const alpha = this.shown < 0 ? faint : i === this.shown ? 0.85 : 0.1;
      scene.painter.glass(() => scene.paintAt(this.places(i), [...way.rgb, alpha]));
    });
    if (this.shown >= 0) this.studio.change();
  }

  // The ghost at a place of the canvas that no body covers, -1: none
  at(x, y) {
    if (!this.on) return -1;
    const { painter, film, camera } = this.studio.scene;
    const n = film.solids.length;
    const found = painter.pick(camera, film.up, x, y, (coded) => {
      film.solids.forEach((solid, i) => film.solid(painter, solid, coded(i)));
      this.ways.forEach((_, i) => this.studio.scene.paintAt(this.places(i), coded(n + i)));
    });
    this.studio.change();
    return found < n ? -1 : found - n;
  }

  choose(i) {
    if (i === this.shown) return;
    Object.assign(this, { shown: i, since: performance.now() });
    $("scene").style.cursor = i < 0 ? "" : "pointer";
    document.querySelectorAll("#branches button").forEach((button, k) => button.classList.toggle("chosen", k === i));
    this.studio.change();
  }

  // The name of the ghost under a pointer, which begins to move
  point(e) {
    const i = e.buttons ? -1 : this.at(e.offsetX, e.offsetY);
    this.choose(i);
    return i < 0 ? "" : `${this.ways[i].name}: click to go this way`;
  }

  down(e) {
    this.pressed = e.button > 0 || e.shiftKey ? -1 : this.at(e.offsetX, e.offsetY);
    if (this.pressed >= 0) e.stopImmediatePropagation();
  }

  up(e) {
    if (this.pressed < 0) return;
    const taken = this.pressed;
    this.pressed = -1;
    e.stopImmediatePropagation();
    this.studio.follow(taken);
  }

  // Entries of the list
  buttons() {
    return this.ways.map((way, i) => {
      const swatch = element("i");
      swatch.style.background = way.color;
      const on = { click: () => this.studio.follow(i), pointerenter: () => this.choose(i), pointerleave: () => this.choose(-1), focus: () => this.choose(i), blur: () => this.choose(-1) };
      return element("button", { title: "go this way", on }, swatch, way.name);
    });
  }
}
