// The panel beside the picture: mobility, hand, motors, parameters, readouts, charts.

const NEAR_SINGULAR = 0.1; // smallest singular value below which the page warns; most mechanisms have 0.2 and more
const FASTEST = 4 * Math.PI, FIRST_SPEED = 0.25; // of motors that turn [rad/s], and the part of it at which they begin
const HUES = [[-3, 0], [-1, 42], [-0.7, 130]]; // log10 of the smallest singular value: red, amber, green

// Colour and words for the nearness of a singular pose
function nearnessShown({ nearness, singular: at }) {
  const x = Math.log10(nearness + 1e-12);
  const i = x < HUES[1][0] ? 0 : 1;
  const [[x0, h0], [x1, h1]] = [HUES[i], HUES[i + 1]];
  const share = Math.max(0, Math.min(1, (x - x0) / (x1 - x0)));
  const words = at ? "singular pose: " : nearness < NEAR_SINGULAR ? "near a singular pose: " : "";
  return [`hsl(${Math.round(h0 + share * (h1 - h0))} 65% 32%)`, words];
}

class Panels {
  constructor(studio) {
    this.studio = studio;
    this.mobility();
    this.hand();
    this.fill();
  }

  // What depends on the mechanism
  fill() {
    for (const id of ["body", "motors", "parameters", "readouts", "strips"]) $(id).replaceChildren();
    this.bodies();
    this.motors();
    this.parameters();
    this.readouts();
    this.studio.editor.fill();
  }

  mobility() {
    const { studio } = this;
    $("analyse").addEventListener("click", () => studio.analyse(true));
    $("approach").addEventListener("click", () => studio.approach());
  }

  showMobility(found, words) {
    $("mobility").replaceChildren(...words.map((text) => element("p", { text })));
    const chip = $("nearness");
    chip.hidden = !Number.isFinite(found.nearness);
    const [color, said] = nearnessShown(found);
    chip.textContent = `${said}smallest singular value ${number(found.nearness)}`;
    chip.style.background = color;
    $("badge").hidden = chip.hidden;
    $("badge").textContent = `${found.singular ? "singular pose" : number(found.nearness)}`;
    $("badge").style.background = color;
    $("approach").hidden = !(found.nearness < NEAR_SINGULAR) || found.singular || found.dof === 0;
    const { ghosts } = this.studio;
    $("branches").replaceChildren(...ghosts.buttons());
    $("branches-title").hidden = !ghosts.ways.length;
    $("branches-title").textContent = `Ways out of this singular pose, as ghosts in the picture${ghosts.left > 0 ? `; ${ghosts.left} more are between these` : ""}:`;
  }

  bodies() {
    const { studio } = this;
    const { bodies } = studio.data;
    bodies.forEach(({ name, bare }, i) => i && !bare && studio.bench.part(i) === i && $("body").append(element("option", { text: name, value: i })));
    $("body").value = studio.bench.part(Math.max(1, bodies.findIndex((body, i) => i && body.mass > 0)));
  }

  hand() {
    const { studio } = this;
    $("take").addEventListener("click", () => studio.takeByKey());
    $("trace").addEventListener("click", () => studio.addTrace());
    $("untrace").addEventListener("click", () => studio.clearTraces());
    for (const name of ["kinematic", "dynamic"]) $(name).addEventListener("change", () => studio.setMode(name));
  }

  motors() {
    const { studio } = this;
    const { data, bench } = studio;
    this.gravity = slider({
      name: "gravity", min: 0, max: 2, value: bench.scale, unit: "of its value", begin: () => studio.remember(),
      change: (x) => studio.set(() => (bench.scale = x)),
    });
    $("motors").append(this.gravity.row);
    this.rows = data.motors.map((motor) => this.motor(motor));
    $("holding").hidden = !data.motors.some((motor) => motor.q >= 0);
    this.showHolding();
  }

  // The switch beside "play"
  showHolding() {
    $("motors-hold").checked = this.studio.bench.holds;
  }

  motor(motor) {
    const { studio } = this;
    const { settings } = studio.bench;
    const j = motor.index;
    const kind = element("select", { label: `${motor.name}: what its motor does` }, ...["free", "force", "hold", "speed"].map((x) => element("option", { text: x, value: x })));
    const force = slider({
      name: motor.name, min: -motor.most, max: motor.most, value: 0, unit: motor.force, begin: () => studio.remember(),
      change: (x) => studio.set(() => (settings.u[j] = x)),
    });
    const held = slider({
      name: motor.name, min: motor.from, max: motor.to, value: 0, unit: motor.unit, begin: () => studio.remember(),
      change: (x) => studio.set(() => ([settings.held[j], settings.aimed[j]] = [x, 1])),
    });
    const most = motor.unit === "rad" ? FASTEST : 2 * studio.data.length;
    const speed = slider({
      name: motor.name, min: -most, max: most, value: 0, unit: `${motor.unit}/s`, begin: () => studio.remember(),
      change: (x) => studio.set(() => (settings.speed[j] = x)),
    });
    const show = () => {
      const holding = settings.speed[j] || kind.value === "speed" ? "speed" : "hold";
      kind.value = settings.hold[j] ? holding : settings.u[j] ? "force" : kind.value === "force" ? "force" : "free";
      force.row.hidden = kind.value !== "force";
      held.row.hidden = kind.value !== "hold";
      speed.row.hidden = kind.value !== "speed";
      speed.put(settings.speed[j]);
      force.put(settings.u[j]);
      held.put(settings.held[j]);
    };
    kind.addEventListener("change", () => {
      studio.remember();
      const wanted = kind.value;
      studio.set(() => {
        settings.u[j] = settings.aimed[j] = 0;
        settings.speed[j] = wanted === "speed" ? FIRST_SPEED * most : 0;
        settings.hold[j] = ["hold", "speed"].includes(wanted) ? studio.bench.inertia(j) || 1 : 0;
        settings.held[j] = studio.bench.kernel.of("q")[motor.q];
      });
      kind.value = wanted;
      this.showHolding();
      show();
    });
    if (motor.q < 0) for (const option of [...kind.options].slice(2)) option.disabled = true;
    $("motors").append(element("div", { className: "row" }, element("span", { text: motor.name, className: "name" }), kind), force.row, held.row, speed.row);
    show();
    return show;
  }

