// The page: play, slider, keys, charts.

const $ = (id) => document.getElementById(id);
const LOOK = {
  light: { paper: [0.957, 0.961, 0.969], grid: [0.45, 0.5, 0.56, 0.45], shadow: [0.1, 0.12, 0.15, 0.18] },
  dark: { paper: [0.082, 0.094, 0.11], grid: [0.6, 0.66, 0.72, 0.3], shadow: [0, 0, 0, 0.5] },
};

class Chart {
  constructor(film, plot, seek) {
    Object.assign(this, { film, plot });
    this.lines = plot.lines.map((line) => ({ ...line, data: decoded(line.data) }));
    const all = this.lines.flatMap((line) => Array.from(line.data)).filter(Number.isFinite);
    [this.low, this.high] = [Math.min(...all), Math.max(...all)];
    const room = 0.08 * (this.high - this.low) || 1;
    this.low -= room;
    this.high += room;
    this.canvas = document.createElement("canvas");
    const jump = (e) => e.buttons && seek(film.first + this.share(e.offsetX) * (film.last - film.first));
    for (const name of ["pointerdown", "pointermove"]) this.canvas.addEventListener(name, jump);
    $("charts").append(this.canvas);
  }

  share(x) {
    return Math.min(Math.max((x - 44) / (this.canvas.clientWidth - 56), 0), 1);
  }

  paint(t) {
    const { canvas, film } = this;
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    [canvas.width, canvas.height] = [w * ratio, h * ratio];
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const [ink, faint, line] = ["--ink", "--faint", "--line"].map((name) => style.getPropertyValue(name));
    const x = (s) => 44 + s * (w - 56);
    const y = (v) => 24 + (1 - (v - this.low) / (this.high - this.low)) * (h - 40);
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = ink;
    pen.fillText(this.plot.title, 10, 15);
    let right = w - 10;
    for (const one of [...this.lines].reverse()) {
      right -= pen.measureText(one.name).width;
      pen.fillStyle = one.color;
      pen.fillText(one.name, right, 15);
      right -= 12;
    }
    pen.fillStyle = faint;
    pen.strokeStyle = line;
    const step = nice((this.high - this.low) / 4.5);
    for (let v = Math.ceil(this.low / step) * step; v <= this.high; v += step) {
      pen.fillText(`${Math.abs(v) < 1e-6 * step ? 0 : +v.toPrecision(3)}`, 8, y(v) + 4);
      stroke(pen, [[x(0), y(v)], [x(1), y(v)]]);
    }
    const gap = nice((film.last - film.first) / 5);
    for (let s = Math.ceil(film.first / gap) * gap; s <= film.last + 1e-9; s += gap)
      pen.fillText(`${+s.toPrecision(3)} s`, x((s - film.first) / (film.last - film.first)) - 8, h - 3);
    pen.lineWidth = 1.5;
    for (const one of this.lines) {
      pen.strokeStyle = one.color;
      pen.setLineDash(one.dashed ? [5, 4] : []);
      stroke(pen, Array.from(one.data, (v, i) => [x(i / (one.data.length - 1 || 1)), y(v)]).filter((p) => Number.isFinite(p[1])));
    }
    pen.setLineDash([]);
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    const now = x((t - film.first) / (film.last - film.first || 1));
    stroke(pen, [[now, 20], [now, h - 14]]);
  }
}

function stroke(pen, points) {
  pen.beginPath();
  points.forEach((p, i) => (i ? pen.lineTo(...p) : pen.moveTo(...p)));
  pen.stroke();
}

function nice(x) {
  const ten = 10 ** Math.floor(Math.log10(x || 1));
  return [1, 2, 5, 10].find((k) => k * ten >= x) * ten;
}

