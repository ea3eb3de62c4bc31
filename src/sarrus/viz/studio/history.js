// What has happened: states to go back to in time, and actions to undo.

const MOST_STATES = 6000;
const MOST_ACTIONS = 100;

class History {
  constructor() {
    this.states = []; // {t, q, v, values}
    this.at = -1;
    this.done = [];
    this.undone = [];
  }

  get now() {
    return this.states[this.at];
  }

  get atEnd() {
    return this.at === this.states.length - 1;
  }

  // A new state behind the present one; what lay ahead is gone.
  add(state) {
    this.states.length = this.at + 1;
    this.states.push(state);
    if (this.states.length > MOST_STATES) this.states.shift();
    this.at = this.states.length - 1;
  }

  // Before an action: how things were
  remember(snapshot) {
    this.done.push(snapshot);
    if (this.done.length > MOST_ACTIONS) this.done.shift();
    this.undone = [];
  }

  // The snapshot to return to, or undefined
  undo(present) {
    if (this.done.length) this.undone.push(present);
    return this.done.pop();
  }

  redo(present) {
    if (this.undone.length) this.done.push(present);
    return this.undone.pop();
  }
}
