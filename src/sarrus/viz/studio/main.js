// The studio: time, the hand's effect, what is shown.

const FRAME = 1 / 60;
const BUDGET = 12; // ms of computing in one frame

class Studio {
  constructor(bench) {
    Object.assign(this, { bench, playing: false, mode: "kinematic", traces: [], grabbed: null, found: null, branches: [] });
    this.history = new History();
    const changed = () => (this.dirty = true);
    this.scene = new Scene($("scene"), bench.film, changed);
    this.editor = new Editor(this);
    this.ghosts = new Ghosts(this);
    this.hand = new Hand($("scene"), this.scene, this.data.plane, {
      take: (body, at) => this.take(body, at), move: (target) => (this.grabbed.target = target),
      release: () => this.release(), changed,
    });
    $("title").textContent = this.data.title;
    $("caption").textContent = this.data.caption;
    document.title = this.data.title;
    this.panels = new Panels(this);
    this.buttons();
    this.record();
    if (this.loadRun() && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.looping = this.playing = true;
    this.analyse();
  }

  // ---------------------------------------------------------------- state

  get kernel() {
    return this.bench.kernel;
  }

  get data() {
    return this.bench.data;
  }

  change() {
    this.dirty = true;
  }

  // Numbers of the present state of the kernel, for charts
  values() {
    const k = this.kernel;
    if (!this.simulating) this.bench.rest();
    const wanted = this.forces() || this.data.needs_forces;
    if (wanted && (!this.bench.analysis.large || !this.last || performance.now() - this.last > 250)) {
      k.accelerate();
      k.call.wrenches();
      this.last = performance.now();
    }
    k.place();
    k.call.energies();
    this.joined = null;
    const sources = { kernel: k, bodies: this.bench.bodies, loads: () => this.loads() };
    const [kinetic, potential] = k.of("energy");
    return {
      energy: [kinetic, potential, kinetic + potential],
      drift: this.drift(),
      measures: this.data.measures.map((m) => MEASURES[m.kind](m, sources)),
      traces: this.traces.map((anchor) => this.bench.bodies.place(anchor)),
    };
  }

  drift() {
    const k = this.kernel;
    k.call.constraints(k.t);
    return Array.from(k.of("phi")).reduce((most, x, r) => Math.max(most, Math.abs(x) * (this.data.row_unit[r] === 1 ? this.data.length : 1)), 0);
  }

  record() {
    const k = this.kernel;
    const values = this.values();
    this.recorded = false;
    this.history.add({ t: k.t, q: k.of("q").slice(), v: k.of("v").slice(), values });
    this.dirty = true;
  }

  // Shows a state of the past
  seek(at) {
    const { history } = this;
    history.at = Math.max(0, Math.min(history.states.length - 1, Math.round(at)));
    const state = history.now;
    this.kernel.put(state.q, state.v, state.t);
    const values = this.values();
    if (!state.values) state.values = values;
    this.dirty = this.moved = true;
  }

  snapshot() {
    const { bench, history } = this;
    const settings = Object.fromEntries(SETTINGS.map((name) => [name, Array.from(bench.settings[name])]));
    const state = history.now;
    return { q: Array.from(state.q), v: Array.from(state.v), t: state.t, gravity: bench.scale, stop: bench.stop, ...settings, traces: this.traces.slice(), edits: bench.edits };
  }

  // A run that is played in a loop is so until the person does something.
  remember() {
    this.looping = false;
    this.history.remember(this.snapshot());
  }

  restore(given) {
    const { bench } = this;
    if (given.edits !== bench.edits) this.describe(given.edits);
    bench.choose(given.stop ?? -1);
    for (const name of SETTINGS) bench.settings[name].set(given[name] ?? new Float64Array(this.kernel.nv));
    bench.scale = given.gravity;
    bench.apply();
    this.traces = given.traces;
    this.kernel.put(given.q, given.v, given.t);
    if (this.kernel.gap() > 1e-11 * this.data.length && this.kernel.project()) this.say("that state does not close; the last one is kept");
    this.scene.show(bench.film);
    this.panels.showSettings();
    this.playing = false;
    this.record();
    this.moved = true;
  }

  // The mechanism after a list of edits, at the pose of the last one; throws where they do not fit
  describe(edits) {
    const description = this.bench.edited(edits);
    this.grabbed = null;
    this.playing = this.recorded = false;
    this.blank = undefined;
    this.bench.describe(description, edits);
    this.traces = this.traces.filter(([body]) => body < this.data.bodies.length);
    this.history.states = [];
    this.history.at = -1;
    this.scene.show(this.bench.film);
    this.panels.fill();
    this.record();
    this.moved = true;
  }

  // A setting is changed by the person
  set(change) {
    this.recorded = false; // what lies ahead is no longer so
    change();
    this.bench.apply();
    this.dirty = true;
  }

  chooseStop(stop) {
    if (!this.bench.choose(stop)) return this.say("it cannot be assembled with these values");
    this.say("");
    this.scene.show(this.bench.film);
    this.grabbed = null;
    this.record();
    this.moved = true;
  }

  // A recorded run from its first state on; whether there is one
  loadRun() {
    const { run } = this.data;
    if (!run || this.bench.stop >= 0) return false;
    const [t, q] = ["t", "q"].map((name) => new Float64Array(bytesOf(run[name]).buffer));
    const v = Float64Array.from(new Float32Array(bytesOf(run.v).buffer));
    const { nq, nv } = this.kernel;
    this.history.states = Array.from(t, (time, i) => ({ t: time, q: q.slice(i * nq, i * nq + nq), v: v.slice(i * nv, i * nv + nv), values: null }));
    this.recorded = true; // what lies ahead is played, not computed
    this.blank = 0; // states from here on have no numbers yet
    this.seek(0);
    return true;
  }

  // Numbers of states of a recorded run, a few in each frame
  fill() {
    const { states, at } = this.history;
    const until = performance.now() + 4;
    for (; this.blank < states.length && performance.now() < until; this.blank++) {
      const state = states[this.blank];
      if (state.values) continue;
      this.kernel.put(state.q, state.v, state.t);
      state.values = this.values();
    }
    if (this.blank >= states.length) this.blank = undefined;
    this.seek(at);
  }

  // ---------------------------------------------------------------- the hand

  take(body, at) {
    if (!body) return false;
    this.remember();
    body = this.bench.part(body);
    const point = this.bench.bodies.turnedBack(body, sub(at, this.bench.bodies.origin(body)));
    this.grabbed = { body, point, target: at };
    if (this.mode === "dynamic") {
      const mass = this.bench.mass(body, point, at);
      Object.assign(this.grabbed, { stiffness: mass * PULL * PULL, damping: 2 * mass * PULL });
      if (!this.playing) this.toggle(true);
    } else this.playing = false;
    $("body").value = body;
    this.dirty = true;
    return true;
  }

  release() {
    this.grabbed = null;
    this.kernel.call.hold(-1);
    this.kernel.running = false;
    this.moved = this.dirty = true;
  }

  takeByKey() {
    if (this.grabbed) return this.release();
    const body = +$("body").value;
    if (this.take(body, this.bench.bodies.place([body, ...this.data.bodies[body].com]))) $("scene").focus();
  }

  setMode(mode) {
    this.mode = mode;
    $(mode).checked = true;
  }

  addTrace() {
    const body = +$("body").value;
    const point = this.grabbed ? this.grabbed.point : this.lastPoint && this.lastPoint[0] === body ? this.lastPoint.slice(1) : this.data.bodies[body].com;
    if (!body || this.traces.length >= 6) return;
    this.remember();
    this.traces = [...this.traces, [body, ...point]];
    this.record();
  }

  clearTraces() {
    this.remember();
    this.traces = [];
    this.record();
  }

  // ---------------------------------------------------------------- time

  toggle(on = !this.playing) {
    this.looping = false;
    if (on && !this.playing && !this.grabbed) this.remember();
    this.playing = on;
    this.clock = undefined;
    this.say("");
    this.dirty = true;
  }

  tick(ms) {
    const passed = this.before === undefined ? 0 : Math.min((ms - this.before) / 1000, 0.05);
    this.before = ms;
    const start = performance.now();
    if (this.blank !== undefined) this.fill();
    this.advance(passed);
    this.spent = performance.now() - start;
    if (this.dirty) this.show();
    if (this.pointer) this.showTip(this.pointer);
    this.pointer = null;
    requestAnimationFrame((next) => this.tick(next));
  }

  // One frame of `passed` seconds: the drag, the simulation, or the way back
  advance(passed) {
    const k = this.kernel;
    const g = this.grabbed;
    const speed = +$("speed").value;
    const simulated = this.simulating;
    this.simulating = false;
    if (g && this.mode === "kinematic") {
      if (k.drag(g.body, g.point, g.target, 24, BUDGET)) {
        this.record();
        this.moved = true;
      }
    } else if (this.playing && speed < 0) {
      if (this.history.at === 0) this.toggle(false);
      else this.replay(speed * passed);
    } else if (this.playing && this.recorded && !g && !this.history.atEnd) {
      this.replay(speed * passed);
    } else if (this.playing && this.looping) {
      this.seek(0);
      this.clock = undefined;
    } else if (this.playing) {
      if (!simulated) this.grip();
      this.simulating = true;
      this.simulate(passed * speed);
    }
    if (g) this.lastPoint = [g.body, ...g.point];
  }

  // Goes through recorded states, so far that the clock moves by `time`, or a drag by as many frames
  replay(time) {
    const { states, at } = this.history;
    const [way, clock] = [Math.sign(time), (this.clock ?? states[at].t) + time];
    let next = at + way;
    const still = states[next] && states[next].t === states[at].t;
    while (!still && states[next + way] && way * (states[next + way].t - clock) <= 0) next += way;
    if (!states[next]) return;
    if (still || way * (states[next].t - clock) <= 0) this.seek(next);
    this.clock = still ? states[next].t : clock;
  }

  // A simulation begins: motors hold the pose that it begins at
  grip() {
    this.bench.grip();
    this.panels.showSettings();
    const said = this.bench.holds ? ["motors hold the pose: untick them to let go"] : [];
    if (this.data.weightless && this.bench.scale === 0) said.push("surfaces do not touch in this page: gravity is off");
    if (said.length) this.say(said.join("; "));
  }

  simulate(time) {
    const k = this.kernel;
    const g = this.grabbed;
    if (g) {
      k.hand(g.body, g.point, g.target, g.stiffness, g.damping);
      g.force = times(sub(g.target, this.bench.bodies.place([g.body, ...g.point])), g.stiffness);
    }
    if (time > 0) this.full(this.bench.hold());
    const { drives } = this.data;
    let end = k.t + time;
    if (drives && end > drives.last) {
      end = drives.last;
      this.say(`drives are recorded until ${number(drives.last, "s")}`);
      this.toggle(false);
    }
    const before = k.t;
    const trouble = time > 0 ? k.advance(end, BUDGET) : "";
    this.bench.turn(k.t - before);
    if (trouble) {
      this.say(`the simulation stopped: ${trouble}`);
      this.playing = false;
    }
    this.slow = k.t < end - 1e-9;
    this.record();
    this.moved = true;
  }

  // Says which holding motors are at their limits
  full(names) {
    const text = names.length ? `at the limit of its motor: ${names.join(", ")}` : "";
    if (text !== (this.limited ?? "")) this.say(text);
    this.limited = text;
  }

  step(by) {
    this.looping = this.playing = false;
    this.seek(this.history.at + by);
  }

  reset() {
    this.remember();
    this.playing = false;
    this.grabbed = null;
    if (this.loadRun()) return;
    const { q, v, t } = this.bench.stop < 0 ? this.data : { q: this.bench.stops.list[this.bench.stop].q, v: new Float64Array(this.kernel.nv), t: 0 };
    this.kernel.put(q, v, t);
    this.record();
    this.moved = true;
  }

  // ---------------------------------------------------------------- what is seen

  show() {
    this.dirty = false;
    const { history, scene, bench } = this;
    scene.pose(bench.bodies);
    const g = this.grabbed;
    const hand = g ? { from: bench.bodies.place([g.body, ...g.point]), to: g.target } : null;
    const past = history.states.slice(Math.max(0, history.at - 3000), history.at + 1);
    const traces = this.traces.map((_, i) => past.map((s) => s.values && s.values.traces[i]).filter(Boolean));
    this.shownArrows = this.arrows();
    scene.paint(this.theme, { arrows: this.shownArrows, traces, hand, ghosts: this.ghosts, ...this.editor.shown() });
    this.panels.showNumbers(history);
    if (this.moved && performance.now() - this.analysed > (this.playing || g ? 120 : 0)) this.analyse();
    $("play").textContent = this.playing ? "pause" : "play";
    $("time").max = history.states.length - 1;
    $("time").value = history.at;
    $("clock").textContent = `${history.now.t.toFixed(2)} s${this.slow && this.playing ? ", slower than real time" : ""}`;
    $("undo").disabled = !history.done.length;
    $("redo").disabled = !history.undone.length;
    $("take").textContent = g ? "let go (Esc)" : "take (Enter)";
    if (this.moved) this.dirty = true;
  }

  say(text) {
    $("message").textContent = text;
  }

  setTheme(name) {
    this.theme = name;
    document.documentElement.dataset.theme = name;
    $("theme").textContent = name === "dark" ? "light" : "dark";
    this.dirty = true;
  }
}
