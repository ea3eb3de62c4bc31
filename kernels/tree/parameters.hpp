// Parameters of one kind of element (a constraint between two bodies, a force): a struct of reals whose
// fields are written down once, in the header of the kind, as a list of V(name, width) for arrays and S(name)
// for numbers. The model stores the parameters of all elements one behind the other, in the order of these
// fields; the bindings tell Python their names and widths.
#pragma once

#include "base/platform.hpp"

#define SARRUS_ARRAY_FIELD(name, width) R name[width];
#define SARRUS_NUMBER_FIELD(name) R name;
#define SARRUS_VISIT_ARRAY(name, width) visit(#name, width);
#define SARRUS_VISIT_NUMBER(name) visit(#name, 1);

// Defines Parameters<R>, and each_parameter(visit) that calls visit(name, width) for every field.
#define SARRUS_PARAMETERS(fields)                   \
  template <class R>                                \
  struct Parameters {                               \
    fields(SARRUS_ARRAY_FIELD, SARRUS_NUMBER_FIELD) \
  };                                                \
  template <class F>                                \
  static SARRUS_HD void each_parameter(F visit) {   \
    fields(SARRUS_VISIT_ARRAY, SARRUS_VISIT_NUMBER) \
  }

SARRUS_BEGIN

// The parameters of an element of this kind, which begin at `values`.
template <class Kind, class R>
SARRUS_HD const typename Kind::template Parameters<R>& parameters_at(const R* values) {
  return *reinterpret_cast<const typename Kind::template Parameters<R>*>(values);
}

SARRUS_END
