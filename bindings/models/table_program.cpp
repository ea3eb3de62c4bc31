#include "table_program.hpp"

#include "../numpy.hpp"
#include "algebra/model_dual.hpp"
#include "algebra/symmetric_eigenvalues.hpp"
#include "tree/merged_inertia.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace sarrus {

namespace {

constexpr double UNKNOWN = std::numeric_limits<double>::quiet_NaN();

// A function, and its derivative at x where it is f
struct Unary {
  const char* name;
  double (*of)(double);
  double (*slope)(double x, double f);
};

// A function, and what it changes by where x changes by dx and y by dy; f: its value
struct Binary {
  const char* name;
  double (*of)(double, double);
  double (*change)(double x, double y, double f, double dx, double dy);
};

const Unary UNARY[] = {
    {"neg", [](double x) { return -x; }, [](double, double) { return -1.0; }},
    {"abs", [](double x) { return std::fabs(x); },
     [](double x, double) { return x == 0 ? UNKNOWN : std::copysign(1.0, x); }},
    {"sqrt", std::sqrt, [](double, double f) { return 0.5 / f; }},
    {"sin", std::sin, [](double x, double) { return std::cos(x); }},
    {"cos", std::cos, [](double x, double) { return -std::sin(x); }},
    {"tan", std::tan, [](double, double f) { return 1 + f * f; }},
    {"arcsin", std::asin, [](double x, double) { return 1 / std::sqrt(1 - x * x); }},
    {"arccos", std::acos, [](double x, double) { return -1 / std::sqrt(1 - x * x); }},
    {"arctan", std::atan, [](double x, double) { return 1 / (1 + x * x); }},
    {"exp", std::exp, [](double, double f) { return f; }},
    {"log", std::log, [](double x, double) { return 1 / x; }},
};

const Binary BINARY[] = {
    {"add", [](double x, double y) { return x + y; },
     [](double, double, double, double dx, double dy) { return dx + dy; }},
    {"sub", [](double x, double y) { return x - y; },
     [](double, double, double, double dx, double dy) { return dx - dy; }},
    {"mul", [](double x, double y) { return x * y; },
     [](double x, double y, double, double dx, double dy) { return dx * y + x * dy; }},
    {"truediv", [](double x, double y) { return x / y; },
     [](double, double y, double f, double dx, double dy) { return (dx - f * dy) / y; }},
    {"max", [](double x, double y) { return x < y ? y : x; },
     [](double x, double y, double, double dx, double dy) {
       return x == y && dx != dy ? UNKNOWN : x < y ? dy : dx;
     }},
    {"pow", std::pow,
     [](double x, double y, double f, double dx, double dy) {
       return y * std::pow(x, y - 1) * dx + (dy == 0 ? 0.0 : f * std::log(x) * dy);
     }},
    {"arctan2", std::atan2,
     [](double y, double x, double, double dy, double dx) { return (x * dy - y * dx) / (x * x + y * y); }},
    {"hypot", std::hypot,
     [](double x, double y, double f, double dx, double dy) { return (x * dx + y * dy) / f; }},
};

// Comparisons; the outcome must be that of the recording. Where both sides are the same, any change of one may
// take another way.
double undecided(double x, double y, double, double dx, double dy) {
  return x == y && dx != dy ? UNKNOWN : 0;
}
const Binary COMPARED[] = {
    {"lt", [](double x, double y) { return x < y ? 1.0 : 0.0; }, undecided},
    {"le", [](double x, double y) { return x <= y ? 1.0 : 0.0; }, undecided},
    {"eq", [](double x, double y) { return x == y ? 1.0 : 0.0; }, undecided},
};

constexpr int BINARY_AT = std::size(UNARY), COMPARED_AT = BINARY_AT + std::size(BINARY);
constexpr int MOMENTS = COMPARED_AT + std::size(COMPARED), MERGE = MOMENTS + 1;
constexpr int BODY = 25;  // numbers of a body: R (9), p (3), mass, com (3), inertia (9)
constexpr int NODE = 10;  // numbers of a node: mass, com (3), inertia (6)

// Instructions are [operation, first slot of the result, slots of the arguments ...]. A comparison has no
// result. "merge": the numbers of bodies and nodes and the node of each body come before its arguments.
struct TableProgram {
  std::vector<int> code, inputs, outputs;
  std::vector<double> start;  // slots as recorded, constants among them

  // An instruction: its entries, where the slots of its arguments begin, and the number of its results
  struct Shape {
    size_t entries = 0, first = 2;
    int results = 1;
  };

