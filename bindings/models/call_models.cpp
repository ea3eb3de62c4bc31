#include "call_models.hpp"

#include "../numpy.hpp"
#include "../scratch.hpp"
#include "algebra/symmetric_eigenvalues.hpp"
#include "tree/inertia_pivots.hpp"
#include "tree/merged_inertia.hpp"

namespace sarrus {

namespace {

using Vector = Vec3<double>;
using Turn = Mat3<double>;

Vector vector(const double* x) { return {x[0], x[1], x[2]}; }

Turn turn_of(const double* r) { return {{r[0], r[3], r[6]}, {r[1], r[4], r[7]}, {r[2], r[5], r[8]}}; }

// (xyz (3,), rotation (3, 3)), read-only
nb::tuple pose_of(const Vector& x, const Turn& R) {
  NewArray xyz({3}), rotation({3, 3});
  const Vector columns[3] = {R.x, R.y, R.z};
  store(x, xyz.data());
  for (int c = 0; c < 3; ++c)
    rotation[c] = columns[c].x, rotation[3 + c] = columns[c].y, rotation[6 + c] = columns[c].z;
  for (auto* array : {&xyz, &rotation}) PyArray_CLEARFLAGS(as_array(array->object), NPY_ARRAY_WRITEABLE);
  return nb::make_tuple(xyz, rotation);
}

// X_AC = X_AB X_BC
nb::tuple compose_poses(nb::handle p_AB, nb::handle R_AB, nb::handle p_BC, nb::handle R_BC) {
  Dense p(p_AB, "p_AB", {3}), r(R_AB, "R_AB", {3, 3}), q(p_BC, "p_BC", {3}), s(R_BC, "R_BC", {3, 3});
  Turn R = turn_of(r);
  return pose_of(vector(p) + turn(R, vector(q)), compose(R, turn_of(s)));
}

nb::tuple invert_pose(nb::handle p_AB, nb::handle R_AB) {
  Dense p(p_AB, "p_AB", {3}), r(R_AB, "R_AB", {3, 3});
  Turn R = turn_of(r);
  Turn back = {{R.x.x, R.y.x, R.z.x}, {R.x.y, R.y.y, R.z.y}, {R.x.z, R.y.z, R.z.z}};
  return pose_of(-turn(back, vector(p)), back);
}

// Eigenvalues of a symmetric matrix (3, 3), ascending
nb::tuple principal_moments(nb::handle inertia) {
  Dense I(inertia, "inertia", {3, 3});
  double A[9], values[3], V[9];
  std::copy_n(I.data, 9, A);
  eigenvalues(A, 3, values, V);
  return nb::make_tuple(values[0], values[1], values[2]);
}

// (mass (nn), com (nn, 3), inertia (nn, 6)) of nodes from those of bodies (n)
nb::tuple merge_inertias_of(nb::handle node, nb::handle R, nb::handle p, nb::handle mass, nb::handle com,
                            nb::handle inertia, int nodes) {
  npy_intp n = length_of(node), nn = nodes;
  Dense r(R, "R", {n, 3, 3}), x(p, "p", {n, 3}), m(mass, "mass", {n}), c(com, "com", {n, 3});
  Dense I(inertia, "inertia", {n, 3, 3});
  NewArray masses({nn}), centers({nn, 3}), moments({nn, 6});
  std::fill_n(masses.data(), nn, 0.0), std::fill_n(centers.data(), 3 * nn, 0.0);
  std::fill_n(moments.data(), 6 * nn, 0.0);
  std::vector<int> count(nodes, 0);
  merge_inertias<double>({static_cast<int>(n), indices(node, "node", n, nn), r, x, m, c, I}, count.data(),
                         {masses, centers, moments});
  return nb::make_tuple(masses, centers, moments);
}

// Values as a read-only array of integers or numbers, their first axis as long as they are
nb::object field_array(nb::handle values, bool integers, nb::tuple shape) {
  int flags = NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY | NPY_ARRAY_FORCECAST;
  nb::object flat = nb::steal(PyArray_FROMANY(values.ptr(), integers ? NPY_INT : NPY_DOUBLE, 0, 0, flags));
  if (!flat.is_valid()) throw nb::python_error();
  npy_intp sizes[4];
  PyArray_Dims dims = {sizes, 0};
  for (nb::handle size : shape) sizes[dims.len++] = nb::cast<npy_intp>(size);
  nb::object out = nb::steal(PyArray_Newshape(as_array(flat), &dims, NPY_CORDER));
  if (!out.is_valid()) throw nb::python_error();
  PyArray_CLEARFLAGS(as_array(out), NPY_ARRAY_WRITEABLE);
  return out;
}

int without_inertia(const Kernel& k, double tolerance) {
  return with_work<PivotWork<double>>(
      k.m, [&](PivotWork<double>& w) { return coordinate_without_inertia(k.m, tolerance, w); });
}

}  // namespace

void bind_models(nb::module_& m, nb::class_<Kernel>& kernel) {
  using namespace nb::literals;
  m.def("compose_poses", &compose_poses, "p_AB"_a, "R_AB"_a, "p_BC"_a, "R_BC"_a);
  m.def("invert_pose", &invert_pose, "p_AB"_a, "R_AB"_a);
  m.def("merge_inertias", &merge_inertias_of, nb::kw_only(), "node"_a, "R"_a, "p"_a, "mass"_a, "com"_a,
        "inertia"_a, "nodes"_a);
  m.def("field_array", &field_array, "values"_a, "integers"_a, "shape"_a,
        nb::sig("def field_array(values: object, integers: bool, shape: tuple) -> NDArray"));
  m.def("principal_moments", &principal_moments, "inertia"_a);
  kernel.def("coordinate_without_inertia", &without_inertia, "tolerance"_a);
}

}  // namespace sarrus
