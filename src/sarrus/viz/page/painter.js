// Draws solids with WebGL: shading, shadows on the ground, things seen through, arrows that shine through.

const VERTEX = `
attribute vec3 point; attribute vec3 normal;
uniform mat4 view, model; uniform vec3 scale;
varying vec3 n, p;
void main() {
  vec4 at = model * vec4(point, 1.0);
  n = mat3(model[0].xyz, model[1].xyz, model[2].xyz) * (normal / (scale * scale));
  p = at.xyz; gl_Position = view * at;
}`;
const FRAGMENT = `
precision mediump float;
uniform vec4 color; uniform vec3 eye, sun; uniform float shaded, reach; uniform vec3 middle;
varying vec3 n, p;
void main() {
  if (shaded < 0.5) { gl_FragColor = vec4(color.rgb, color.a * (reach > 0.0 ? clamp(1.0 - length(p - middle) / reach, 0.0, 1.0) : 1.0)); return; }
  vec3 m = normalize(n), e = normalize(eye - p);
  if (dot(m, e) < 0.0) m = -m;
  float lit = 0.5 + 0.5 * dot(m, sun);
  float shine = pow(max(dot(m, normalize(sun + e)), 0.0), 40.0);
  gl_FragColor = vec4(color.rgb * (0.42 + 0.62 * lit) + 0.16 * shine, color.a);
}`;

class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    const gl = (this.gl = canvas.getContext("webgl", { antialias: true, stencil: true, alpha: false, preserveDrawingBuffer: true }));
    if (!gl) throw new Error("this browser has no WebGL");
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    this.at = {};
    for (const name of ["view", "model", "scale", "color", "eye", "sun", "shaded", "reach", "middle"])
      this.at[name] = gl.getUniformLocation(program, name);
    this.slots = ["point", "normal"].map((name) => gl.getAttribLocation(program, name));
    this.slots.forEach((slot) => gl.enableVertexAttribArray(slot));
    this.meshes = {};
    for (const [name, mesh] of Object.entries({ tube: tube(), ball: ball(), cone: cone(), cube: cube() })) this.keep(name, mesh);
    this.keep("drum", joined(tube(), disc(0), disc(1)));
    gl.enable(gl.DEPTH_TEST);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
  }

  keep(name, mesh) {
    const gl = this.gl;
    const buffers = [mesh.points, mesh.normals].map((values) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(values), gl.STATIC_DRAW);
      return buffer;
    });
    this.meshes[name] = { buffers, count: mesh.points.length / 3 };
  }

  // Begin a picture: sizes, background, camera, light.
  begin(camera, up, paper) {
    const { gl, canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.max(1, Math.round(canvas.clientWidth * ratio)), Math.max(1, Math.round(canvas.clientHeight * ratio))];
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    gl.viewport(0, 0, w, h);
    gl.clearColor(...paper, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    this.aim(camera, up, w, h);
  }

  aim(camera, up, w, h) {
    const { gl } = this;
    camera.aspect = w / h;
    const eye = camera.eye();
    const angle = w < h ? 2 * Math.atan((Math.tan(0.3) * h) / w) : 0.6;
    this.view = multiply(perspective(angle, w / h, camera.far * 0.02, camera.far * 12), lookingAt(eye, camera.aim(), up));
    const [x, y] = across(up);
    this.sun = unit(add(add(times(up, 1.6), times(x, 0.5)), times(y, -0.7)));
    gl.uniform3fv(this.at.eye, eye);
    gl.uniform3fv(this.at.sun, this.sun);
    gl.uniform1f(this.at.reach, 0);
    this.use(this.view, true);
  }

  use(view, shaded) {
    this.gl.uniformMatrix4fv(this.at.view, false, view);
    this.gl.uniform1f(this.at.shaded, shaded ? 1 : 0);
  }

  draw(mesh, model, scale, color, kind = this.gl.TRIANGLES) {
    const { gl } = this;
    const { buffers, count } = this.meshes[mesh];
    buffers.forEach((buffer, i) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.vertexAttribPointer(this.slots[i], 3, gl.FLOAT, false, 0, 0);
    });
    gl.uniformMatrix4fv(this.at.model, false, model);
    gl.uniform3fv(this.at.scale, scale);
    gl.uniform4fv(this.at.color, color);
    gl.drawArrays(kind, 0, count);
  }

  // Which of the things that `paint` draws is at a pixel: each in a colour that is its number.
  pick(camera, up, x, y, paint) {
    const { gl, canvas } = this;
    const [w, h] = [canvas.width, canvas.height];
    if (!this.hidden || this.hidden.w !== w || this.hidden.h !== h) {
      const [frame, color, depth] = [gl.createFramebuffer(), gl.createTexture(), gl.createRenderbuffer()];
      gl.bindTexture(gl.TEXTURE_2D, color);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, w, h, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
      gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
      gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT16, w, h);
      gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, color, 0);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
      this.hidden = { frame, w, h };
    }
    const ratio = w / canvas.clientWidth;
    const [column, row] = [Math.floor(x * ratio), h - 1 - Math.floor(y * ratio)];
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.hidden.frame);
    gl.viewport(0, 0, w, h);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(column, row, 1, 1);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.aim(camera, up, w, h);
    this.use(this.view, false);
    paint((i) => [((i + 1) & 255) / 255, (((i + 1) >> 8) & 255) / 255, (((i + 1) >> 16) & 255) / 255, 1]);
    const found = new Uint8Array(4);
    gl.readPixels(column, row, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, found);
    gl.disable(gl.SCISSOR_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return found[0] + 256 * found[1] + 65536 * found[2] - 1;
  }

  // Lines of the ground that fade towards the edge.
  ground(origin, up, cell, color) {
    const { gl } = this;
    const half = 20;
    if (!this.meshes.lines) {
      const points = [];
      for (let i = -half; i <= half; i++)
        for (let j = -half; j < half; j++) points.push(i, j, 0, i, j + 1, 0, j, i, 0, j + 1, i, 0);
      this.keep("lines", { points, normals: points });
    }
    const [x, y] = across(up);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    this.use(this.view, false);
    gl.uniform1f(this.at.reach, half * cell * 0.8);
    gl.uniform3fv(this.at.middle, origin);
    this.draw("lines", matrix(x, y, up, [cell, cell, cell], origin), [1, 1, 1], color, gl.LINES);
    gl.uniform1f(this.at.reach, 0);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    this.use(this.view, true);
  }

  // What `paint` draws, as a shadow on the ground; nothing is darkened twice.
  shadow(paint, up, height, color) {
    const { gl } = this;
    gl.enable(gl.BLEND);
    gl.enable(gl.STENCIL_TEST);
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    gl.depthMask(false);
    this.use(multiply(this.view, shadowOn(up, height, this.sun)), false);
    paint(color);
    gl.depthMask(true);
    gl.disable(gl.STENCIL_TEST);
    gl.disable(gl.BLEND);
    this.use(this.view, true);
  }

  // Seen through, nearest surface only.
  glass(paint) {
    const { gl } = this;
    gl.colorMask(false, false, false, false);
    paint();
    gl.colorMask(true, true, true, true);
    gl.enable(gl.BLEND);
    gl.depthFunc(gl.LEQUAL);
    paint();
    gl.depthFunc(gl.LESS);
    gl.disable(gl.BLEND);
  }

  // In full where in sight, faint where hidden.
  shining(paint) {
    const { gl } = this;
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    gl.depthFunc(gl.GREATER);
    paint(0.3);
    gl.depthMask(true);
    gl.depthFunc(gl.LESS);
    gl.disable(gl.BLEND);
    paint(1);
  }
}
