#include "call_pose_error.hpp"

#include "../numpy.hpp"
#include "control/pose_error.hpp"

namespace sarrus {

namespace {

using Vector = Vec3<double>;
using Turn = Mat3<double>;
using Twist = Spatial<double>;

Vector vector(const double* x) { return {x[0], x[1], x[2]}; }

Turn turn_of(nb::handle R, const char* name) {
  Dense data(R, name, {3, 3});
  const double* r = data;
  return {{r[0], r[3], r[6]}, {r[1], r[4], r[7]}, {r[2], r[5], r[8]}};
}

Vector place_of(nb::handle x, const char* name) { return vector(Dense(x, name, {3})); }

Twist twist_of(nb::handle V, const char* name) {
  Dense data(V, name, {6});
  const double* v = data;
  return {vector(v), vector(v + 3)};
}

nb::tuple pose_error_of(nb::handle R, nb::handle x, nb::handle V, nb::handle R_d, nb::handle x_d,
                        nb::handle V_d, nb::handle A_d, bool screw, bool own) {
  PoseError<double> found =
      pose_error(turn_of(R, "R"), place_of(x, "x"), twist_of(V, "V"), turn_of(R_d, "R_d"),
                 place_of(x_d, "x_d"), twist_of(V_d, "V_d"), twist_of(A_d, "A_d"), screw, own);
  NewArray e({6}), rate({6}), T({6, 6}), c({6});
  for (int i = 0; i < 6; ++i) {
    e[i] = entry(found.e, i), rate[i] = entry(found.rate, i), c[i] = entry(found.rest, i);
    for (int j = 0; j < 6; ++j) T[6 * i + j] = entry(found.map[j], i);
  }
  return nb::make_tuple(e, rate, T, c);
}

}  // namespace

void bind_pose_error(nb::module_& m) {
  using namespace nb::literals;
  m.def("pose_error", &pose_error_of, nb::kw_only(), "R"_a, "x"_a, "V"_a, "R_d"_a, "x_d"_a, "V_d"_a, "A_d"_a,
        "screw"_a, "own"_a);
}

}  // namespace sarrus
