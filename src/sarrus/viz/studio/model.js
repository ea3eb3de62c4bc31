// The mechanism on the page: the kernel with what the person has set, at one of the stops of its parameters.

const TURNS = 2 * Math.PI;
const PULL = TURNS * 1.5; // rad/s, of the spring to the finger with what it pulls
const HOLD = TURNS * 3; // the same of coordinates that are held
const SETTINGS = ["u", "hold", "held", "aimed", "speed"]; // of motors: force, stiffness [mass], held value, chosen?, its speed
const DEPENDENT = 1e-9; // singular values of responses below this part of the largest: motors that work on one freedom

class Workbench {
  constructor(module, data, table, stops) {
    Object.assign(this, { module, data, table, stops, stop: -1, scale: data.weightless ? 0 : 1, edits: [] });
    this.first = { data, table, stops };
    this.description = data.edit && !data.edit.why ? Description.from(data, table) : null;
    this.base = this.description;
    this.begin();
  }

  begin() {
    const { data } = this;
    this.settings = Object.fromEntries(SETTINGS.map((name) => [name, new Float64Array(data.coordinates.length)]));
    this.feed = new Float64Array(data.coordinates.length); // what holding motors do beyond their springs
    this.load(this.table);
    this.kernel.put(data.q, data.v, data.t);
    if (data.holds) this.holdAll(true);
  }

  // All motors hold, or exert nothing
  holdAll(on) {
    const { u, hold, aimed, speed } = this.settings;
    for (const { index: j, q } of this.data.motors) [u[j], hold[j], aimed[j], speed[j]] = [0, on && q >= 0 ? 1 : 0, 0, 0];
    this.grip();
  }

  // The motor of coordinate j gets a speed
  drive(j, speed) {
    [this.settings.u[j], this.settings.hold[j], this.settings.speed[j]] = [0, 1, speed];
    this.grip();
  }

  // Motors that hold take the present pose, but for those that a person gave another
  grip() {
    const { hold, held, aimed } = this.settings;
    for (const { index: j, q } of this.data.motors) {
      if (!hold[j]) continue;
      hold[j] = this.inertia(j) || 1;
      if (!aimed[j]) held[j] = this.kernel.of("q")[q];
    }
    this.apply();
  }

  // Motors that hold exert nothing at states that are only looked at
  rest() {
    if (!this.acting) return;
    const { kernel: k, settings } = this;
    this.acting = false;
    for (const name of ["hold_stiffness", "hold_damping"]) k.set(name, new Float64Array(k.nv));
    k.set("u", settings.u.map((u, j) => (settings.hold[j] ? 0 : u)));
  }

  get holds() {
    return this.data.motors.some(({ index }) => this.settings.hold[index]);
  }

  // Another description, made by a list of edits; inputs of motors that it still has stay.
  describe(description, edits) {
    const [{ settings }, motors] = [this, this.data.motors];
    const first = edits.length ? { data: description.data, table: description.table.bytes(), stops: null } : this.first;
    Object.assign(this, first, { description, edits, stop: -1 });
    this.begin();
    for (const { index } of this.data.motors)
      if (motors.some((motor) => motor.index === index)) for (const name of SETTINGS) this.settings[name][index] = settings[name][index];
    this.apply();
  }

  // The description after a list of edits; what is common with the present one is not done again.
  edited(edits) {
    const known = this.edits.length <= edits.length && this.edits.every((edit, i) => edit === edits[i]);
    let description = known ? this.description : this.base;
    for (const edit of edits.slice(known ? this.edits.length : 0)) description = description.edited(edit, this.module);
    return description;
  }

  load(table) {
    const k = (this.kernel = Kernel.make(this.module, table));
    const { data } = this;
    k.set("lower", data.limits.map((x) => x[0] ?? -Infinity));
    k.set("upper", data.limits.map((x) => x[1] ?? Infinity));
    if (data.drives) k.drives(data.drives.first, data.drives.step, new Float64Array(bytesOf(data.drives.values).buffer));
    this.ground = Array.from(k.gravity);
    if (norm(this.ground) === 0) this.ground = times(data.film.up, -9.81);
    this.bodies = new Bodies(k, data);
    this.analysis = new Analysis(k, data);
    this.apply();
  }

  // Gravity, inputs and held coordinates into the kernel
  apply() {
    const { kernel: k, data, settings } = this;
    this.acting = true;
    k.gravity.set(times(this.ground, this.scale));
    const [stiffness, damping] = [new Float64Array(k.nv), new Float64Array(k.nv)];
    data.motors.forEach((motor) => {
      const j = motor.index;
      if (!settings.hold[j]) return;
      stiffness[j] = settings.speed[j] ? 0 : settings.hold[j] * HOLD * HOLD; // hold() follows a value that moves
      damping[j] = 2 * settings.hold[j] * HOLD;
    });
    k.set("u", settings.u.map((u, j) => (settings.hold[j] ? this.feed[j] : u)));
    k.set("hold_stiffness", stiffness);
    k.set("hold_damping", damping);
    k.set("hold_value", settings.held);
    const [low, high] = [new Float64Array(k.nv).fill(-Infinity), new Float64Array(k.nv).fill(Infinity)];
    data.motors.forEach((m) => ([low[m.index], high[m.index]] = [m.low ?? -Infinity, m.high ?? Infinity]));
    k.set("lower_input", low);
    k.set("upper_input", high);
  }