  // The shape of the "merge" at c, without entries where it is broken
  Shape merge_shape(size_t c) const {
    if (code.size() - c < 4 || code[c + 2] < 1 || code[c + 3] < 1) return {};
    size_t bodies = code[c + 2], first = 4 + bodies, entries = first + BODY * bodies;
    int nodes = code[c + 3];
    if (code.size() - c < entries) return {};
    auto known = [&](int node) { return node >= 0 && node < nodes; };
    bool fine = std::all_of(code.begin() + c + 4, code.begin() + c + first, known);
    return {fine ? entries : 0, first, NODE * nodes};
  }

  Shape shape_at(size_t c) const {
    int op = code[c];
    if (op < 0 || op > MERGE) return {};
    if (op < BINARY_AT) return {3};
    if (op < COMPARED_AT) return {4};
    if (op < MOMENTS) return {4, 2, 0};
    return op == MOMENTS ? Shape{11, 2, 3} : merge_shape(c);
  }

  // Number of entries of the instruction at c, or 0 where it is broken
  size_t length(size_t c) const {
    if (code.size() - c < 3) return 0;
    Shape shape = shape_at(c);
    size_t n = shape.entries;
    if (n == 0 || code.size() - c < n || !fits(code[c + 1], shape.results)) return 0;
    auto known = [&](int slot) { return fits(slot, 1); };
    return std::all_of(code.begin() + c + shape.first, code.begin() + c + n, known) ? n : 0;
  }

  bool fits(int slot, int count) const {
    return slot >= 0 && static_cast<size_t>(slot) + count <= start.size();
  }

  void check() const {
    bool fine = true;
    for (size_t c = 0; fine && c < code.size();) {
      size_t n = length(c);
      fine = n > 0, c += n;
    }
    for (auto* list : {&inputs, &outputs})
      for (int slot : *list) fine = fine && fits(slot, 1);
    if (!fine) throw nb::value_error("broken instructions of a table program");
  }

  static void moments(const int* c, double* x) {
    double A[9], values[3], V[9];
    for (int i = 0; i < 9; ++i) A[i] = x[c[2 + i]];
    eigenvalues(A, 3, values, V);
    std::copy_n(values, 3, x + c[1]);
  }

  // scratch: numbers of the bodies; out (NODE * nodes)
  template <class T>
  static void merge(const int* c, const T* b, T* out) {
    int n = c[2], nn = c[3];
    std::vector<long long> node(c + 4, c + 4 + n);
    std::vector<int> count(nn, 0);
    std::fill_n(out, NODE * nn, T(0));
    merge_inertias<T>({n, node.data(), b, b + 9 * n, b + 12 * n, b + 13 * n, b + 16 * n}, count.data(),
                      {out, out + nn, out + 4 * nn});
  }
  static void merge(const int* c, double* x, std::vector<double>& scratch) {
    scratch.resize(BODY * c[2]);
    for (int i = 0; i < BODY * c[2]; ++i) scratch[i] = x[c[4 + c[2] + i]];
    merge(c, scratch.data(), x + c[1]);
  }
  // dx: what its results change by
  static void merge_changes(const int* c, const double* x, double* dx) {
    std::vector<ModelDual> given(BODY * c[2]), out(NODE * c[3]);
    for (int i = 0; i < BODY * c[2]; ++i) given[i] = {x[c[4 + c[2] + i]], dx[c[4 + c[2] + i]]};
    merge(c, given.data(), out.data());
    for (int i = 0; i < NODE * c[3]; ++i) dx[c[1] + i] = out[i].b;
  }

  // Whether the slots x come out the way of the recording
  bool run(double* x, std::vector<double>& scratch) const {
    for (size_t at = 0; at < code.size();) {
      const int* c = code.data() + at;
      int op = c[0];
      if (op < BINARY_AT) {
        x[c[1]] = UNARY[op].of(x[c[2]]), at += 3;
      } else if (op < COMPARED_AT) {
        x[c[1]] = BINARY[op - BINARY_AT].of(x[c[2]], x[c[3]]), at += 4;
      } else if (op < MOMENTS) {
        if (COMPARED[op - COMPARED_AT].of(x[c[2]], x[c[3]]) != c[1]) return false;
        at += 4;
      } else if (op == MOMENTS) {
        moments(c, x), at += 11;
      } else {
        merge(c, x, scratch), at += 4 + (1 + BODY) * c[2];
      }
    }
    return true;
  }

