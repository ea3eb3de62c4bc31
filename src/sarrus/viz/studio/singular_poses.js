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
  this.ghosts.find(this.branches);
  this.seekKernel();
  this.panels.showMobility(this.found, analysis.words(this.found));
};

// The kernel back at the present state after searches
Studio.prototype.seekKernel = function () {
  const state = this.history.now;
  const { running } = this.kernel;
  if (!this.branches.length && running) return;
  this.kernel.put(state.q, state.v, state.t);
  this.kernel.place();
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

// Goes way i of the ghosts
Studio.prototype.follow = function (i) {
  this.remember();
  const still = new Float64Array(this.kernel.nv);
  for (const q of this.ghosts.ways[i].poses.slice(1)) {
    this.kernel.put(q, still, this.kernel.t);
    this.record();
  }
  this.analyse(true);
};
