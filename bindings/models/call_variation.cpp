#include "call_variation.hpp"

#include "../numpy.hpp"
#include "../scratch.hpp"
#include "derivatives/variation.hpp"

namespace sarrus {

namespace {

// The model in dual numbers. Derivatives of its fields are put in one direction after the other.
class VaryingModel {
 public:
  Model<ModelDual> m;

  VaryingModel(const ModelD& of, nb::dict slopes, npy_intp directions) {
#define SARRUS_SIZE(name) m.name = of.name;
    SARRUS_MODEL_SIZES(SARRUS_SIZE)
#undef SARRUS_SIZE
#define SARRUS_FIELD(type, name, count, width) \
  m.name = take(#name, of.name, of.count * width, slopes, directions);
    SARRUS_MODEL_FIELDS(SARRUS_FIELD)
#undef SARRUS_FIELD
    m.lengths = of.lengths;
  }
  void turn_to(npy_intp direction) {
    for (auto& [given, to, n] : changing_)
      for (int i = 0; i < n; ++i) to[i].b = given[direction * n + i];
  }

 private:
  struct Changing {
    Dense given;
    ModelDual* to;
    int n;
  };
  std::vector<std::unique_ptr<ModelDual[]>> memory_;
  std::vector<Changing> changing_;

  const int* take(const char*, const int* from, int, nb::dict, npy_intp) { return from; }
  const ModelDual* take(const char* name, const double* from, int n, nb::dict slopes, npy_intp directions) {
    ModelDual* to = memory_.emplace_back(new ModelDual[n]).get();
    std::copy_n(from, n, to);
    if (slopes.contains(name)) changing_.push_back({Dense(slopes[name], name, {directions, n}), to, n});
    return to;
  }
};

// (phi, slip, a, lam, energy, q, R, p, V, A, W, W_at, F, F_at), each (P, B, ...), see Variations; those that
// are not `wanted` (0, 1 or 2, see Varied) are empty.   states: q, v, tau, drive, user (B, ...)   changes: dq, dv, dtau (P, B, nv)
// slopes: {field: (P, size of the field)}   ranks (B)
nb::tuple variation(const Kernel& k, nb::tuple states, nb::tuple changes, nb::dict slopes, nb::handle ranks,
                    int wanted) {
  npy_intp B = length_of(states[0]), P = length_of(changes[0]), nq = k.m.nq, nv = k.m.nv, nc = k.m.nc;
  npy_intp nb_ = k.m.nb, ne = k.m.ne, nf = k.m.nf, nd = k.m.nd, rows = k.m.n_user_rows;
  Dense q(states[0], "q", {B, nq}), v(states[1], "v", {B, nv}), tau(states[2], "tau", {B, nv});
  Dense drive(states[3], "drive", {B, nd, 3}), user(states[4], "user", {B, rows, 3 + nv});
  Dense dq(changes[0], "dq", {P, B, nv}), dv(changes[1], "dv", {P, B, nv}),
      dtau(changes[2], "dtau", {P, B, nv});
  const int* rank = data_of<int>(ranks, {B});
  if (!rank) throw nb::value_error("`ranks` must be int32, one for each state");
  VaryingModel model(k.m, slopes, P);
  npy_intp widths[] = {nc,      nc,      nv,      nc,     2,      nq,     9 * nb_,
                       3 * nb_, 6 * nb_, 6 * nb_, 6 * nc, 3 * ne, 6 * nf, 3 * nf};
  std::vector<NewArray> out;
  npy_intp known = wanted == 0 ? 2 : wanted == 1 ? 3 : std::ssize(widths);
  for (npy_intp i = 0; i < std::ssize(widths); ++i)
    out.push_back(NewArray({P, B, i < known ? widths[i] : 0}));
  with_work<VariationWork>(model.m, [&](VariationWork& work) {
    for (npy_intp d = 0; d < P; ++d) {
      model.turn_to(d);
      for (npy_intp i = 0; i < B; ++i) {
        npy_intp at = d * B + i;
        double* to[std::size(widths)];
        for (size_t j = 0; j < std::size(widths); ++j) to[j] = out[j] + at * widths[j];
        Variations slopes_of = {to[0], to[1], to[2],  to[3],  to[4],  to[5],  to[6],         to[7],
                                to[8], to[9], to[10], to[11], to[12], to[13], Varied{wanted}};
        Direction s = {
            q + i * nq,   v + i * nv,   tau + i * nv,  drive + 3 * i * nd, user + i * rows * (3 + nv),
            dq + at * nv, dv + at * nv, dtau + at * nv};
        vary(model.m, s, rank[i], slopes_of, work);
      }
    }
  });
  nb::list found;
  for (NewArray& one : out) found.append(one);
  return nb::tuple(found);
}

}  // namespace

void bind_variation(nb::class_<Kernel>& kernel) {
  using namespace nb::literals;
  kernel.def("variation", &variation, "states"_a, "changes"_a, "slopes"_a, "ranks"_a, "wanted"_a = 2);
}

}  // namespace sarrus