  // The change of an operation of one or two arguments, or of the difference that a comparison looks at
  static double change_of(const int* c, const double* x, const double* dx) {
    int op = c[0];
    if (op < BINARY_AT) return dx[c[2]] == 0 ? 0 : UNARY[op].slope(x[c[2]], x[c[1]]) * dx[c[2]];
    if (dx[c[2]] == 0 && dx[c[3]] == 0) return 0;
    if (op < COMPARED_AT) return BINARY[op - BINARY_AT].change(x[c[2]], x[c[3]], x[c[1]], dx[c[2]], dx[c[3]]);
    return COMPARED[op - COMPARED_AT].change(x[c[2]], x[c[3]], 0, dx[c[2]], dx[c[3]]);
  }

  // dx: what all slots x change by, from what the inputs change by; x as run() left them. False where a
  // comparison may come out otherwise for any change. Of principal moments nothing is known: they are
  // compared.
  bool run_changes(const double* x, double* dx) const {
    bool decided = true;
    for (size_t at = 0; at < code.size();) {
      const int* c = code.data() + at;
      int op = c[0];
      if (op < COMPARED_AT) {
        dx[c[1]] = change_of(c, x, dx), at += op < BINARY_AT ? 3 : 4;
      } else if (op < MOMENTS) {
        decided = decided && change_of(c, x, dx) == 0, at += 4;
      } else if (op == MOMENTS) {
        std::fill_n(dx + c[1], 3, UNKNOWN), at += 11;
      } else {
        merge_changes(c, x, dx), at += 4 + (1 + BODY) * c[2];
      }
    }
    return decided;
  }

  // (derivatives (n, m) of the outputs by the inputs (n), whether no comparison hangs on each input (n))
  nb::tuple slopes(nb::handle given) const {
    npy_intp n = inputs.size(), m = outputs.size();
    Dense values(given, "values", {n});
    NewArray out({n, m});
    New<unsigned char> decided({n});
    std::vector<double> x = start, scratch, dx;
    for (npy_intp i = 0; i < n; ++i) x[inputs[i]] = values[i];
    run(x.data(), scratch);
    for (npy_intp i = 0; i < n; ++i) {
      dx.assign(x.size(), 0.0);
      dx[inputs[i]] = 1;
      decided[i] = run_changes(x.data(), dx.data());
      for (npy_intp j = 0; j < m; ++j) out[i * m + j] = dx[outputs[j]];
    }
    return nb::make_tuple(out, decided);
  }

  // (the outputs (B, m), whether each variant (B,) takes the way of the recording with finite numbers)
  nb::tuple tables(nb::handle given) const {
    npy_intp B = length_of(given), n = inputs.size(), m = outputs.size();
    Dense values(given, "values", {B, n});
    NewArray out({B, m});
    New<unsigned char> fine({B});
    std::vector<double> x, scratch;
    for (npy_intp b = 0; b < B; ++b) {
      x = start;
      for (npy_intp i = 0; i < n; ++i) x[inputs[i]] = values[b * n + i];
      bool same = run(x.data(), scratch);
      double* row = out + b * m;
      for (npy_intp i = 0; i < m; ++i) row[i] = x[outputs[i]];
      fine[b] = same && finite(row, m);
    }
    return nb::make_tuple(out, fine);
  }
};

template <class T>
std::vector<T> listed(nb::handle list) {
  std::vector<T> found;
  found.reserve(nb::len(list));
  for (nb::handle x : list) found.push_back(nb::cast<T>(x));
  return found;
}

}  // namespace

void bind_table_program(nb::module_& m) {
  using namespace nb::literals;
  nb::dict numbers;
  int number = 0;
  for (auto& one : UNARY) numbers[one.name] = number++;
  for (auto& one : BINARY) numbers[one.name] = number++;
  for (auto& one : COMPARED) numbers[one.name] = number++;
  numbers["moments"] = MOMENTS, numbers["merge"] = MERGE;
  m.attr("PROGRAM_OPERATIONS") = numbers;
  nb::class_<TableProgram>(m, "TableProgram")
      .def(
          "__init__",
          [](TableProgram* p, nb::list code, nb::list start, nb::list inputs, nb::list outputs) {
            TableProgram made{listed<int>(code), listed<int>(inputs), listed<int>(outputs),
                              listed<double>(start)};
            made.check();
            new (p) TableProgram(std::move(made));
          },
          "code"_a, "start"_a, "inputs"_a, "outputs"_a)
      .def("tables", &TableProgram::tables, "values"_a)
      .def("slopes", &TableProgram::slopes, "values"_a);
}

}  // namespace sarrus
