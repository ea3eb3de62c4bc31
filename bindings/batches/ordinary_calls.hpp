// Methods of Python made from their lines in batch_table.hpp: new arrays for the results, the call, and what
// Python gets. States: a Batch or CheckedArguments.
#pragma once

#include "../numpy.hpp"
#include "batch_table.hpp"

namespace sarrus::calls {

inline npy_intp size(const ModelD&, int number) { return number; }
inline npy_intp size(const ModelD& m, int ModelD::* member) { return m.*member; }

// The arrays of a struct of pointers
template <class Arrays, class... Results>
struct Filled {
  std::tuple<Results...> results;
  operator Arrays() const {
    return std::apply([](const auto&... x) { return Arrays{x...}; }, results);
  }
};

template <class States, class T, auto... sizes>
New<T> room(const States& states, Result<T, sizes...>) {
  return New<T>(states.each({size(states.m, sizes)...}));
}
template <class States, class Arrays, class... Results>
auto room(const States& states, Fields<Arrays, Results...>) {
  return Filled<Arrays, decltype(room(states, Results()))...>{{room(states, Results())...}};
}

template <class T>
std::tuple<New<T>> flat(New<T>& x) {
  return {std::move(x)};
}
template <class Arrays, class... Results>
std::tuple<Results...> flat(Filled<Arrays, Results...>& x) {
  return std::move(x.results);
}

// inputs: a tuple for each argument, of what of it the kernel gets
template <class States, class Function, class... Inputs, class... Results>
auto call(const States& states, Function function, std::tuple<Inputs...> inputs, Results&&... results) {
  auto all = std::apply([](auto&... x) { return std::tuple_cat(std::move(x)...); }, inputs);
  std::apply([&](const auto&... x) { states.run(function, x..., results...); }, all);
  auto found = std::tuple_cat(flat(results)...);
  if constexpr (std::tuple_size_v<decltype(found)> == 1)
    return std::move(std::get<0>(found));
  else
    return std::apply([](const auto&... x) { return nb::make_tuple(x...); }, found);
}

}  // namespace sarrus::calls
