// The hand: takes a point of a body by mouse, finger or keyboard and leads it.

class Hand {
  // canvas; scene; plane: normal of a planar mechanism or null; take(body, at) -> whether, move(target), release()
  constructor(canvas, scene, plane, does) {
    Object.assign(this, { canvas, scene, plane, does, held: null });
    const first = { capture: true }; // before the camera hears of it
    canvas.addEventListener("pointerdown", (e) => this.down(e), first);
    canvas.addEventListener("pointermove", (e) => this.moved(e), first);
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (e) => this.up(e), first);
  }

  down(e) {
    if (this.held || e.button > 0 || e.shiftKey || this.scene.camera.touches.size) return;
    const found = this.scene.pick(e.offsetX, e.offsetY);
    this.does.changed();
    if (!found || !this.does.take(found.body, found.at)) return;
    e.stopImmediatePropagation();
    this.canvas.setPointerCapture(e.pointerId);
    const ahead = unit(sub(this.scene.camera.eye(), this.scene.camera.target));
    const usable = this.plane && Math.abs(dot(this.plane, ahead)) > 0.3;
    this.held = { pointer: e.pointerId, at: found.at, normal: usable ? this.plane : ahead };
  }

  moved(e) {
    if (!this.held || e.pointerId !== this.held.pointer) return;
    e.stopImmediatePropagation();
    const { eye, along } = this.scene.ray(e.offsetX, e.offsetY);
    const { at, normal } = this.held;
    const ahead = dot(normal, along);
    if (Math.abs(ahead) < 0.05) return;
    this.does.move(add(eye, times(along, dot(normal, sub(at, eye)) / ahead)));
  }

  up(e) {
    if (!this.held || e.pointerId !== this.held.pointer) return;
    e.stopImmediatePropagation();
    this.held = null;
    this.does.release();
  }

  // Moves the target by so many pixels, for keys
  nudge(target, dx, dy) {
    const { camera, film } = this.scene;
    const z = unit(sub(camera.eye(), camera.target));
    const x = unit(cross(film.up, z));
    const s = camera.far / this.canvas.clientHeight;
    return add(target, add(times(x, dx * s), times(cross(z, x), dy * s)));
  }
}