  parameters() {
    const { studio } = this;
    const { stops } = studio.bench;
    $("parameters-section").hidden = !stops;
    if (!stops) return;
    $("parameters-note").textContent = stops.grid
      ? "Each stop is the mechanism as Python compiled it for these values."
      : "Each stop is the mechanism as Python compiled it. One parameter is changed at a time: moving one puts the others back.";
    this.choices = stops.parameters.map((p, i) => {
      const shown = element("output", { text: number(p.values[p.base]) });
      const input = element("input", { type: "range", min: 0, max: p.values.length - 1, step: 1, label: `parameter ${p.name}` });
      input.value = p.base;
      input.addEventListener("change", () => studio.remember());
      input.addEventListener("input", () => {
        if (!stops.grid) this.choices.forEach((other, k) => k !== i && (other.input.value = stops.parameters[k].base));
        this.showParameters();
        studio.chooseStop(this.stop());
      });
      $("parameters").append(element("div", { className: "row" }, element("span", { text: p.name, className: "name" }), input, shown));
      return { input, shown };
    });
  }

  // Index of the stop that the sliders say, -1: as declared
  stop() {
    const { stops } = this.studio.bench;
    const at = this.choices.map((c) => +c.input.value);
    if (at.every((x, i) => x === stops.parameters[i].base)) return -1;
    if (stops.grid) return stops.parameters.reduce((sum, p, i) => sum * p.values.length + at[i], 0);
    const moved = at.findIndex((x, i) => x !== stops.parameters[i].base);
    return stops.parameters.slice(0, moved).reduce((sum, p) => sum + p.values.length, 0) + at[moved];
  }

  showParameters() {
    const { stops } = this.studio.bench;
    this.choices.forEach((c, i) => (c.shown.textContent = number(stops.parameters[i].values[+c.input.value])));
  }

  // Sliders at a stop
  putStop(stop) {
    const { stops } = this.studio.bench;
    if (!stops) return;
    let left = stop;
    const sizes = stops.parameters.map((p) => p.values.length);
    this.choices.forEach((c, i) => (c.input.value = stops.parameters[i].base));
    if (stop >= 0 && stops.grid)
      for (let i = sizes.length - 1; i >= 0; i--) {
        this.choices[i].input.value = left % sizes[i];
        left = Math.floor(left / sizes[i]);
      }
    else if (stop >= 0)
      for (let i = 0; i < sizes.length; i++) {
        if (left < sizes[i]) {
          this.choices[i].input.value = left;
          break;
        }
        left -= sizes[i];
      }
    this.showParameters();
  }

  readouts() {
    const { studio } = this;
    const { data } = studio;
    const energy = { name: "energy", unit: "J", columns: ["kinetic", "potential", "total"], of: (s) => (s.values ? s.values.energy : [NaN, NaN, NaN]) };
    const drift = { name: "drift of the closed loops", unit: "m", columns: ["drift"], of: (s) => [s.values ? s.values.drift : NaN] };
    const measures = data.measures.map((m, i) => ({ name: m.name, unit: m.unit, columns: m.columns, of: (s) => (s.values ? s.values.measures[i] : m.columns.map(() => NaN)) }));
    const coordinates = data.coordinates.map((c, j) => ({
      name: c.name, unit: c.q < 0 ? `${c.unit}/s` : c.unit, columns: [c.q < 0 ? "speed" : "value"],
      of: (s) => [c.q < 0 ? s.v[j] : s.q[c.q]],
    }));
    this.channels = [...measures, energy, drift, ...coordinates];
    const table = (measures.length ? [...measures, energy] : [energy, ...coordinates.slice(0, 12)]).concat(drift);
    this.cells = table.map((channel) => {
      const cell = element("td");
      $("readouts").append(element("tr", {}, element("th", { text: channel.unit ? `${channel.name} [${channel.unit}]` : channel.name, scope: "row" }), cell));
      return [channel, cell];
    });
    const first = [0, measures.length, measures.length + 1].map((i) => Math.min(i, this.channels.length - 1));
    if (!measures.length) first[0] = Math.min(2, this.channels.length - 1);
    this.strips = [...new Set(first)].map((i) => new Strip($("strips"), this.channels, i));
    this.strips.forEach((strip) => strip.choice.addEventListener("change", () => studio.change()));
  }

  showNumbers(history) {
    for (const [channel, cell] of this.cells) {
      const values = channel.of(history.now).map((x) => number(x));
      cell.textContent = values.length > 1 ? values.map((x, i) => `${channel.columns[i]} ${x}`).join("\n") : values[0];
    }
    if ($("strips").closest("details").open) this.strips.forEach((strip) => strip.paint(history));
  }

  showSettings() {
    this.gravity.put(this.studio.bench.scale);
    this.rows.forEach((show) => show());
    this.showHolding();
    this.putStop(this.studio.bench.stop);
  }
}
