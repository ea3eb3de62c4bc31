#include "table_program.hpp"

#include "../numpy.hpp"
#include "algebra/symmetric_eigenvalues.hpp"
#include "tree/merged_inertia.hpp"

#include <cmath>
#include <cstring>
#include <vector>

namespace sarrus {

namespace {

struct Unary {
  const char* name;
  double (*of)(double);
};

struct Binary {
  const char* name;
  double (*of)(double, double);
};

const Unary UNARY[] = {
    {"neg", [](double x) { return -x; }},
    {"abs", [](double x) { return std::fabs(x); }},
    {"sqrt", std::sqrt},
    {"sin", std::sin},
    {"cos", std::cos},
    {"tan", std::tan},
    {"arcsin", std::asin},
    {"arccos", std::acos},
    {"arctan", std::atan},
    {"exp", std::exp},
    {"log", std::log},
};

const Binary BINARY[] = {
    {"add", [](double x, double y) { return x + y; }},
    {"sub", [](double x, double y) { return x - y; }},
    {"mul", [](double x, double y) { return x * y; }},
    {"truediv", [](double x, double y) { return x / y; }},
    {"max", [](double x, double y) { return x < y ? y : x; }},
    {"pow", std::pow},
    {"arctan2", std::atan2},
    {"hypot", std::hypot},
};

// Comparisons; the outcome must be that of the recording
const Binary COMPARED[] = {
    {"lt", [](double x, double y) { return x < y ? 1.0 : 0.0; }},
    {"le", [](double x, double y) { return x <= y ? 1.0 : 0.0; }},
    {"eq", [](double x, double y) { return x == y ? 1.0 : 0.0; }},
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

  // Number of entries of the instruction at c, or 0 where it is broken
  size_t length(size_t c) const {
    size_t left = code.size() - c, n;
    if (left < 3) return 0;
    int op = code[c], results = 1;
    if (op < 0 || op > MERGE) return 0;
    size_t first = 2;
    if (op < BINARY_AT) {
      n = 3;
    } else if (op < COMPARED_AT) {
      n = 4;
    } else if (op < MOMENTS) {
      n = 4, results = 0;
    } else if (op == MOMENTS) {
      n = 11, results = 3;
    } else {
      if (left < 4 || code[c + 2] < 1 || code[c + 3] < 1) return 0;
      size_t bodies = code[c + 2], nodes = code[c + 3];
      first = 4 + bodies, n = first + BODY * bodies, results = static_cast<int>(NODE * nodes);
      if (left < n) return 0;
      for (size_t i = c + 4; i < c + first; ++i)
        if (code[i] < 0 || code[i] >= code[c + 3]) return 0;
    }
    if (left < n || !fits(code[c + 1], results)) return 0;
    for (size_t i = c + first; i < c + n; ++i)
      if (!fits(code[i], 1)) return 0;
    return n;
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

  static void merge(const int* c, double* x, std::vector<double>& scratch) {
    int n = c[2], nn = c[3];
    scratch.resize(BODY * n);
    for (int i = 0; i < BODY * n; ++i) scratch[i] = x[c[4 + n + i]];
    std::vector<long long> node(c + 4, c + 4 + n);
    std::vector<int> count(nn, 0);
    double *b = scratch.data(), *out = x + c[1];
    std::fill_n(out, NODE * nn, 0.0);
    merge_inertias<double>({n, node.data(), b, b + 9 * n, b + 12 * n, b + 13 * n, b + 16 * n}, count.data(),
                           {out, out + nn, out + 4 * nn});
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
      .def("tables", &TableProgram::tables, "values"_a);
}

}  // namespace sarrus
