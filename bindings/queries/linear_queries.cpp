#include "arguments.hpp"

namespace sarrus {

using namespace nb::literals;

namespace {
namespace query {

struct OptionalIndices {
  const int* data = nullptr;
  int count = 0;

  explicit OptionalIndices(In x) {
    if (x.is_none()) return;
    count = static_cast<int>(length_of(x));
    data = data_of<int>(x, {count});
    if (!data) throw nb::value_error("indices must be int32");
  }
};

nb::tuple indices_of(const int* x, int n) {
  nb::object found = nb::steal(PyTuple_New(n));
  for (int i = 0; i < n; ++i) PyTuple_SetItem(found.ptr(), i, PyLong_FromLong(x[i]));
  return nb::borrow<nb::tuple>(found);
}

// Results for the states of a call, with nx freedoms of each
struct LinearResults {
  NewArray A, B, lift, a, lam, sizes;
  New<int> counts, coordinates;

  LinearResults(const CheckedArguments& c, npy_intp nx, npy_intp nw)
      : A(c.each({nx, nx})),
        B(c.each({nx, nw})),
        lift(c.each({2 * c.m.nv, nx})),
        a(c.each({c.m.nv})),
        lam(c.each({c.m.nc})),
        sizes(c.each({3})),
        counts(c.each({4})),
        coordinates(c.each({2 * c.m.nv})) {}
  operator LinearArrays() const { return {A, B, lift, a, lam, sizes, coordinates, counts}; }
};

// The model of the first state, of any size
struct FirstModel {
  std::unique_ptr<double[]> room;  // not cleared: most of it is never touched where freedoms are few
  std::vector<int> coordinates;
  double *A, *B, *lift, *a, *lam, *sizes;
  int counts[4];

  FirstModel(const CheckedArguments& c, const RowValues& rows, const LinearPlan& plan)
      : room(new double[size_of(c.m, plan)]), coordinates(2 * c.m.nv, -1) {
    npy_intp nv = c.m.nv;
    A = room.get(), lift = A + 4 * nv * nv, B = lift + 4 * nv * nv, a = B + 2 * nv * plan.n_inputs;
    lam = a + nv, sizes = lam + c.m.nc;
    c.s.k.tables.batches.linearize(c.m, {1, c.x[0], c.x[1], rows.drive, rows.user}, c.x[2], plan,
                                   {A, B, lift, a, lam, sizes, coordinates.data(), counts});
  }
  static std::size_t size_of(const ModelD& m, const LinearPlan& plan) {
    std::size_t nv = m.nv, nc = m.nc;
    return 8 * nv * nv + 2 * nv * plan.n_inputs + nv + nc + 3;
  }
  void copy_to(const CheckedArguments& c, npy_intp nw, LinearResults& out) const {
    npy_intp nv = c.m.nv, nx = counts[0] + counts[1];
    std::copy_n(A, nx * nx, out.A.data());
    std::copy_n(B, nx * nw, out.B.data());
    std::copy_n(lift, 2 * nv * nx, out.lift.data());
    std::copy_n(a, nv, out.a.data());
    std::copy_n(lam, c.m.nc, out.lam.data());
    std::copy_n(sizes, 3, out.sizes.data());
    std::copy_n(counts, 4, out.counts.data());
    std::copy_n(coordinates.data(), 2 * nv, out.coordinates.data());
  }
};

// d/dt of the independent coordinates at the states themselves
NewArray rates(const CheckedArguments& c, const LinearResults& found, npy_intp n_q, npy_intp n_v) {
  npy_intp nv = c.m.nv, nx = n_q + n_v;
  NewArray rate = c.out({nx});
  for (npy_intp i = 0; i < c.count; ++i)
    for (npy_intp k = 0; k < nx; ++k) {
      int at = found.coordinates.data()[i * 2 * nv + (k < n_q ? k : nv + k - n_q)];
      rate.data()[i * nx + k] = at < 0 ? 0 : k < n_q ? c.x[1][i * nv + at] : found.a.data()[i * nv + at];
    }
  return rate;
}

// A Derivatives; None where the inertia is not positive definite
nb::any derivatives(const Queries& s, In type, nb::tuple state, nb::tuple outside) {
  CheckedArguments c(
      s, {{nb::handle(state[0]), "q", true}, {nb::handle(state[1]), "v"}, {nb::handle(state[2]), "tau"}});
  RowValues rows(c, nb::handle(outside[0]), nb::handle(outside[1]));
  npy_intp nv = c.m.nv, nc = c.m.nc;
  NewArray a = c.out({3, nv, nv}), lam = c.out({3, nc, nv}), Jv_q = c.out({nc, nv});
  PerState<int> rank(c);
  Room<int> status(c.count);
  DerivativeArrays out = {a, lam, Jv_q, rank, status};
  c.run_on(s.k.tables.batches.derivatives, rows.drive, rows.user, c.x[2], false, out);
  bool fine = finite(a, c.count * 3 * nv * nv);
  for (npy_intp i = 0; i < c.count; ++i) fine = fine && status[i] == 0;
  if (!fine) return nb::borrow<nb::any>(Py_None);
  static const Fields fields = {"a", "lam", "Jv_q", "rank"};
  nb::object ranks = rank.object();
  return made(type, fields, {a.object, lam.object, Jv_q.object, ranks});
}

// (A, B, lift, rate, a, lam, q, v, tau, sizes, counts, coordinates) of linear models, see LinearArrays, with
// as many freedoms as at the first state. coordinates: (positions, velocities), of a batch (B, 2 nv), -1
// behind their end
nb::tuple linearize(const Queries& s, nb::tuple state, nb::tuple outside, nb::tuple given) {
  CheckedArguments c(
      s, {{nb::handle(state[0]), "q", true}, {nb::handle(state[1]), "v"}, {nb::handle(state[2]), "tau"}});
  if (c.count == 0) throw nb::value_error("a batch of states must have at least one");
  RowValues rows(c, nb::handle(outside[0]), nb::handle(outside[1]));
  OptionalIndices positions(given[0]), velocities(given[1]), inputs(given[2]);
  LinearPlan plan = {positions.data,   velocities.data, inputs.data, positions.count,
                     velocities.count, inputs.count,    nullptr};
  FirstModel first(c, rows, plan);
  const int *n = first.counts, *x = first.coordinates.data();
  LinearResults found(c, n[0] + n[1], inputs.count);
  nb::object chosen = found.coordinates.object, counts = found.counts.object;
  if (c.batch.rank) {
    plan.room = n;
    std::fill_n(found.coordinates.data(), c.count * 2 * c.m.nv, -1);
    c.run_on(s.k.tables.batches.linearize, rows.drive, rows.user, c.x[2], plan, LinearArrays(found));
  } else {
    first.copy_to(c, inputs.count, found);
    chosen = nb::make_tuple(indices_of(x, n[0]), indices_of(x + c.m.nv, n[1]));
    counts = indices_of(n, 4);
  }
  return nb::make_tuple(found.A, found.B, found.lift, rates(c, found, n[0], n[1]), found.a, found.lam,
                        c.copy(0, c.m.nq), c.copy(1, c.m.nv), c.copy(2, c.m.nv), found.sizes, counts, chosen);
}

}  // namespace query
}  // namespace

void bind_linear_queries(nb::class_<Queries>& queries) {
  queries.def("derivatives", &query::derivatives, "type"_a, "state"_a, "outside"_a)
      .def("linearize", &query::linearize, "state"_a, "outside"_a, "plan"_a);
}

}  // namespace sarrus
