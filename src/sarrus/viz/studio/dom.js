// Elements of the page. Text from the mechanism only ever becomes text.

const $ = (id) => document.getElementById(id);

// element("button", {text, label, title, type, ..., on: {click}}, ...children)
function element(tag, { text, label, on = {}, ...rest } = {}, ...children) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (label !== undefined) made.setAttribute("aria-label", label);
  for (const [name, value] of Object.entries(rest)) made[name] = value;
  for (const [name, does] of Object.entries(on)) made.addEventListener(name, does);
  made.append(...children);
  return made;
}

// A slider with its name and value; change(value) while it moves, begin() before
function slider({ name, min, max, value, step = "any", unit = "", change, begin = () => {} }) {
  const shown = element("output", { text: number(value, unit) });
  const input = element("input", { type: "range", min, max, step, label: unit ? `${name} in ${unit}` : name });
  input.value = value;
  input.addEventListener("pointerdown", begin);
  input.addEventListener("keydown", (e) => e.key.startsWith("Arrow") && begin());
  input.addEventListener("input", () => {
    shown.textContent = number(+input.value, unit);
    change(+input.value);
  });
  const row = element("div", { className: "row" }, element("span", { text: name, className: "name" }), input, shown);
  const put = (x) => {
    input.value = x;
    shown.textContent = number(x, unit);
  };
  return { row, input, put };
}

function number(x, unit = "") {
  if (!Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  const text = size !== 0 && (size < 1e-3 || size >= 1e5) ? x.toExponential(1) : x.toPrecision(4).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  return unit ? `${text} ${unit}` : text;
}
