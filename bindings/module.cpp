// sarrus._kernel: checks shapes, loops over the batch with the GIL released, owns results. No formulas.
#include "arrays.hpp"
#include "batches/call_state.hpp"
#include "control/call_control.hpp"
#include "control/call_pose_error.hpp"
#include "kernel_object.hpp"
#include "runs/recorder.hpp"

#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace sarrus;

namespace {

struct Batch {
  size_t n, nq, nv, nc, nb;
  explicit Batch(const Kernel& k, const In& q)
      : n(q.ndim() ? q.shape(0) : 0), nq(k.m.nq), nv(k.m.nv), nc(k.m.nc), nb(k.m.nb) {}
};

States states(const Kernel& k, const Batch& b, const In& q, const In* v = nullptr, const In* drive = nullptr,
              const In* user = nullptr) {
  size_t nd = k.m.nd, nu = k.m.n_user_rows;
  return {static_cast<int>(b.n), checked(q, "q", {b.n, b.nq}), v ? checked(*v, "v", {b.n, b.nv}) : nullptr,
          drive ? checked(*drive, "drive", {b.n, nd, 3}) : nullptr,
          user ? checked(*user, "user", {b.n, nu, 3 + b.nv}) : nullptr};
}

Out mass_matrix(const Kernel& k, In q) {
  Batch b(k, q);
  States s = states(k, b, q);
  Fresh<Out> M({b.n, b.nv, b.nv});
  nb::gil_scoped_release free;
  k.tables.batches.mass_matrix(k.m, s, M.data);
  return M.array;
}

Out rnea(const Kernel& k, In q, In v, In a) {
  Batch b(k, q);
  States s = states(k, b, q, &v);
  const double* x = checked(a, "a", {b.n, b.nv});
  Fresh<Out> f({b.n, b.nv});
  nb::gil_scoped_release free;
  k.tables.batches.rnea(k.m, s, x, f.data);
  return f.array;
}

Out energy(const Kernel& k, In q, In v) {
  Batch b(k, q);
  States s = states(k, b, q, &v);
  Fresh<Out> e({b.n, size_t(2)});
  nb::gil_scoped_release free;
  k.tables.batches.energy(k.m, s, e.data);
  return e.array;
}

nb::tuple poses(const Kernel& k, In q) {
  Batch b(k, q);
  States s = states(k, b, q);
  Fresh<Out> R({b.n, b.nb, 3, 3}), p({b.n, b.nb, 3});
  {
    nb::gil_scoped_release free;
    k.tables.batches.poses(k.m, s, R.data, p.data);
  }
  return nb::make_tuple(R.array, p.array);
}

nb::tuple body_motion(const Kernel& k, In q, In v, In a) {
  Batch b(k, q);
  States s = states(k, b, q, &v);
  const double* x = checked(a, "a", {b.n, b.nv});
  Fresh<Out> V({b.n, b.nb, 6}), A({b.n, b.nb, 6});
  {
    nb::gil_scoped_release free;
    k.tables.batches.body_motion(k.m, s, x, V.data, A.data);
  }
  return nb::make_tuple(V.array, A.array);
}

Out jacobian(const Kernel& k, In q, int body, In point) {
  Batch b(k, q);
  if (body < 0 || body >= k.m.nb) throw nb::index_error("`body` is not the index of a body");
  States s = states(k, b, q);
  const double* x = checked(point, "point", {3});
  Fresh<Out> J({b.n, size_t(6), b.nv});
  nb::gil_scoped_release free;
  k.tables.batches.jacobian(k.m, s, body, x, J.data);
  return J.array;
}

nb::tuple constraints(const Kernel& k, In q, In v, In drive, In user) {
  Batch b(k, q);
  States s = states(k, b, q, &v, &drive, &user);
  Fresh<Out> phi({b.n, b.nc}), J({b.n, b.nc, b.nv}), rhs({b.n, b.nc}), gamma({b.n, b.nc});
  {
    nb::gil_scoped_release free;
    k.tables.batches.constraints(k.m, s, {phi.data, J.data, rhs.data, gamma.data});
  }
  return nb::make_tuple(phi.array, J.array, rhs.array, gamma.array);
}

nb::tuple row_wrenches(const Kernel& k, In q) {
  Batch b(k, q);
  States s = states(k, b, q);
  Fresh<Out> W({b.n, b.nc, 6}), at({b.n, size_t(k.m.ne), 3});
  k.tables.batches.row_wrenches(k.m, s, W.data, at.data);
  return nb::make_tuple(W.array, at.array);
}

nb::tuple force_wrenches(const Kernel& k, In q, In v) {
  Batch b(k, q);
  States s = states(k, b, q, &v);
  Fresh<Out> W({b.n, size_t(k.m.nf), 6}), at({b.n, size_t(k.m.nf), 3});
  k.tables.batches.force_wrenches(k.m, s, W.data, at.data);
  return nb::make_tuple(W.array, at.array);
}

Out pivots(const Kernel& k, In q, In v, In drive, In user, int rank) {
  Batch b(k, q);
  if (rank < 0 || rank > k.m.nc || rank > k.m.nv)
    throw nb::index_error("`rank` is not a rank that J can have");
  States s = states(k, b, q, &v, &drive, &user);
  Fresh<Out> least({b.n});
  nb::gil_scoped_release free;
  k.tables.batches.pivots(k.m, s, rank, least.data);
  return least.array;
}

nb::tuple terms(const Kernel& k, In q, In v, In drive, In user) {
  Batch b(k, q);
  States s = states(k, b, q, &v, &drive, &user);
  Fresh<Out> M({b.n, b.nv, b.nv}), h({b.n, b.nv});
  Fresh<Out> phi({b.n, b.nc}), J({b.n, b.nc, b.nv}), rhs({b.n, b.nc}), gamma({b.n, b.nc});
  {
    nb::gil_scoped_release free;
    k.tables.batches.terms(k.m, s, M.data, h.data, {phi.data, J.data, rhs.data, gamma.data});
  }
  return nb::make_tuple(M.array, h.array, phi.array, J.array, rhs.array, gamma.array);
}

Out integrate(const Kernel& k, In q, In dv) {
  Batch b(k, q);
  const double *x = checked(q, "q", {b.n, b.nq}), *y = checked(dv, "dv", {b.n, b.nv});
  Fresh<Out> out({b.n, b.nq});
  nb::gil_scoped_release free;
  k.tables.batches.integrate(k.m, static_cast<int>(b.n), x, y, out.data);
  return out.array;
}

Out difference(const Kernel& k, In q0, In q1) {
  Batch b(k, q0);
  const double *x = checked(q0, "q0", {b.n, b.nq}), *y = checked(q1, "q1", {b.n, b.nq});
  Fresh<Out> out({b.n, b.nv});
  nb::gil_scoped_release free;
  k.tables.batches.difference(k.m, static_cast<int>(b.n), x, y, out.data);
  return out.array;
}

nb::tuple forward(const Kernel& k, In q, In v, In tau, In drive, In user, int rank) {
  Batch b(k, q);
  States s = states(k, b, q, &v, &drive, &user);
  const double* x = checked(tau, "tau", {b.n, b.nv});
  std::vector<int> hold(rank >= 0 ? b.n : 0, rank);
  Fresh<Out> a({b.n, b.nv}), force({b.n, b.nv}), lam({b.n, b.nc});
  Fresh<Flags> unique({b.n, b.nc});
  Fresh<Ints> ranks({b.n}), status({b.n});
  {
    nb::gil_scoped_release free;
    k.tables.batches.forward(k.m, s, x, rank >= 0 ? hold.data() : nullptr,
                             {a.data, force.data, lam.data, reinterpret_cast<unsigned char*>(unique.data),
                              ranks.data, status.data});
  }
  return nb::make_tuple(a.array, force.array, lam.array, unique.array, ranks.array, status.array);
}

// (da[B,3,nv,nv], dlam[B,3,nc,nv], d(Jv - b)/dq[B,nc,nv], rank[B], status[B]); axis 1: q, v, tau. Without
// multipliers dlam has no rows.
nb::tuple derivatives(const Kernel& k, In q, In v, In tau, In drive, In user, bool dual, bool multipliers) {
  Batch b(k, q);
  States s = states(k, b, q, &v, &drive, &user);
  const double* x = checked(tau, "tau", {b.n, b.nv});
  Fresh<Out> da({b.n, 3, b.nv, b.nv}), dlam({b.n, 3, multipliers ? b.nc : 0, b.nv}), dJv({b.n, b.nc, b.nv});
  Fresh<Ints> ranks({b.n}), status({b.n});
  {
    nb::gil_scoped_release free;
    k.tables.batches.derivatives(
        k.m, s, x, dual, {da.data, multipliers ? dlam.data : nullptr, dJv.data, ranks.data, status.data});
  }
  return nb::make_tuple(da.array, dlam.array, dJv.array, ranks.array, status.array);
}

}  // namespace

