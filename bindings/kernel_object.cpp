#include "kernel_object.hpp"

#include "constraints/kinds.hpp"
#include "contacts/shapes/kinds.hpp"
#include "derivatives/equilibrium.hpp"
#include "integrate/step.hpp"
#include "solve/factor/pivoted_matrix.hpp"
#include "solve/search/assembly.hpp"
#include "solve/search/nearest_state.hpp"
#include "tree/forces/formulas.hpp"
#include "tree/forces/kinds.hpp"

#include "numpy.hpp"

#include <string>

namespace sarrus {

namespace {

nb::dict kinds() {
  nb::dict all;
#define SARRUS_DESCRIBE(Kind)                                                         \
  {                                                                                   \
    nb::dict widths;                                                                  \
    Kind::each_parameter([&](const char* name, int width) { widths[name] = width; }); \
    group[#Kind] = widths;                                                            \
  }
#define SARRUS_GROUP(name, list)             \
  {                                          \
    nb::dict group;                          \
    list(SARRUS_DESCRIBE) all[name] = group; \
  }
  SARRUS_GROUP("elements", SARRUS_ELEMENT_KINDS)
  SARRUS_GROUP("forces", SARRUS_FORCE_KINDS)
  SARRUS_GROUP("coordinate_forces", SARRUS_COORDINATE_FORCE_KINDS)
  SARRUS_GROUP("shapes", SARRUS_SHAPE_KINDS)
  return all;
}

}  // namespace

namespace {

// Instructions of formulas, by name
nb::dict formula_operations() {
  nb::dict all;
#define SARRUS_NUMBER(name) all[#name] = static_cast<int>(FormulaOperation::name);
  SARRUS_FORMULA_OPERATIONS(SARRUS_NUMBER)
#undef SARRUS_NUMBER
  return all;
}

// Ends of a search for an equilibrium, by name
nb::dict ends_of_searches() {
  nb::dict rest;
#define SARRUS_REST(name) rest[#name] = static_cast<int>(name);
  SARRUS_REST(FOUND)
  SARRUS_REST(NOT_FOUND)
  SARRUS_REST(NOT_ASSEMBLED)
#undef SARRUS_REST
  return rest;
}

}  // namespace

void export_constants(nb::module_& m) {
  nb::list sizes, fields;
  nb::dict angular, nodes;
#define SARRUS_EXPORT(name) m.attr(#name) = nb::cast(name);
#define SARRUS_SIZE(name) sizes.append(#name);
#define SARRUS_FIELD(type, name, count, width) fields.append(nb::make_tuple(#type, #name, #count, width));
#define SARRUS_ANGULAR(name) angular[#name] = static_cast<int>(Closure::name);
#define SARRUS_NODE(name, Type) nodes[#name] = nb::make_tuple(int(Type::nq), int(Type::nv));
  SARRUS_EXPORT(RANK_TOL)
  SARRUS_EXPORT(LIMIT_TOL)
  SARRUS_EXPORT(UNIQUE_TOL)
  SARRUS_EXPORT(LOST)
  SARRUS_EXPORT(CLOSED)
  SARRUS_EXPORT(CLOSED_TOL)
  SARRUS_EXPORT(MOST_ATTEMPTS)
  SARRUS_EXPORT(CLOSED_ENOUGH)
  SARRUS_EXPORT(NEWTON_STEPS)
  SARRUS_EXPORT(NEAR_SINGULAR)
  SARRUS_EXPORT(STEPS_AROUND)
  SARRUS_EXPORT(MOST_GROWTH)
  SARRUS_EXPORT(MOST_CUT)
  SARRUS_EXPORT(MOST_TURN)
  SARRUS_EXPORT(SAFETY)
  SARRUS_EXPORT(MOST_KICKS)
  SARRUS_EXPORT(KICK_FOUND)
  SARRUS_MODEL_SIZES(SARRUS_SIZE)
  SARRUS_MODEL_FIELDS(SARRUS_FIELD)
  SARRUS_ANGULAR(ANY)
  SARRUS_ANGULAR(ACROSS)
  SARRUS_ANGULAR(ROTATION)
  SARRUS_ANGULAR(COSINE)
  nb::dict projection;
#define SARRUS_PROJECTION(name) projection[#name] = static_cast<int>(name);
  SARRUS_PROJECTION(LEFT_OUT)
  SARRUS_PROJECTION(CLOSE)
  SARRUS_PROJECTION(KEPT)
  SARRUS_PROJECTION(NOT_CLOSED)
  SARRUS_PROJECTION(NOT_NEAREST)
  SARRUS_PROJECTION(NO_INERTIA_AT)
  SARRUS_PROJECTION(UNDEFINED)
  SARRUS_PROJECTION(NO_VELOCITY)
#undef SARRUS_PROJECTION
  m.attr("PROJECTION") = projection;  // parts of rows and states of a projection, by name
  m.attr("REST") = ends_of_searches();
  nodes["GROUND"] = nb::make_tuple(0, 0);
  SARRUS_JOINTS(SARRUS_NODE)
#undef SARRUS_EXPORT
#undef SARRUS_SIZE
#undef SARRUS_FIELD
#undef SARRUS_ANGULAR
#undef SARRUS_NODE
  m.attr("ISA") = nb::cast(best_tables().isa);
  m.attr("MODEL_SIZES") = sizes;
  m.attr("MODEL_FIELDS") = fields;
  m.attr("FORMULA_OPERATIONS") = formula_operations();
  m.attr("KINDS") = kinds();            // widths of parameters, by family, kind and name
  m.attr("CLOSURE_ANGULAR") = angular;  // angular rows of closures, by name
  m.attr("NODES") = nodes;              // primitive joints: name to (nq, nv)
}

namespace {

// A copy of a field of the model, kept alive by `memory`; out: view of it
template <class S>
void load(nb::dict fields, const char* name, size_t count, std::vector<std::shared_ptr<void>>& memory,
          const S*& view) {
  nb::handle x = PyDict_GetItemString(fields.ptr(), name);
  if (!x) throw nb::key_error((std::string("model field `") + name + "` is missing").c_str());
  bool plain = PyArray_Check(x.ptr()) && PyArray_TYPE(as_array(x)) == NUMPY_TYPE<S> &&
               PyArray_ISCARRAY_RO(as_array(x));
  if (!plain || PyArray_SIZE(as_array(x)) != static_cast<npy_intp>(count))
    throw nb::value_error((std::string("model field `") + name + "` must be an array in C order with " +
                           std::to_string(count) + " entries of its type")
                              .c_str());
  auto* data = static_cast<const S*>(PyArray_DATA(as_array(x)));
  auto copy = std::make_shared<std::vector<S>>(data, data + count);
  view = copy->data();
  memory.push_back(copy);
}

}  // namespace

Kernel::Kernel(nb::dict sizes, nb::dict fields) : tables(best_tables()) {
#define SARRUS_SIZE(name) m.name = std::string(#name) == "one" ? 1 : nb::cast<int>(sizes[#name]);
  SARRUS_MODEL_SIZES(SARRUS_SIZE)
#undef SARRUS_SIZE
#define SARRUS_LOAD(type, name, count, width) \
  load(fields, #name, static_cast<size_t>(m.count) * width, memory, m.name);
  SARRUS_MODEL_FIELDS(SARRUS_LOAD)
#undef SARRUS_LOAD
  m.lengths = false;
  for (int j = 0; j < m.nv; ++j) m.lengths = m.lengths || m.unit[j] != 1;
  m.sparse = tables.batches.stays_sparse(m);
  auto take = [](void* owner, size_t n) {
    auto ints = std::make_shared<std::vector<int>>(n);
    static_cast<Kernel*>(owner)->memory.push_back(ints);
    return ints->data();
  };
  m.fronts = tables.batches.plan_fronts(m, {this, take});
}

}  // namespace sarrus
