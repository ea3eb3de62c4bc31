// Strip charts of what was recorded, the present at the cursor.

const SHOWN = 900; // states
const INKS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

class Strip {
  constructor(parent, channels, first) {
    this.channels = channels;
    this.choice = element("select", { label: "what this chart shows" }, ...channels.map((c, i) => element("option", { text: c.unit ? `${c.name} [${c.unit}]` : c.name, value: i })));
    this.choice.value = first;
    this.canvas = element("canvas", { className: "strip" });
    this.canvas.setAttribute("role", "img");
    parent.append(element("div", { className: "chart" }, this.choice, this.canvas));
  }

  paint(history) {
    const { canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    if (!w || !h) return;
    [canvas.width, canvas.height] = [w * ratio, h * ratio];
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const channel = this.channels[+this.choice.value];
    const first = Math.max(0, Math.min(history.at - SHOWN / 2, history.states.length - SHOWN));
    const shown = history.states.slice(first, first + SHOWN);
    const lines = channel.columns.map((_, c) => shown.map((s) => channel.of(s)[c]));
    const all = lines.flat().filter(Number.isFinite);
    if (!all.length) return;
    let [low, high] = [Math.min(...all), Math.max(...all)];
    const room = 0.08 * (high - low) || Math.abs(high) * 0.1 || 1e-12;
    [low, high] = [low - room, high + room];
    const style = getComputedStyle(document.documentElement);
    const [ink, faint] = ["--ink", "--faint"].map((name) => style.getPropertyValue(name));
    const x = (i) => 4 + (i / Math.max(1, shown.length - 1)) * (w - 8);
    const y = (v) => 4 + (1 - (v - low) / (high - low)) * (h - 8);
    lines.forEach((line, c) => {
      pen.strokeStyle = INKS[c % INKS.length];
      pen.lineWidth = 1.5;
      pen.beginPath();
      line.forEach((v, i) => Number.isFinite(v) && pen.lineTo(x(i), y(v)));
      pen.stroke();
    });
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = faint;
    pen.fillText(number(high - room), 6, 13);
    pen.fillText(number(low + room), 6, h - 5);
    let right = w - 6;
    for (let c = channel.columns.length - 1; c >= 0 && channel.columns.length > 1; c--) {
      right -= pen.measureText(channel.columns[c]).width;
      pen.fillStyle = INKS[c % INKS.length];
      pen.fillText(channel.columns[c], right, 13);
      right -= 8;
    }
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x(history.at - first), 0);
    pen.lineTo(x(history.at - first), h);
    pen.stroke();
    const now = channel.of(history.now);
    canvas.setAttribute("aria-label", `${channel.name}: ${channel.columns.map((c, i) => `${c} ${number(now[i])}`).join(", ")}`);
  }
}