class Player {
  constructor(film, asked) {
    this.film = film;
    this.playing = !asked.has("t") && film.count > 1;
    this.dirty = true;
    this.painter = new Painter($("scene"));
    this.camera = new Camera($("scene"), film, () => (this.dirty = true));
    this.charts = film.plots.map((plot) => new Chart(film, plot, (t) => this.jump(t)));
    this.theme(asked.get("theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    $("head").querySelector("b").textContent = film.title;
    $("head").querySelector("span").textContent = film.caption;
    $("help").addEventListener("click", () => ($("hints").hidden = !$("hints").hidden));
    document.body.classList.toggle("bare", asked.has("bare"));
    this.key();
    for (const id of ["play", "time", "clock", "speed"]) $(id).hidden = film.count < 2;
    [$("time").min, $("time").max] = [film.first, film.last];
    $("time").addEventListener("input", () => this.jump(+$("time").value));
    $("play").addEventListener("click", () => this.toggle());
    for (const name of ["forces", "ground", "frames"]) $(name).addEventListener("change", () => (this.dirty = true));
    [$("ground").checked, $("frames").checked] = [film.ground !== false, film.frames === true];
    $("forces").parentElement.hidden = !film.arrows.length;
    $("scene").addEventListener("pointermove", (e) => this.point(e));
    $("scene").addEventListener("pointerleave", () => ($("tip").hidden = true));
    $("theme").addEventListener("click", () => this.theme(this.shade === "dark" ? "light" : "dark"));
    addEventListener("resize", () => (this.dirty = true));
    addEventListener("keydown", (e) => this.press(e));
    film.seek(film.first);
    if (asked.has("t")) this.jump(+asked.get("t"));
    requestAnimationFrame((ms) => this.tick(ms));
  }

  key() {
    const named = new Map(this.film.arrows.map((arrow) => [arrow.color, arrow.legend]));
    $("key").hidden = !named.size;
    for (const [color, text] of named) {
      const mark = document.createElement("i");
      mark.style.background = color;
      $("key").append(mark, text);
    }
  }

  // The name of what the mouse is on.
  point(e) {
    const found = e.buttons ? -1 : this.film.pick(this.painter, this.camera, e.offsetX, e.offsetY, $("forces").checked);
    const text = found < 0 ? "" : this.film.text(found);
    $("tip").hidden = !text;
    $("tip").textContent = text;
    $("tip").style.left = `${Math.min(e.offsetX + 14, $("stage").clientWidth - 8 - $("tip").offsetWidth)}px`;
    $("tip").style.top = `${Math.max(e.offsetY - 34, 4)}px`;
  }

  theme(name) {
    this.shade = name;
    document.documentElement.dataset.theme = name;
    $("theme").textContent = name === "dark" ? "light" : "dark";
    this.dirty = true;
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.film.t >= this.film.last) this.film.seek(this.film.first);
    this.dirty = true;
  }

  jump(t) {
    this.playing = false;
    this.film.seek(Math.min(Math.max(t, this.film.first), this.film.last));
    this.dirty = true;
  }

  press(e) {
    if (e.target.tagName === "SELECT" || e.ctrlKey || e.metaKey) return;
    const { film } = this;
    const does = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.jump(film.t - film.step),
      ArrowRight: () => this.jump(film.t + film.step),
      Home: () => this.jump(film.first),
      End: () => this.jump(film.last),
      f: () => $("forces").click(),
      g: () => $("ground").click(),
      a: () => $("frames").click(),
      d: () => $("theme").click(),
      r: () => this.camera.reset(),
      o: () => this.camera.fitAll(),
      c: () => this.camera.follow(!this.camera.follows),
      h: () => $("help").click(),
      "+": () => this.camera.zoom(0.9),
      "-": () => this.camera.zoom(1.1),
    }[e.key];
    if (!does) return;
    e.preventDefault();
    does();
  }

  tick(ms) {
    const { film } = this;
    const passed = this.before === undefined ? 0 : Math.min((ms - this.before) / 1000, 0.1);
    this.before = ms;
    if (this.playing) {
      const t = film.t + passed * +$("speed").value;
      film.seek(t > film.last ? film.first : t);
      this.dirty = true;
    }
    if (this.dirty) {
      this.dirty = false;
      const shown = { forces: $("forces").checked, ground: $("ground").checked, frames: $("frames").checked };
      if (this.camera.framed) {
        this.camera.aspect = $("scene").clientWidth / Math.max($("scene").clientHeight, 1);
        this.camera.frame();
      }
      film.paint(this.painter, this.camera, LOOK[this.shade], shown);
      this.charts.forEach((chart) => chart.paint(film.t));
      $("time").value = film.t;
      $("clock").textContent = `${film.t.toFixed(2)} of ${film.last.toFixed(2)} s`;
      $("play").textContent = this.playing ? "pause" : "play";
    }
    requestAnimationFrame((next) => this.tick(next));
  }
}

try {
  const film = new Film(JSON.parse($("data").textContent));
  film.seek(film.first);
  window.player = new Player(film, new URLSearchParams(location.hash.slice(1)));
} catch (problem) {
  $("head").querySelector("b").textContent = `Nothing to see: ${problem.message}`;
  throw problem;
}
