// The flat model of the kernel (kernels/tree/model.hpp) as arrays that can be changed, from and to its bytes.

class Table {
  // layout: {sizes: names, fields: [["I" or "F", name, size, width], ...]}, as the kernel lists them
  constructor(bytes, layout) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.layout = layout;
    this.hash = view.getUint32(0, true);
    this.sizes = Object.fromEntries(layout.sizes.map((name, i) => [name, view.getInt32(4 + 4 * i, true)]));
    let at = 4 + 4 * layout.sizes.length;
    for (const [type, name, size, width] of layout.fields) {
      at = (at + 7) & ~7;
      const bytesEach = type === "I" ? 4 : 8;
      const read = (i) => (type === "I" ? view.getInt32(at + 4 * i, true) : view.getFloat64(at + 8 * i, true));
      this[name] = Array.from({ length: this.sizes[size] * width }, (_, i) => read(i));
      at += bytesEach * this[name].length;
    }
  }

  copy() {
    const out = Object.assign(Object.create(Table.prototype), this, { sizes: { ...this.sizes } });
    for (const [, name] of this.layout.fields) out[name] = this[name].slice();
    return out;
  }

  // Sizes follow the arrays; nq and nd, which count no array, are as they were set.
  bytes() {
    const { sizes, layout } = this;
    for (const [, name, size, width] of layout.fields) sizes[size] = this[name].length / width;
    let length = 4 + 4 * layout.sizes.length;
    const starts = layout.fields.map(([type, name]) => {
      const start = (length + 7) & ~7;
      length = start + (type === "I" ? 4 : 8) * this[name].length;
      return start;
    });
    const view = new DataView(new ArrayBuffer(length));
    view.setUint32(0, this.hash, true);
    layout.sizes.forEach((name, i) => view.setInt32(4 + 4 * i, sizes[name], true));
    layout.fields.forEach(([type, name], f) =>
      this[name].forEach((x, i) => (type === "I" ? view.setInt32(starts[f] + 4 * i, x, true) : view.setFloat64(starts[f] + 8 * i, x, true))),
    );
    return new Uint8Array(view.buffer);
  }

  // Appends entries to several arrays: {name: number or numbers}
  append(entries) {
    for (const [name, values] of Object.entries(entries)) this[name].push(...[values].flat());
  }

  // Nodes from n up to, not including, the ground
  path(n) {
    const out = [];
    for (; n > 0; n = this.parent[n]) out.push(n);
    return out;
  }
}
