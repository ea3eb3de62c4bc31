// Forces as arrows, and what one reads when the pointer is on an arrow or a solid.

const LONGEST_ARROW = 0.28; // of the size of the scene
const ON_ARROW = 7; // pixels

Object.assign(Studio.prototype, {
  forces() {
    return $("show-loops").checked || $("show-joints").checked;
  },

  // Loads of loops, forces and joints
  loads() {
    if (this.joined) return this.joined;
    const { bodies, kernel } = { bodies: this.bench.bodies, kernel: this.kernel };
    const found = bodies.loads();
    const g = this.grabbed;
    const hand = g && g.force ? { body: g.body, force: g.force, at: bodies.place([g.body, ...g.point]) } : null;
    found.joints = bodies.bearings(found, Array.from(kernel.gravity), hand);
    return (this.joined = found);
  },

  // {at, force [N], color, faint, name: what acts on what}. A loop that was cut in a copy of a part shows the load of
  // the joint that carries the copy.
  shownLoads() {
    const { loops, bodies } = this.data;
    const loads = this.loads();
    const called = (b) => bodies[b].label ?? bodies[b].name;
    const said = (b) => (called(b) === bodies[b].name ? `joint of ${called(b)}` : `${bodies[b].name} on ${called(b)}`);
    const joint = (b, color, faint) => ({ at: loads.joints[b].at, force: loads.joints[b].force, color, faint, name: said(b) });
    const out = [];
    if ($("show-loops").checked) {
      loads.loops.forEach((load, i) => {
        const { carrier, name } = loops[i];
        if (carrier !== undefined) out.push(joint(carrier, COLORS.loop, !load.sure));
        else out.push({ at: load.at, force: times(load.force, -1), color: COLORS.loop, faint: !load.sure, name: `${name} on ${called(load.a)}` });
      });
      for (const load of loads.forces) out.push({ at: load.at, force: load.force, color: COLORS.spring, name: `${load.name} on ${called(load.b)}` });
    }
    const cut = new Set(loops.map((loop) => loop.carrier));
    const carries = (b) => called(b) !== called(bodies[b].parent) && !($("show-loops").checked && cut.has(b));
    if ($("show-joints").checked) bodies.forEach((_, b) => b && carries(b) && out.push(joint(b, COLORS.joint, false)));
    return out;
  },

  // Loads to scale: `force` is what is drawn, `newton` its size
  arrows() {
    $("legend").hidden = !this.forces();
    if (!this.forces() || !this.last) return [];
    const out = this.shownLoads();
    const most = Math.max(...out.map((x) => norm(x.force)), 0);
    this.most = Math.max(most, 0.98 * (this.most || 0));
    $("longest").textContent = most > 0 ? `longest arrow ${number(most, "N")}` : "";
    const scale = this.most > 0 ? (LONGEST_ARROW * this.scene.film.size) / this.most : 0;
    return out.map((x) => ({ ...x, newton: norm(x.force), force: times(x.force, scale) }));
  },

  // What is at a place of the canvas, in words; "" for nothing
  textAt(x, y) {
    const { scene } = this;
    const far = ({ at, force }) => fromSegment([x, y], scene.pixels(sub(at, force)), scene.pixels(at));
    const near = (this.shownArrows || []).filter((arrow) => norm(arrow.force) > 0.01 * scene.film.size && far(arrow) < ON_ARROW);
    if (near.length) return near.map((arrow) => `${arrow.name}: ${number(arrow.newton, "N")}`).join("; ");
    const i = scene.film.pick(scene.painter, scene.camera, x, y, false);
    return i < 0 ? "" : scene.film.text(i);
  },

  // Shows it beside the pointer
  showTip(e) {
    const text = e.buttons || this.grabbed ? "" : this.ghosts.point(e) || this.textAt(e.offsetX, e.offsetY);
    const tip = $("tip");
    tip.hidden = !text;
    tip.textContent = text;
    tip.style.left = `${Math.max(4, Math.min(e.offsetX + 14, $("stage").clientWidth - 8 - tip.offsetWidth))}px`;
    tip.style.top = `${Math.max(e.offsetY - 34, 4)}px`;
  },
});

// Distance of p from the segment from a to b, in the plane
function fromSegment(p, a, b) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const s = ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / (dx * dx + dy * dy || 1);
  const t = Math.max(0, Math.min(1, s));
  return Math.hypot(p[0] - a[0] - t * dx, p[1] - a[1] - t * dy);
}
