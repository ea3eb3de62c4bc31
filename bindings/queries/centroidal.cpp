#include "arguments.hpp"

namespace sarrus {

namespace {
namespace query {

// Mass of the bodies that move; without any there is no centre of mass
double moving_mass(const Queries& s) {
  double sum = 0;
  for (int i = 1; i < s.m().nn; ++i) sum += s.m().mass[i];
  if (!(sum > 0)) s.checks.attr("mass")(sum);
  return sum;
}

// The linear part of momenta (6, n), by the mass
NewArray of_center(const CheckedArguments& c, const double* momenta, npy_intp n, const Shape& shape) {
  double mass = moving_mass(c.s);
  NewArray out(shape);
  for (npy_intp i = 0; i < c.count; ++i)
    for (npy_intp j = 0; j < 3 * n; ++j) out[3 * n * i + j] = momenta[6 * n * i + j] / mass;
  return out;
}

NewArray center_of_mass(const Queries& s, In q) {
  CheckedArguments c(s, {{q, "q", true}});
  moving_mass(s);
  NewArray out = c.out({3});
  c.run(s.k.tables.batches.center_of_mass, out);
  return out;
}

NewArray momentum(const Queries& s, In q, In v) {
  CheckedArguments c(s, {{q, "q", true}, {v, "v"}});
  moving_mass(s);
  NewArray out = c.out({6});
  c.run(s.k.tables.batches.momentum, out);
  return out;
}

NewArray momentum_rate(const Queries& s, In q, In v, In a) {
  CheckedArguments c(s, {{q, "q", true}, {v, "v"}, {a, "a"}});
  moving_mass(s);
  NewArray out = c.out({6});
  c.run(s.k.tables.batches.momentum_rate, c.x[2], out);
  return out;
}

NewArray momentum_matrix(const Queries& s, In q) {
  CheckedArguments c(s, {{q, "q", true}});
  moving_mass(s);
  NewArray out = c.out({6, c.m.nv});
  c.run(s.k.tables.batches.momentum_matrix, out);
  return out;
}

NewArray momentum_matrix_rate(const Queries& s, In q, In v) {
  CheckedArguments c(s, {{q, "q", true}, {v, "v"}});
  moving_mass(s);
  NewArray out = c.out({6, c.m.nv});
  c.run(s.k.tables.batches.momentum_matrix_rate, out);
  return out;
}

NewArray momentum_slopes(const Queries& s, In q, In v) {
  CheckedArguments c(s, {{q, "q", true}, {v, "v"}});
  moving_mass(s);
  NewArray out = c.out({6, c.m.nv});
  c.run(s.k.tables.batches.momentum_slopes, out);
  return out;
}

NewArray center_jacobian(const Queries& s, In q) {
  CheckedArguments c(s, {{q, "q", true}});
  NewArray A = c.out({6, c.m.nv});
  c.run(s.k.tables.batches.momentum_matrix, A);
  return of_center(c, A, c.m.nv, c.each({3, c.m.nv}));
}

NewArray center_velocity(const Queries& s, In q, In v) {
  CheckedArguments c(s, {{q, "q", true}, {v, "v"}});
  NewArray h = c.out({6});
  c.run(s.k.tables.batches.momentum, h);
  return of_center(c, h, 1, c.each({3}));
}

NewArray center_acceleration(const Queries& s, In q, In v, In a) {
  CheckedArguments c(s, {{q, "q", true}, {v, "v"}, {a, "a"}});
  NewArray rate = c.out({6});
  c.run(s.k.tables.batches.momentum_rate, c.x[2], rate);
  return of_center(c, rate, 1, c.each({3}));
}

}  // namespace query
}  // namespace

void bind_centroidal(nb::class_<Queries>& queries) {
  using namespace nb::literals;
  auto q = "q"_a.none(), v = "v"_a.none(), a = "a"_a.none();
  queries.def("center_of_mass", &query::center_of_mass, q)
      .def("center_of_mass_jacobian", &query::center_jacobian, q)
      .def("center_of_mass_velocity", &query::center_velocity, q, v)
      .def("center_of_mass_acceleration", &query::center_acceleration, q, v, a)
      .def("centroidal_momentum", &query::momentum, q, v)
      .def("centroidal_momentum_rate", &query::momentum_rate, q, v, a)
      .def("centroidal_momentum_matrix", &query::momentum_matrix, q)
      .def("centroidal_momentum_matrix_rate", &query::momentum_matrix_rate, q, v)
      .def("centroidal_momentum_derivative", &query::momentum_slopes, q, v);
}

}  // namespace sarrus
