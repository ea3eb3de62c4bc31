// The rows of a model that act, as a model of their own: its tables of rows hold these alone, in the order of
// declaration. Everything else is that of the whole model. What steps and solves such a view gives the same
// bits as a model compiled with these rows.
#pragma once

#include "constraints/constraints.hpp"
#include "constraints/mode.hpp"
#include "tree/forces/kinds.hpp"

SARRUS_BEGIN

// Tables of a model whose entries belong to rows, by the size in SARRUS_MODEL_FIELDS that counts them.
enum class RowTable : int { NONE, ELEMENTS, COUPLINGS, MESHES, USERS, ROWS };

constexpr bool same_word(const char* a, const char* b) {
  for (; *a && *a == *b; ++a, ++b) {
  }
  return *a == *b;
}
constexpr RowTable row_table(const char* count) {
  return same_word(count, "ne")            ? RowTable::ELEMENTS
         : same_word(count, "nk")          ? RowTable::COUPLINGS
         : same_word(count, "nm")          ? RowTable::MESHES
         : same_word(count, "n_user_rows") ? RowTable::USERS
         : same_word(count, "nc")          ? RowTable::ROWS
                                           : RowTable::NONE;
}

constexpr int OPEN_USER_ROW = -2;  // in place of the row of a user's constraint that is open; -1: no row

template <class R>
struct ActiveRows {
  using I = int;
  using F = R;
  const Model<R>* whole = nullptr;
  Model<R> view;
  int* place;  // (nc) row of the view, -1: it does not act
  F *parameters,
      *directions;       // of elements (nev), of forces on coordinates (ncfv)
  bool bearings = true;  // friction by load acts where it slides; else somebody else adds it
#define SARRUS_TABLE(type, name, count, width) type* own_##name = nullptr;
  SARRUS_MODEL_FIELDS(SARRUS_TABLE)
#undef SARRUS_TABLE

  SARRUS_HD void bind(const Model<R>& m, Arena& arena) {
    whole = &m;
    view = m;
    arena.take(m.nc, place);
    arena.take(m.nev, parameters);
    arena.take(m.ncfv, directions);
#define SARRUS_TABLE(type, name, count, width)         \
  if constexpr (row_table(#count) != RowTable::NONE) { \
    arena.take(m.count * width, own_##name);           \
    view.name = own_##name;                            \
  }
    SARRUS_MODEL_FIELDS(SARRUS_TABLE)
#undef SARRUS_TABLE
    view.el_values = parameters;
    view.cf_values = directions;
  }

  // Whether entry i of a table belongs to a row that acts
  template <RowTable TABLE>
  SARRUS_HD bool acts(int i) const {
    if constexpr (TABLE == RowTable::ELEMENTS) return place[whole->el_row[i]] >= 0;
    if constexpr (TABLE == RowTable::COUPLINGS) return place[whole->k_row[i]] >= 0;
    if constexpr (TABLE == RowTable::MESHES) return place[whole->mesh_row[i]] >= 0;
    if constexpr (TABLE == RowTable::ROWS) return place[i] >= 0;
    return true;  // rows of the user keep their number, by which their values
                  // come
  }
  template <RowTable TABLE, class E>
  SARRUS_HD int keep(const E* from, int count, int width, E* to) const {
    int n = 0;
    for (int i = 0; i < count; ++i) {
      if (!acts<TABLE>(i)) continue;
      for (int k = 0; k < width; ++k) to[n * width + k] = from[i * width + k];
      ++n;
    }
    return n;
  }

  // The rows for which row_acts(row) is true, with the parameters of elements and the offsets of couplings in
  // `values`
  template <class Acts>
  SARRUS_FN void choose(const F* values, Acts row_acts) {
    const Model<R>& m = *whole;
    int n = 0;
    for (int r = 0; r < m.nc; ++r) place[r] = row_acts(r) ? n++ : -1;
    int sizes[] = {0, 0, 0, 0, 0, 0};
#define SARRUS_TABLE(type, name, count, width)       \
  if constexpr (row_table(#count) != RowTable::NONE) \
    sizes[static_cast<int>(row_table(#count))] = keep<row_table(#count)>(m.name, m.count, width, own_##name);
    SARRUS_MODEL_FIELDS(SARRUS_TABLE)
#undef SARRUS_TABLE
    view.nc = n;
    view.ne = sizes[static_cast<int>(RowTable::ELEMENTS)];
    view.nk = sizes[static_cast<int>(RowTable::COUPLINGS)];
    view.nm = sizes[static_cast<int>(RowTable::MESHES)];
    view.fronts = n == m.nc ? m.fronts : nullptr;
    renumber();
    copy(parameters, values, m.nev);
    for (int i = 0, k = 0; i < m.nk; ++i)
      if (acts<RowTable::COUPLINGS>(i)) own_k_offset[k++] = values[m.nev + i];
  }
  // Rows of the tables as rows of the view
  SARRUS_FN void renumber() {
    for (int i = 0; i < view.ne; ++i) own_el_row[i] = place[own_el_row[i]];
    for (int i = 0; i < view.nk; ++i) own_k_row[i] = place[own_k_row[i]];
    for (int i = 0; i < view.nm; ++i) own_mesh_row[i] = place[own_mesh_row[i]];
    for (int u = 0; u < whole->n_user_rows; ++u)
      if (own_u_row[u] >= 0) own_u_row[u] = place[own_u_row[u]] >= 0 ? place[own_u_row[u]] : OPEN_USER_ROW;
  }
  // The rows of the groups for which group_acts(group) is true
  template <class Acts>
  SARRUS_FN void choose_groups(const ModeTable& table, const F* values, Acts group_acts) {
    int g = 0;
    choose(values, [&](int r) {
      while (table.groups[g].end <= r) ++g;
      return group_acts(g);
    });
  }
  // The rows of a mode, and those without the ones that hold coordinates at rest
  SARRUS_FN void choose_all(const ModeTable& table, const Mode& mode) {
    choose_groups(table, mode.values, [&](int g) { return mode.closed[g] != 0; });
  }
  SARRUS_FN void choose_constraints(const ModeTable& table, const Mode& mode) {
    choose_groups(table, mode.values,
                  [&](int g) { return table.groups[g].kind != GroupKind::HELD && mode.closed[g] != 0; });
  }

  // The directions in which dry friction acts, given for each coordinate of the table; 0: a row holds it
  SARRUS_FN void direct(const ModeTable& table, const F* direction) {
    const Model<R>& m = *whole;
    for (int i = 0; i < m.ncfv; ++i) directions[i] = m.cf_values[i];
    for (int i = 0; i < m.ncf; ++i) {
      bool bearing = m.cf_kind[i] == CoordinateForceKind::BearingFriction;
      bool dry = bearing || m.cf_kind[i] == CoordinateForceKind::CoulombFriction;
      for (int k = 0; dry && k < table.frictions; ++k)
        if (table.coordinate[k] == m.cf_v[i]) {
          bool held = direction[k] == 0 || (bearing && !bearings);
          directions[m.cf_begin[i]] = held ? F(CoulombFriction::HELD) : direction[k];
        }
    }
  }
};

SARRUS_END
