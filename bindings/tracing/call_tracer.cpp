#include "call_tracer.hpp"

#include "../numpy.hpp"
#include "tracer.hpp"

namespace sarrus {

using namespace nb::literals;

namespace {

nb::object integers(const std::vector<int>& x) {
  return New<int>({static_cast<npy_intp>(x.size())}, x.data()).object;
}

nb::list parts_of(const Function::Parts& parts) {
  nb::list found;
  for (const auto& [name, n] : parts) found.append(nb::make_tuple(name.c_str(), n));
  return found;
}

// A function in the order of its schedule: operations (n, 4) with operands as positions, constants (n),
// outputs (positions), guards (k, 3) and the arguments of its calls
nb::dict program_of(const Function& f) {
  std::vector<int> order = schedule(f.r), position(f.r.nodes.size(), -1), outputs;
  for (size_t i = 0; i < order.size(); ++i) position[order[i]] = static_cast<int>(i);
  npy_intp n = order.size(), k = f.r.guards.size();
  New<int> operations({n, 4}), guards({k, 3});
  NewArray constants({n});
  for (npy_intp i = 0; i < n; ++i) {
    const Node& node = f.r.nodes[order[i]];
    int operands[3] = {node.a, node.b, node.c}, count = 0;
    if (node.op != Operation::CALL) each_operand(f.r, node, [&](int x) { operands[count++] = position[x]; });
    operations[4 * i] = static_cast<int>(node.op);
    std::copy_n(operands, 3, operations + 4 * i + 1);
    constants[i] = node.x;
  }
  for (npy_intp i = 0; i < k; ++i) {
    const RecordedGuard& g = f.r.guards[i];
    guards[3 * i] = position[g.node], guards[3 * i + 1] = g.expected, guards[3 * i + 2] = g.bit;
  }
  for (int x : f.r.outputs) outputs.push_back(position[x]);
  nb::list calls;
  for (const auto& inputs : f.r.calls) {
    std::vector<int> at;
    for (int x : inputs) at.push_back(position[x]);
    calls.append(integers(at));
  }
  nb::dict d;
  d["name"] = f.name.c_str();
  d["inputs"] = parts_of(f.inputs), d["outputs"] = parts_of(f.outputs);
  d["operations"] = operations.object, d["constants"] = constants.object;
  d["results"] = integers(outputs), d["guards"] = guards.object, d["calls"] = calls;
  return d;
}

// Places of these entries, {field: flat indices}, in the arrays of a model
std::vector<const double*> places(const ModelD& m, nb::dict entries) {
  std::vector<const double*> found;
  auto add = [&](const char* name, const double* field, int n) {
    if (!entries.contains(name)) return;
    for (nb::handle index : entries[name]) {
      int i = nb::cast<int>(index);
      if (i < 0 || i >= n) throw nb::index_error("no such entry of the model");
      found.push_back(field + i);
    }
  };
#define SARRUS_I(name, count)
#define SARRUS_F(name, count) add(#name, m.name, count);
#define SARRUS_FIELD(type, name, count, width) SARRUS_##type(name, m.count* width)
  SARRUS_MODEL_FIELDS(SARRUS_FIELD)
#undef SARRUS_FIELD
#undef SARRUS_I
#undef SARRUS_F
  return found;
}

// ([function], rank, whether the reference state passes all guards)   tolerances: closed, rank, rounding
nb::tuple record_programs(const Kernel& k, nb::tuple state, nb::tuple tolerances, int newton_steps, int most,
                          nb::dict parameters) {
  Dense q0(state[0], "q", {k.m.nq}), v0(state[1], "v", {k.m.nv});
  Reference at = {
      q0,
      v0,
      {nb::cast<double>(tolerances[0]), nb::cast<double>(tolerances[1]), nb::cast<double>(tolerances[2])},
      newton_steps,
      static_cast<size_t>(most),
      places(k.m, parameters)};
  Tracer tracer(k.m, at);
  nb::list functions;
  for (const Function& f : tracer.functions) functions.append(program_of(f));
  return nb::make_tuple(functions, tracer.rank, tracer.regular);
}

}  // namespace

void bind_tracer(nb::module_& m, nb::class_<Kernel>& kernel) {
  nb::list operations;
#define SARRUS_NAME(name) operations.append(#name);
  SARRUS_OPERATIONS(SARRUS_NAME)
#undef SARRUS_NAME
  m.attr("OPERATIONS") = operations;
  nb::dict guards;
#define SARRUS_GUARD(name) guards[#name] = static_cast<int>(name);
  SARRUS_GUARD(PIVOT)
  SARRUS_GUARD(CLOSURE)
  SARRUS_GUARD(RANK)
  SARRUS_GUARD(DECISION)
#undef SARRUS_GUARD
  m.attr("GUARDS") = guards;
  kernel.def("record", &record_programs, "state"_a, "tolerances"_a, "newton_steps"_a, "most"_a,
             "parameters"_a);
}

}  // namespace sarrus
