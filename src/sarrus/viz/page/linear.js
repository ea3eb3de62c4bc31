// Vectors, quaternions (x, y, z, w) and 4 x 4 matrices in columns, as WebGL wants them.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => times(a, 1 / (norm(a) || 1));

// Any two unit vectors across z, so that x, y, z is right-handed.
function across(z) {
  const k = Math.abs(z[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0];
  const x = unit(cross(k, z));
  return [x, cross(z, x)];
}

function rotate(q, v) {
  const u = [q[0], q[1], q[2]];
  const t = times(cross(u, v), 2);
  return add(add(v, times(t, q[3])), cross(u, t));
}

function product(p, q) {
  return [
    p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1],
    p[3] * q[1] - p[0] * q[2] + p[1] * q[3] + p[2] * q[0],
    p[3] * q[2] + p[0] * q[1] - p[1] * q[0] + p[2] * q[3],
    p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2],
  ];
}

// Columns x, y, z scaled by s, and the place p.
function matrix(x, y, z, s, p) {
  return [
    x[0] * s[0], x[1] * s[0], x[2] * s[0], 0,
    y[0] * s[1], y[1] * s[1], y[2] * s[1], 0,
    z[0] * s[2], z[1] * s[2], z[2] * s[2], 0,
    p[0], p[1], p[2], 1,
  ];
}

function placed(q, s, p) {
  return matrix(rotate(q, [1, 0, 0]), rotate(q, [0, 1, 0]), rotate(q, [0, 0, 1]), s, p);
}

function multiply(a, b) {
  const out = new Array(16).fill(0);
  for (let c = 0; c < 4; c++)
    for (let r = 0; r < 4; r++)
      for (let k = 0; k < 4; k++) out[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  return out;
}

function perspective(angle, aspect, near, far) {
  const f = 1 / Math.tan(angle / 2);
  const d = 1 / (near - far);
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (near + far) * d, -1, 0, 0, 2 * near * far * d, 0];
}

function lookingAt(eye, target, up) {
  const z = unit(sub(eye, target));
  const x = unit(cross(up, z));
  const y = cross(z, x);
  return [
    x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0,
    -dot(x, eye), -dot(y, eye), -dot(z, eye), 1,
  ];
}

// Flattens everything onto the plane normal . p = height along the light.
function shadowOn(normal, height, light) {
  const d = dot(normal, light);
  const out = [];
  for (let c = 0; c < 3; c++) {
    for (let r = 0; r < 3; r++) out.push((r === c ? 1 : 0) - (light[r] * normal[c]) / d);
    out.push(0);
  }
  return [...out, (light[0] * height) / d, (light[1] * height) / d, (light[2] * height) / d, 1];
}
