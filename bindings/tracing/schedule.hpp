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

// Operations that are not done: what each waits for, who uses its result, and how many uses are to come
struct Pending {
  std::vector<int> waits, uses;
  std::vector<std::vector<int>> users;
  std::set<int> ready;

  explicit Pending(const Recording& r) : waits(r.nodes.size(), 0), uses(waits), users(r.nodes.size()) {
    std::vector<char> needed = needed_nodes(r);
    for (int x : r.outputs) ++uses[x];  // live to the end
    for (int i = 0; i < static_cast<int>(r.nodes.size()); ++i) {
      if (!needed[i]) continue;
      each_operand(r, r.nodes[i], [&](int x) { users[x].push_back(i), ++waits[i], ++uses[x]; });
      if (waits[i] == 0) ready.insert(i);
    }
  }

  // How many values end with operation i
  int frees(const Recording& r, int i) const {
    Operation op = r.nodes[i].op;
    if (op == Operation::CONSTANT || op == Operation::INPUT) return 9;  // they cost nothing
    int count = 0;
    each_operand(r, r.nodes[i], [&](int x) { count += uses[x] == 1; });
    return count;
  }

  // Of the operations that are ready, in the order of recording, the one that frees most values
  int best(const Recording& r) const {
    int best = -1, most = -1, looked = 0;
    for (int i : ready) {
      int freed = frees(r, i);
      if (freed > most) best = i, most = freed;
      if (++looked == LOOK_AHEAD) break;
    }
    return best;
  }
};

// Greedy: always the operation that frees most
inline std::vector<int> schedule(const Recording& r) {
  Pending pending(r);
  std::vector<int> order;
  while (!pending.ready.empty()) {
    int next = pending.best(r);
    pending.ready.erase(next);
    order.push_back(next);
    each_operand(r, r.nodes[next], [&](int x) { --pending.uses[x]; });
    for (int user : pending.users[next])
      if (--pending.waits[user] == 0) pending.ready.insert(user);
  }
  return order;
}

SARRUS_END