NB_MODULE(_kernel, m) {
  m.attr("ISA") = nb::cast(best_tables().isa);
  export_tolerances(m);
  m.attr("MODEL_SIZES") = model_sizes();
  m.attr("MODEL_FIELDS") = model_fields();
  m.attr("KINDS") = kinds();
  m.attr("CLOSURE_ANGULAR") = closure_angular();
  m.attr("NODES") = nodes();
  import_numpy();
  nb::class_<Kernel>(m, "Kernel")
      .def(nb::init<nb::dict, nb::dict>(), "sizes"_a, "fields"_a)
      .def("mass_matrix", &mass_matrix, "q"_a)
      .def("rnea", &rnea, "q"_a, "v"_a, "a"_a)
      .def("energy", &energy, "q"_a, "v"_a)
      .def("poses", &poses, "q"_a)
      .def("body_motion", &body_motion, "q"_a, "v"_a, "a"_a)
      .def("jacobian", &jacobian, "q"_a, "body"_a, "point"_a)
      .def("constraints", &constraints, "q"_a, "v"_a, "drive"_a, "user"_a)
      .def("row_wrenches", &row_wrenches, "q"_a)
      .def("force_wrenches", &force_wrenches, "q"_a, "v"_a)
      .def("row_rates", &row_rates_of, "q"_a, "v"_a, "drive"_a)
      .def("pivots", &pivots, "q"_a, "v"_a, "drive"_a, "user"_a, "rank"_a)
      .def("terms", &terms, "q"_a, "v"_a, "drive"_a, "user"_a)
      .def("integrate", &integrate, "q"_a, "dv"_a)
      .def("difference", &difference, "q0"_a, "q1"_a)
      .def("forward", &forward, "q"_a, "v"_a, "tau"_a, "drive"_a, "user"_a, "rank"_a = -1)
      .def("derivatives", &derivatives, "q"_a, "v"_a, "tau"_a, "drive"_a, "user"_a, "dual"_a = false,
           "multipliers"_a = true)
      .def("state_terms", &terms_of, "q"_a, "v"_a, "drive"_a.none(), "user"_a.none())
      .def("state_frames", &frames_of, "q"_a, "v"_a)
      .def("state_point", &point_of, "q"_a, "v"_a, "body"_a, "point"_a)
      .def("state_jacobian", &jacobian_of, "q"_a, "body"_a, "point"_a)
      .def("acceleration", &acceleration_of, "q"_a.none(), "v"_a.none(), "tau"_a.none(),
           nb::sig(
               "def acceleration(self, q: object, v: object, tau: object) -> NDArray[numpy.float64] | None"))
      .def("derivatives_at", &derivatives_of, "q"_a.none(), "v"_a.none(), "tau"_a.none(),
           nb::sig("def derivatives_at(self, q: object, v: object, tau: object) -> tuple | None"));
  bind_pose_error(m);
  bind_run_options(m);
  bind_run(m);
  bind_control(m);
}
