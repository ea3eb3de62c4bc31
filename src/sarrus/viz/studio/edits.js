// The edits: each changes a description (`on`) at the pose that it is made at. They hold numbers and indices only, so
// that links can carry them, and check what they are given.

const EDITS = {
  // {pin: index of pins(), to: world point}
  pin(on, { pin, to }) {
    const pins = on.pins();
    const moved = Number.isInteger(pin) && pins[pin];
    if (!moved || !numbersOf(to, 3)) throw new Error("an edit moves a pin that is not there");
    const flat = on.inPlane(sub(to, moved.at));
    const links = on.linksAt(moved, pins);
    const near = on.solidsAt(moved.at);
    const corners = on.cornersAt(moved);
    for (const joint of moved.joints) "body" in joint ? on.shiftJoint(joint.body, flat) : on.shiftLoop(joint.loop, flat);
    for (const [solid, body] of near) on.shiftSolid(solid, body, on.onBody(body, flat));
    for (const link of links) on.reshape(link, flat);
    for (const [body, point] of corners) shiftFrom(point, 0, on.onBody(body, flat));
    on.redraw(moved.bodies);
  },

  // {from: [body, world point], to: [body or -1, world point], mass [kg]}
  bar(on, { from, to, mass }) {
    on.checkPlace(from);
    on.checkPlace(to, -1);
    on.checkMass(mass);
    const [parent, ...start] = from;
    const line = on.inPlane(sub(to.slice(1), start));
    const length = norm(line);
    if (!(length > 1e-6 * on.data.length)) throw new Error("a bar needs two different places");
    const { k, F } = on.axisOn(parent);
    const [u, w] = [(k + 1) % 3, (k + 2) % 3];
    const along = turnedBack3(F, on.onBody(parent, line));
    const thin = (mass * (length / 40) ** 2) / 2;
    const inertia = [0, 1, 2].map((i) => (i === u ? thin : (mass * length * length) / 12));
    const end = times(axis3(u), length);
    const name = on.name("bar");
    const shape = { mass, com: times(end, 0.5), inertia, outline: [[0, 0, 0], end.slice()] };
    const b = on.addBody(name, { parent, p: start, type: HINGE, k, F, q: Math.atan2(along[w], along[u]), ...shape });
    if (to[0] >= 0) on.addPin(on.name("pin"), to[0], b, k, add(start, line), end);
    on.drawBar(b, times(axis3(k), Math.sign(turnedBack3(F, on.onBody(parent, on.data.plane))[k])), end, from, to[0]);
    on.keepInView(start, add(start, line));
  },

  // {on: [body, world point], along: direction in the world, mass [kg]}: a block on a rail of the ground, pinned to the body
  slider(on, { on: place, along, mass }) {
    on.checkPlace(place);
    on.checkMass(mass);
    if (!numbersOf(along, 3)) throw new Error("a slider needs a direction");
    const [body, ...p] = place;
    const flat = on.inPlane(along);
    if (!(norm(flat) > 0)) throw new Error("a slider needs a direction in the plane");
    const z = on.data.plane;
    const x = unit(flat);
    const [k, own] = [x, z].map(axisNumber);
    const straight = k >= 0 && own >= 0;
    const F = straight ? IDENTITY : columns3(x, cross(z, x), z);
    const edge = 0.12 * on.data.length;
    const even = (mass * edge * edge) / 6;
    const b = on.addBody(on.name("slider"), { parent: 0, p, type: SLIDE, k: straight ? k : 0, F, q: 0, mass, com: [0, 0, 0], inertia: [even, even, even] });
    if (body > 0) on.addPin(on.name("pin"), body, b, straight ? own : 2, p, [0, 0, 0]);
    on.drawSlider(b, F, p, x, edge);
  },

  // {coordinate: index into v}: gets an actuator, or loses the one that it has
  motor(on, { coordinate }) {
    const said = Number.isInteger(coordinate) && on.data.coordinates[coordinate];
    if (!said) throw new Error("an edit names a coordinate that is not there");
    const { motors } = on.data;
    const actuators = (on.document.actuators = on.document.actuators || []);
    const at = motors.findIndex((motor) => motor.index === coordinate);
    if (at >= 0) {
      motors.splice(at, 1);
      on.document.actuators = actuators.filter((one) => one.name !== said.name);
      return;
    }
    const angle = said.unit === "rad";
    const weight = on.data.bodies.reduce((sum, body) => sum + body.mass, 0) * Math.max(norm(on.table.gravity), 1);
    const here = said.q >= 0 ? on.data.q[said.q] : 0;
    const reach = angle ? Math.PI : 2 * on.data.length;
    const [low, high] = on.data.limits[coordinate];
    const range = { from: Math.max(low ?? -Infinity, here - reach), to: Math.min(high ?? Infinity, here + reach) };
    actuators.push({ name: said.name, limits: [null, null] });
    motors.push({ name: said.name, index: coordinate, q: said.q, low: null, high: null, most: 2 * weight * (angle ? on.data.length : 1), ...range, unit: said.unit, force: angle ? "N m" : "N" });
  },
};
