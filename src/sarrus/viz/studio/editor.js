// Editing a planar mechanism: pins are moved, bars, sliders and motors added, by pointer or by the fields of the panel.

const NEAR = 18; // pixels around a pin
const STRAIGHT = 6; // degrees within which a new slider takes the direction of an axis
const HINTS = {
  "": "",
  pin: "Drag a pin. Bodies follow the hand as before.",
  bar: "Press on a pin, a body or the ground and draw to where the bar ends: a pin, a body, or the open.",
  slider: "Press on a pin or a body and draw in the direction of the rail.",
  motor: "Press on a pin: its joint gets a motor, or loses it.",
};

class Editor {
  constructor(studio) {
    Object.assign(this, { studio, tool: "", held: null });
    const { edit } = studio.data;
    $("editing-section").hidden = !edit;
    $("editing").hidden = !this.able;
    $("editing-why").hidden = !(edit && edit.why);
    if (edit && edit.why) $("editing-why").textContent = edit.why;
    if (!this.able) return;
    for (const input of document.querySelectorAll("input[name=tool]")) input.addEventListener("change", () => this.choose(input.value));
    this.connect();
    const first = { capture: true };
    const canvas = $("scene");
    canvas.addEventListener("pointerdown", (e) => this.down(e), first);
    canvas.addEventListener("pointermove", (e) => this.moved(e), first);
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (e) => this.up(e, name === "pointerup"), first);
  }

  get able() {
    return this.studio.bench.base !== null;
  }

  choose(tool) {
    this.tool = tool;
    $("tool-hint").textContent = HINTS[tool];
    this.studio.change();
  }

  // ---------------------------------------------------------------- fields of the panel

  connect() {
    const value = (id) => +$(id).value;
    const place = (pin) => [pin.bodies[0], ...pin.at];
    const { right, up, labels } = this.studio.data.edit;
    this.places = [right, up].map((axis, i) => {
      const input = element("input", { type: "number", step: "any", label: `place of the pin, ${labels[i]}` });
      input.addEventListener("change", () => {
        const pin = this.pins[value("pin")];
        const to = add(pin.at, times(axis, +input.value - dot(pin.at, axis)));
        if (input.value === "") return this.showPlace();
        if (Number.isFinite(+input.value)) this.make({ kind: "pin", pin: value("pin"), to });
      });
      $("pin-place").append(element("span", { text: labels[i], className: "unit" }), input);
      return [axis, input];
    });
    $("pin").addEventListener("change", () => this.showPlace());
    $("add-bar").addEventListener("click", () => this.make({ kind: "bar", from: place(this.pins[value("pin")]), to: place(this.pins[value("pin-to")]) }));
    $("add-slider").addEventListener("click", () => {
      const angle = (value("angle") * Math.PI) / 180;
      const pin = this.pins[value("pin")];
      this.make({ kind: "slider", on: [pin.bodies[pin.bodies.length - 1], ...pin.at], along: add(times(right, Math.cos(angle)), times(up, Math.sin(angle))) });
    });
    $("add-motor").addEventListener("click", () => this.make({ kind: "motor", coordinate: value("joint") }));
    $("as-json").addEventListener("click", () => download("mechanism.json", JSON.stringify(this.document(), null, 1)));
    $("as-python").addEventListener("click", () => download("mechanism.py", pythonProgram(this.document()), "text/x-python"));
  }

  // Pins and joints of the present mechanism
  fill() {
    if (!this.able) return;
    const { bench } = this.studio;
    bench.kernel.place();
    this.findPins();
    for (const [id, list, first] of [["pin", this.pins, 0], ["pin-to", this.pins, 1], ["joint", bench.data.coordinates, 0]]) {
      const chosen = $(id).value;
      $(id).replaceChildren(...list.map((one, k) => element("option", { text: one.name, value: k })));
      $(id).value = chosen && +chosen < list.length ? chosen : Math.min(first, list.length - 1);
    }
    this.showPlace();
  }

  findPins() {
    const { bench } = this.studio;
    this.pins = bench.description.pins(bench.bodies);
  }

  showPlace() {
    const pin = this.pins[+$("pin").value];
    for (const [axis, input] of this.places) if (pin && document.activeElement !== input) input.value = +dot(pin.at, axis).toPrecision(9);
    this.studio.change();
  }

  // The description of the present mechanism, its state as default
  document() {
    const { q, v } = this.studio.history.now;
    return { ...this.studio.bench.description.document, default: { q: Array.from(q), v: Array.from(v) } };
  }

  // ---------------------------------------------------------------- edits

  // One more edit at the pose shown
  make(edit, before = this.studio.bench.edits) {
    const { studio } = this;
    const mass = ["bar", "slider"].includes(edit.kind) ? { mass: +$("new-mass").value } : {};
    try {
      if (before === studio.bench.edits) studio.remember();
      studio.describe([...before, { ...edit, ...mass, q: edit.q || Array.from(studio.history.now.q) }]);
      studio.say("");
    } catch (problem) {
      if (before === studio.bench.edits) studio.history.done.pop();
      studio.say(problem.message);
    }
  }

  // ---------------------------------------------------------------- the pointer

  // Where a ray through a place of the canvas meets the plane of the pins
  onPlane(x, y) {
    const { scene, data } = this.studio;
    const { eye, along } = scene.ray(x, y);
    const ahead = dot(data.plane, along);
    const height = this.pins.length ? this.pins[0].at : [0, 0, 0];
    return Math.abs(ahead) < 0.05 ? null : add(eye, times(along, dot(data.plane, sub(height, eye)) / ahead));
  }

  pinAt(x, y) {
    const far = this.pins.map((pin) => {
      const [px, py] = this.studio.scene.pixels(pin.at);
      return Math.hypot(px - x, py - y);
    });
    const best = far.indexOf(Math.min(...far));
    return best >= 0 && far[best] < NEAR ? best : -1;
  }

  // Corners of outlines, such as open ends of bars: [body, world point]
  corners() {
    const { bodies, description, data } = this.studio.bench;
    const outlines = new Map(description.document.bodies.map((body) => [body.name, body.outline || []]));
    return data.bodies.flatMap((body, b) => (outlines.get(body.name) || []).map((point) => [b, ...bodies.place([b, ...point])]));
  }

  // A pin, a corner, a body or the ground at a place: [body, world point]
  placeAt(x, y, open) {
    const i = this.pinAt(x, y);
    if (i >= 0) return [this.pins[i].bodies[0], ...this.pins[i].at];
    const corner = this.corners().find((one) => Math.hypot(...this.studio.scene.pixels(one.slice(1)).map((v, k) => v - [x, y][k])) < NEAR);
    if (corner) return corner;
    const found = this.studio.scene.pick(x, y);
    const at = this.onPlane(x, y);
    this.studio.change();
    return at && [found ? found.body : open, ...at];
  }

  down(e) {
    const { studio } = this;
    if (!this.tool || this.held || e.button > 0 || e.shiftKey || studio.scene.camera.touches.size) return;
    studio.playing = false;
    this.findPins();
    const [x, y] = [e.offsetX, e.offsetY];
    const pin = this.pinAt(x, y);
    if (["pin", "motor"].includes(this.tool) && pin < 0) return; // the hand takes it
    e.stopImmediatePropagation();
    if (this.tool === "motor") return this.toggleMotor(this.pins[pin]);
    const from = this.tool === "pin" ? null : this.placeAt(x, y, 0);
    if (this.tool !== "pin" && !from) return;
    $("scene").setPointerCapture(e.pointerId);
    this.held = { pointer: e.pointerId, pin, from, to: from && from.slice(1), edits: studio.bench.edits, q: Array.from(studio.history.now.q) };
    if (this.tool === "pin") {
      $("pin").value = pin;
      studio.remember();
    }
  }

  moved(e) {
    const { held } = this;
    if (!held || e.pointerId !== held.pointer) return;
    e.stopImmediatePropagation();
    const to = this.onPlane(e.offsetX, e.offsetY);
    if (!to) return;
    if (this.tool === "pin") this.make({ kind: "pin", pin: held.pin, to, q: held.q }, held.edits);
    else {
      const i = this.tool === "bar" ? this.pinAt(e.offsetX, e.offsetY) : -1;
      held.to = i >= 0 ? this.pins[i].at : to;
      this.studio.say(this.drawn(sub(held.to, held.from.slice(1))));
      this.studio.change();
    }
  }

  // Length and angle of what is drawn, in words
  drawn(way) {
    const { right, up } = this.studio.data.edit;
    const [x, y] = [dot(way, right), dot(way, up)];
    const angle = `${((Math.atan2(y, x) * 180) / Math.PI).toFixed(1)}°`;
    return this.tool === "slider" ? angle : `${number(Math.hypot(x, y), "m")} at ${angle}`;
  }

  up(e, done) {
    const { held } = this;
    if (!held || e.pointerId !== held.pointer) return;
    e.stopImmediatePropagation();
    this.held = null;
    this.studio.change();
    if (!done || this.tool === "pin") return;
    const { from } = held;
    if (this.tool === "bar") {
      const to = this.placeAt(e.offsetX, e.offsetY, -1);
      if (to) this.make({ kind: "bar", from, to });
    } else this.make({ kind: "slider", on: this.movingBody(from), along: this.straightened(sub(held.to, from.slice(1))) });
  }

  // At a pin of the ground a slider belongs to the body that it holds
  movingBody([body, ...at]) {
    const pin = this.pins.find((one) => norm(sub(one.at, at)) === 0);
    return [pin ? pin.bodies[pin.bodies.length - 1] : body, ...at];
  }

  // A direction, along an axis of the picture where it is nearly so
  straightened(way) {
    const { right, up } = this.studio.data.edit;
    const size = norm(way);
    if (!(size > 0)) return right;
    const near = [right, up].find((axis) => Math.abs(dot(way, axis)) > Math.cos((STRAIGHT * Math.PI) / 180) * size);
    return near || way;
  }

  toggleMotor(pin) {
    const { studio } = this;
    const joint = pin.joints.find((one) => "body" in one);
    const name = joint && studio.data.bodies[joint.body].name;
    const coordinate = studio.data.coordinates.findIndex((one) => one.name === name);
    if (coordinate < 0) return studio.say("this pin closes a loop and has no coordinate; give a motor to another pin");
    this.make({ kind: "motor", coordinate });
    const on = studio.data.motors.some((motor) => motor.index === coordinate);
    if (on && studio.data.coordinates[coordinate].q >= 0) studio.bench.drive(coordinate, FIRST_SPEED * FASTEST);
    studio.panels.showSettings();
    studio.say(on ? `${name} has a motor, which turns when you play: see Gravity and motors` : `${name} has no motor now`);
  }

  // What the picture shows of it
  shown() {
    if (!this.able || !this.tool) return { pins: [], line: null };
    if (!this.held) this.findPins();
    const { held } = this;
    const chosen = +$("pin").value;
    return { pins: this.pins.map((pin, i) => ({ at: pin.at, chosen: i === chosen })), line: held && held.from ? { from: held.from.slice(1), to: held.to } : null };
  }
}