  // Motors that hold carry what acts on them at the present state: gravity, loads, the hand. Their inputs change so that
  // a_j = -HOLD^2 (q_j - held) - 2 HOLD (v_j - speed), within their limits; returns the names of those at a limit.
  hold() {
    const { kernel: k, data, settings, feed } = this;
    const held = data.motors.filter((motor) => settings.hold[motor.index]);
    if (!held.length) return [];
    const accelerations = () => (k.accelerate(), held.map((motor) => k.of("a")[motor.index]));
    k.of("upper_input").fill(Infinity);
    k.of("lower_input").fill(-Infinity);
    const before = accelerations();
    const missing = held.map(({ index: j, q }, i) => -HOLD * HOLD * (k.of("q")[q] - settings.held[j]) - 2 * HOLD * (k.of("v")[j] - settings.speed[j]) - before[i]);
    const columns = held.map(({ index: j }) => {
      k.of("u")[j] += 1;
      const response = accelerations().map((a, i) => a - before[i]);
      k.of("u")[j] -= 1;
      return response;
    });
    const n = held.length;
    const { norms, U, V } = singular(columns.flatMap((_, i) => columns.map((c) => c[i])), n, n);
    const change = held.map((_, i) => norms.reduce((sum, s, r) => (s > DEPENDENT * norms[0] ? sum + (V[r][i] / s) * U[r].reduce((z, x, m) => z + x * missing[m], 0) : sum), 0));
    const full = held.filter(({ index: j, low, high }, i) => {
      const wanted = feed[j] + change[i];
      feed[j] = Math.max(low ?? -Infinity, Math.min(high ?? Infinity, wanted));
      return feed[j] !== wanted;
    });
    this.apply();
    return full.map((motor) => motor.name);
  }

  // Held values of motors with a speed after so many seconds
  turn(time) {
    const { hold, held, speed } = this.settings;
    for (const { index: j } of this.data.motors) if (hold[j]) held[j] += speed[j] * time;
  }

  // The part that a body belongs to: copies of parts, and bodies that only carry one, are not shown by themselves
  part(body) {
    const { label } = this.data.bodies[body];
    const found = this.data.bodies.findIndex((one) => one.name === label);
    return found < 0 ? body : found;
  }

  // Inertia that a force along coordinate j meets
  inertia(j) {
    const k = this.kernel;
    const a = () => (k.accelerate(), k.of("a")[j]);
    k.of("upper_input").fill(Infinity);
    k.of("lower_input").fill(-Infinity);
    const before = a();
    k.of("u")[j] += 1;
    const more = a() - before;
    this.apply();
    return more > 1e-12 ? 1 / more : 0;
  }

  // Mass that a point of a body shows where it moves most easily
  mass(body, point, at) {
    const k = this.kernel;
    const seen = (force) => {
      k.hand(body, point, add(at, force), 1, 0);
      k.accelerate();
      k.call.frames();
      const A = k.of("accelerations").subarray(6 * body, 6 * body + 6);
      return add([A[0], A[1], A[2]], cross([A[3], A[4], A[5]], this.bodies.turned(body, point)));
    };
    const rest = seen([0, 0, 0]);
    const easy = [0, 1, 2].map((i) => seen([0, 1, 2].map((j) => (i === j ? 1 : 0)))[i] - rest[i]);
    k.call.hold(-1);
    return 1 / Math.max(...easy, 1e-9);
  }

  // Goes to another stop of the parameters; the pose follows, or is the stop's own where it cannot. False: the
  // mechanism cannot be assembled there.
  choose(stop) {
    if (stop === this.stop) return true;
    if (stop >= 0 && !this.stops.list[stop]) return false;
    const [q, t] = [this.kernel.of("q").slice(), this.kernel.t];
    const changes = stop < 0 ? null : this.stops.list[stop];
    const table = this.table.slice();
    if (changes) {
      const view = new DataView(table.buffer);
      changes.at.forEach((at, i) => view.setFloat64(8 * at, changes.to[i], true));
    }
    this.stop = stop;
    this.load(table);
    const k = this.kernel;
    k.put(q, new Float64Array(k.nv), t);
    if (k.project()) k.put(changes ? changes.q : this.data.q, new Float64Array(k.nv), t);
    return true;
  }

  get film() {
    return this.stop < 0 ? this.data.film : { ...this.data.film, solids: this.stops.list[this.stop].solids, meshes: this.stops.meshes };
  }
}
