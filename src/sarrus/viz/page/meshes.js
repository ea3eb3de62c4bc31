// Unit solids as triangles: {points, normals}, three numbers each.

function grid(rows, columns, place) {
  const points = [];
  const normals = [];
  const put = (i, j) => {
    const [p, n] = place(i / rows, j / columns);
    points.push(...p);
    normals.push(...n);
  };
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++)
      for (const [a, b] of [[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]]) put(i + a, j + b);
  return { points, normals };
}

function joined(...parts) {
  return { points: parts.flatMap((m) => m.points), normals: parts.flatMap((m) => m.normals) };
}

const TURN = 2 * Math.PI;
const tube = () =>
  grid(1, 28, (i, j) => {
    const [c, s] = [Math.cos(TURN * j), Math.sin(TURN * j)];
    return [[c, s, i], [c, s, 0]];
  });
const disc = (z) =>
  grid(1, 28, (i, j) => [[i * Math.cos(TURN * j), i * Math.sin(TURN * j), z], [0, 0, z < 0.5 ? -1 : 1]]);
const ball = () =>
  grid(14, 24, (i, j) => {
    const [a, b] = [Math.PI * i, TURN * j];
    const p = [Math.sin(a) * Math.cos(b), Math.sin(a) * Math.sin(b), Math.cos(a)];
    return [p, p];
  });
const cone = () =>
  joined(
    grid(1, 28, (i, j) => {
      const [c, s] = [Math.cos(TURN * j), Math.sin(TURN * j)];
      return [[(1 - i) * c, (1 - i) * s, i], unit([c, s, 1])];
    }),
    disc(0),
  );

function cube() {
  const out = { points: [], normals: [] };
  for (const [n, a, b] of [[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    for (const side of [-1, 1])
      for (const [u, v] of [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]]) {
        const [p, q] = [[0, 0, 0], [0, 0, 0]];
        [p[n], p[a], p[b], q[n]] = [side, u, v, side];
        out.points.push(...p);
        out.normals.push(...q);
      }
  return out;
}

// A flat convex outline, as a fan around its first corner.
function fan(corners) {
  const out = { points: [], normals: [] };
  const n = unit(cross(sub(corners[1], corners[0]), sub(corners[2], corners[0])));
  for (let i = 1; i + 1 < corners.length; i++)
    for (const p of [corners[0], corners[i], corners[i + 1]]) {
      out.points.push(...p);
      out.normals.push(...n);
    }
  return out;
}

// Triangles by corner numbers, with normals that are smooth across edges which look round.
function faceted(points, faces) {
  const at = (i) => [points[3 * i], points[3 * i + 1], points[3 * i + 2]];
  const count = faces.length / 3;
  const around = new Map();
  const weighted = [];
  for (let f = 0; f < count; f++) {
    const [a, b, c] = [0, 1, 2].map((k) => at(faces[3 * f + k]));
    weighted.push(cross(sub(b, a), sub(c, a)));
    for (let k = 0; k < 3; k++) {
      const i = faces[3 * f + k];
      if (!around.has(i)) around.set(i, []);
      around.get(i).push(f);
    }
  }
  const flat = weighted.map(unit);
  const out = { points: [], normals: [] };
  for (let f = 0; f < count; f++)
    for (let k = 0; k < 3; k++) {
      const i = faces[3 * f + k];
      let n = [0, 0, 0];
      for (const g of around.get(i)) if (dot(flat[f], flat[g]) > 0.8) n = add(n, weighted[g]);
      out.points.push(...at(i));
      out.normals.push(...unit(n));
    }
  return out;
}
