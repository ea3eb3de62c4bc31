// Order of the operations of a recorded function: those that nothing needs are left out, the others come in
// an order in which few values live at once.
#pragma once

#include <set>

#include "recorded.hpp"

SARRUS_BEGIN

constexpr int LOOK_AHEAD = 200;  // operations that are ready, looked at before one is chosen

// use(operand) for the nodes that a node needs
template <class F>
void each_operand(const Recording& r, const Node& n, F use) {
  using enum Operation;
  switch (n.op) {
    case CONSTANT:
    case INPUT:
      return;
    case CALL:
      for (int x : r.calls[n.a]) use(x);
      return;
    case ADD:
    case SUB:
    case MUL:
    case ATAN2:
    case LESS:
      return use(n.a), use(n.b);
    case SELECT:
      return use(n.a), use(n.b), use(n.c);
    default:
      return use(n.a);
  }
}

// Which nodes the outputs and guards need
inline std::vector<char> needed_nodes(const Recording& r) {
  std::vector<char> needed(r.nodes.size(), 0);
  for (int x : r.outputs) needed[x] = 1;
  for (const RecordedGuard& g : r.guards) needed[g.node] = 1;
  for (int i = static_cast<int>(r.nodes.size()) - 1; i >= 0; --i)
    if (needed[i]) each_operand(r, r.nodes[i], [&](int x) { needed[x] = 1; });
  return needed;
}

// Greedy: of the operations that are ready, in the order of recording, the one that frees most operands.
inline std::vector<int> schedule(const Recording& r) {
  std::vector<char> needed = needed_nodes(r);
  int n = static_cast<int>(r.nodes.size());
  std::vector<int> waits(n, 0), uses(n, 0), order;
  std::vector<std::vector<int>> users(n);
  for (int i = 0; i < n; ++i)
    if (needed[i]) each_operand(r, r.nodes[i], [&](int x) { users[x].push_back(i), ++waits[i], ++uses[x]; });
  for (int x : r.outputs) ++uses[x];  // live to the end
  std::set<int> ready;
  for (int i = 0; i < n; ++i)
    if (needed[i] && waits[i] == 0) ready.insert(i);
  while (!ready.empty()) {
    int best = -1, most = -1, looked = 0;
    for (int i : ready) {
      int frees = 0;
      each_operand(r, r.nodes[i], [&](int x) { frees += uses[x] == 1; });
      if (r.nodes[i].op == Operation::CONSTANT || r.nodes[i].op == Operation::INPUT)
        frees = 9;  // cost nothing
      if (frees > most) best = i, most = frees;
      if (++looked == LOOK_AHEAD) break;
    }
    ready.erase(best);
    order.push_back(best);
    each_operand(r, r.nodes[best], [&](int x) { --uses[x]; });
    for (int u : users[best])
      if (--waits[u] == 0) ready.insert(u);
  }
  return order;
}

SARRUS_END
