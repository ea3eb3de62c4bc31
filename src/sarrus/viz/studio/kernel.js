// The kernel of sarrus (bindings/wasm/studio.cpp): one mechanism, its arrays as views of the module's memory.

const STEP_TROUBLE = [
  "", "stopped", "no inertia along a free direction", "numbers became infinite", "the loops could not be closed",
  "the step size collapsed", "two singular poses too close together", "a singular pose within the step",
];

class Kernel {
  // A compiled module and the table of a model (Uint8Array)
  static make(module, table) {
    return Object.assign(new Kernel(new WebAssembly.Instance(module, {}).exports, table), { module });
  }

  constructor(exports, table) {
    this.call = exports;
    if (exports._initialize) exports._initialize();
    const place = exports.table(table.length);
    new Uint8Array(exports.memory.buffer, place, table.length).set(table);
    if (!exports.load()) throw new Error("the table of the mechanism does not fit this kernel");
    this.names = this.text(exports.names()).trim().split(" ");
    this.offset = {};
    this.length = {};
    this.names.forEach((name, k) => {
      this.offset[name] = exports.array(k);
      this.length[name] = exports.array_size(k);
    });
    this.methods = [];
    for (let k = 0, at; (at = exports.method_name(k)); k++) this.methods.push(this.text(at));
    [this.nq, this.nv, this.nc] = ["q", "v", "phi"].map((name) => this.length[name]);
    this.method("auto", 1e-6, 1e-9);
    this.t = 0;
    this.running = false;
  }

  text(at) {
    const bytes = new Uint8Array(this.call.memory.buffer, at);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  // A view of an array; memory that grows makes old views useless, so ask again after every call.
  of(name) {
    return new Float64Array(this.call.memory.buffer, this.offset[name], this.length[name]);
  }

  set(name, values) {
    this.of(name).set(values);
    this.running = false;
  }

  get report() {
    const [t, drift, velocityDrift, pivot, step, gap, rank, evaluations] = this.of("report");
    return { t, drift, velocityDrift, pivot, step, gap, rank, evaluations };
  }

  get unique() {
    return new Uint8Array(this.call.memory.buffer, this.call.unique(), this.nc);
  }

  get positions() {
    return new Int32Array(this.call.memory.buffer, this.call.positions(), this.nv);
  }

  get gravity() {
    return new Float64Array(this.call.memory.buffer, this.call.gravity(), 3);
  }

  method(name, rtol, atol) {
    if (!this.call.method(this.methods.indexOf(name), rtol, atol)) throw new Error(`no method ${name}`);
    this.running = false;
  }

  drives(first, step, values) {
    const count = values.length / (this.length.drive || 1);
    const place = this.call.drives(first, step, count);
    new Float64Array(this.call.memory.buffer, place, values.length).set(values);
  }

  // The state (q, v) at time t, as it is
  put(q, v, t) {
    this.set("q", q);
    this.set("v", v);
    this.t = t;
  }

  project() {
    this.running = false;
    return this.call.project(this.t);
  }

  // The pose to the nearest one on the constraints, at rest and with drives held
  closePose() {
    this.running = false;
    return this.call.close_pose(this.t);
  }

  // Simulates until time `end` or until `budget` ms are used; returns "" or what went wrong.
  advance(end, budget = Infinity, h = 0) {
    const until = performance.now() + budget;
    if (!this.running) {
      const status = this.call.start(this.t, -1);
      if (status) return STEP_TROUBLE[status];
      this.running = true;
      this.next = h;
    }
    while (this.t < end) {
      const status = this.call.step(h || this.next, end);
      if (status) {
        this.running = false;
        return STEP_TROUBLE[status];
      }
      this.t = this.report.t;
      this.next = this.report.step;
      if (performance.now() > until) break;
    }
    return "";
  }

  // At most `steps` steps of the hand's point (in the axes of the body) towards target; nothing moves then.
  drag(body, point, target, steps, budget = Infinity) {
    this.hand(body, point, target, 0, 0);
    const until = performance.now() + budget;
    let taken = 0;
    while (taken < steps && this.call.drag(this.t, 1)) {
      taken++;
      if (performance.now() > until) break;
    }
    this.call.hold(-1);
    this.of("v").fill(0);
    this.running = false;
    return taken;
  }

  // A spring with a damper between a point of a body and a target; body -1 lets go
  hand(body, point, target, stiffness, damping) {
    this.of("hand").set([...point, ...target, stiffness, damping]);
    this.call.hold(body);
  }

  place() {
    this.call.frames();
  }

  accelerate() {
    return this.call.accelerate(this.t);
  }

  gap() {
    this.call.constraints(this.t);
    return this.of("phi").reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  }
}

function bytesOf(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

async function unzipped(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
