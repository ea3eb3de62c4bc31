// A model whose arrays lie one behind the other, indices and numbers apart: as devices get it.
#pragma once

#include "base/platform.hpp"
#include "tree/model.hpp"

SARRUS_BEGIN

template <class R>
struct Fields {
  const int* indices;
  const R* numbers;
  SARRUS_HD const int* take(const int*, int n) { return (indices += n) - n; }
  SARRUS_HD const R* take(const R*, int n) { return (numbers += n) - n; }
};

// sizes: as in SARRUS_MODEL_SIZES
template <class R>
SARRUS_HD Model<R> model_of(const int* sizes, Fields<R> fields) {
  Model<R> m;
#define SARRUS_SIZE(name) m.name = *sizes++;
  SARRUS_MODEL_SIZES(SARRUS_SIZE)
#undef SARRUS_SIZE
#define SARRUS_FIELD(type, name, count, width) m.name = fields.take(m.name, m.count * width);
  SARRUS_MODEL_FIELDS(SARRUS_FIELD)
#undef SARRUS_FIELD
  return m;
}

SARRUS_END
