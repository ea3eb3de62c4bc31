// Buttons, keys, links and files; and the start of the page.

Studio.prototype.buttons = function () {
  const click = (id, does) => $(id).addEventListener("click", does);
  click("play", () => this.toggle());
  click("reset", () => this.reset());
  click("undo", () => this.undo("undo"));
  click("redo", () => this.undo("redo"));
  click("theme", () => this.setTheme(this.theme === "dark" ? "light" : "dark"));
  click("motors-hold", () => {
    this.remember();
    this.set(() => this.bench.holdAll($("motors-hold").checked));
    this.panels.showSettings();
  });
  click("help", () => ($("hints").hidden = !$("hints").hidden));
  click("link", () => this.shareLink());
  click("save", () => download("state.json", JSON.stringify(this.shared())));
  $("time").addEventListener("input", () => {
    this.looping = this.playing = false;
    this.seek(+$("time").value);
  });
  for (const id of ["show-loops", "show-joints"])
    $(id).addEventListener("change", () => {
      this.last = undefined;
      this.seek(this.history.at);
    });
  $("open").addEventListener("change", async () => {
    const [file] = $("open").files;
    if (file) this.open(await file.text());
  });
  for (const section of document.querySelectorAll("details")) section.addEventListener("toggle", () => this.change());
  $("scene").addEventListener("pointermove", (e) => e.pointerType === "mouse" && (this.pointer = e));
  $("scene").addEventListener("pointerleave", () => ($("tip").hidden = true));
  addEventListener("resize", () => this.change());
  addEventListener("keydown", (e) => this.press(e));
  const asked = new URLSearchParams(location.hash.slice(1));
  const usual = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  this.setTheme(["dark", "light"].includes(asked.get("theme")) ? asked.get("theme") : usual);
  if (asked.has("bare")) this.bare();
};

// The picture with its badge and "play" alone, for a frame in another page, which the wheel goes on to scroll
Studio.prototype.bare = function () {
  document.documentElement.dataset.bare = "";
  this.say("drag any part of it");
  $("scene").addEventListener("wheel", (e) => e.ctrlKey || e.stopImmediatePropagation(), { capture: true });
};

Studio.prototype.undo = function (way) {
  const found = this.history[way](this.snapshot());
  if (found) this.restore(found);
};

Studio.prototype.shared = function () {
  const { camera } = this.scene;
  return { ...this.snapshot(), eye: [camera.azimuth, camera.height, camera.far, ...camera.target] };
};

Studio.prototype.shareLink = async function () {
  location.hash = `state=${toFragment(JSON.stringify(this.shared()))}`;
  try {
    await navigator.clipboard.writeText(location.href);
    this.say("the link is in the clipboard and in the address line");
  } catch {
    this.say("the link is in the address line");
  }
};

// A state from a link or a file
Studio.prototype.open = function (text) {
  try {
    const edits = checkedEdits(text);
    if (edits.length && !this.bench.base) throw new Error("this mechanism cannot be edited");
    const { data } = edits.length ? this.bench.edited(edits) : this.bench.first;
    const stops = edits.length || !this.bench.first.stops ? 0 : this.bench.first.stops.list.length;
    const given = checkedState(text, { nq: data.q.length, nv: data.coordinates.length, nb: data.bodies.length, stops });
    this.remember();
    this.restore({ ...given, edits });
    if (given.eye) {
      const { camera } = this.scene;
      [camera.azimuth, camera.height, camera.far] = given.eye;
      camera.framed = false;
      camera.target = given.eye.slice(3);
    }
  } catch (problem) {
    this.say(`that could not be opened: ${problem.message}`);
  }
};

Studio.prototype.press = function (e) {
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "z") {
    e.preventDefault();
    return this.undo(e.shiftKey ? "redo" : "undo");
  }
  if (e.ctrlKey || e.metaKey || e.altKey || ["SELECT", "INPUT", "SUMMARY"].includes(e.target.tagName)) return;
  const onButton = e.target.tagName === "BUTTON";
  const far = e.shiftKey ? 40 : 10;
  const lead = (dx, dy) => (this.grabbed ? (this.grabbed.target = this.hand.nudge(this.grabbed.target, dx, dy)) : this.step(Math.sign(dx + dy)));
  const does = {
    " ": () => !onButton && this.toggle(),
    ArrowLeft: () => lead(-far, 0),
    ArrowRight: () => lead(far, 0),
    ArrowUp: () => this.grabbed && lead(0, far),
    ArrowDown: () => this.grabbed && lead(0, -far),
    Enter: () => !onButton && this.takeByKey(),
    Escape: () => this.grabbed && this.release(),
    k: () => this.setMode(this.mode === "dynamic" ? "kinematic" : "dynamic"),
    f: () => $("show-loops").click(),
    j: () => $("show-joints").click(),
    d: () => $("theme").click(),
    r: () => this.scene.camera.reset(),
    t: () => this.addTrace(),
    h: () => $("help").click(),
    Home: () => this.reset(),
    "+": () => this.scene.camera.zoom(0.9),
    "-": () => this.scene.camera.zoom(1.1),
  }[e.key];
  if (!does || (onButton && [" ", "Enter"].includes(e.key))) return;
  e.preventDefault();
  does();
  this.dirty = true;
};

async function begin() {
  const data = JSON.parse($("data").textContent);
  const module = await WebAssembly.compile(await unzipped(data.kernel));
  const opened = async (text) => (text ? JSON.parse(new TextDecoder().decode(await unzipped(text))) : null);
  const stops = await opened(data.stops);
  data.edit = await opened(data.edit);
  data.film = await opened(data.film);
  const studio = new Studio(new Workbench(module, data, await unzipped(data.table), stops));
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.has("state"))
    try {
      studio.open(fromFragment(asked.get("state")));
    } catch {
      studio.say("the link holds no state");
    }
  window.studio = studio;
  requestAnimationFrame((ms) => studio.tick(ms));
}

begin().catch((problem) => {
  $("title").textContent = `Nothing to see: ${problem.message}`;
  throw problem;
});
