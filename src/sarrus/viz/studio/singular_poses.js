// Mobility of the pose shown, the way to singular poses and the branches that leave them.

Studio.prototype.analyse = function (asked = false) {
  const { analysis } = this.bench;
  this.analysed = performance.now();
  this.moved = false;
  if (!this.kernel.nc && !asked) this.branches = [];
  if (analysis.large && !asked) {
    $("mobility").replaceChildren(element("p", { text: `${this.data.words} Analyse computes it at this pose; it takes a moment for ${this.kernel.nv} coordinates.` }));
    $("analyse").hidden = false;
    return;
  }
  this.found = analysis.look();
  this.branches = this.found.singular && !this.playing && !this.grabbed && this.kernel.nv <= 40 ? analysis.branches() : [];
  this.seekKernel();
  this.panels.showMobility(this.found, analysis.words(this.found), this.branches.map((along) => analysis.movement(along)));
};

// The kernel back at the present state after searches
Studio.prototype.seekKernel = function () {
  const state = this.history.now;
  const { running } = this.kernel;
  if (!this.branches.length && running) return;
  this.kernel.put(state.q, state.v, state.t);
};

Studio.prototype.approach = function () {
  this.remember();
  this.playing = false;
  const k = this.kernel;
  k.of("v").fill(0);
  const { found, least } = this.bench.analysis.approach();
  this.say(found ? "" : `no singular pose near by: the smallest singular value falls to ${number(least)} at best`);
  k.of("v").fill(0);
  k.running = false;
  this.record();
  this.analyse(true);
};

Studio.prototype.follow = function (i) {
  this.remember();
  const { analysis } = this.bench;
  const k = this.kernel;
  let along = this.branches[i];
  for (let n = 0; n < 10; n++) {
    const here = k.of("q").slice();
    analysis.move(here, along, 0.02);
    if (k.closePose()) {
      k.of("q").set(here);
      break;
    }
    const there = k.of("q").slice();
    k.of("q1").set(there);
    k.of("q").set(here);
    k.call.difference();
    const moved = Array.from(k.of("dq"), (x, j) => x / this.data.unit[j]);
    k.of("q").set(there);
    const size = Math.hypot(...moved) || 1;
    along = moved.map((x) => x / size);
    this.record();
  }
  this.analyse(true);
};
