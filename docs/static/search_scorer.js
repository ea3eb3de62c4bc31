// Order of search results: tutorials and guides first, the reference behind them, decision records last.
"use strict";

const PLACES = [
  [/^tutorials\/|^start$/, 12],
  [/^howto\//, 8],
  [/^api\//, -3],
  [/^changelog$/, -20],
  [/^decisions\//, -30],
];

var Scorer = {
  score: ([name, , , , points]) => points + PLACES.reduce((sum, [place, more]) => sum + (place.test(name) ? more : 0), 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
