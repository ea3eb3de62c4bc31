// What Python says of a law, as structs whose fields are listed once: from a list come the struct and the
// keywords of its Python class, so that a field that is missing or misspelt is refused by name. Arrays are
// checked by name where a law is set up, because their shapes depend on its mechanism.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

namespace sarrus {

namespace nb = nanobind;
using Integers = std::vector<long long>;

// clang-format off
// F(type, name), N(type, name) for what may be None, D(type, name, default) for what may be left out.
// Meanings: control/step_data.hpp.
#define SARRUS_OUTPUT_FIELDS(F, N, D) \
  F(int, kind) F(int, size) F(bool, accelerated) D(int, body, -1) D(nb::object, point, nb::none()) \
  D(std::vector<int>, rows, {}) D(bool, screw, false) D(bool, own, false) \
  D(nb::object, Q, nb::none()) D(nb::object, J, nb::none())

// unit: of the rows that count; keep: which rows count, None for all
#define SARRUS_TASK_FIELDS(F, N, D) \
  F(std::vector<OutputSetup>, outputs) F(nb::object, unit) N(std::optional<std::vector<int>>, keep) \
  N(nb::object, kp) N(nb::object, kd) D(int, level, 0) D(double, damping, 0.0)

#define SARRUS_LIMIT_ROW_FIELDS(F, N, D) \
  F(nb::object, on_lam) N(nb::object, on_u) N(nb::object, on_force) N(nb::object, on_a) \
  F(nb::object, lower) F(nb::object, upper)

// first_function: where the rows that are functions of the state begin
#define SARRUS_LIMIT_FIELDS(F, N, D) \
  F(LimitRows, rows) F(nb::object, cone_lam) N(nb::object, least) N(nb::object, most) \
  F(int, first_function) F(bool, has_functions)

#define SARRUS_OBJECT_FIELDS(F, N, D) \
  F(int, body) F(int, column) F(nb::object, com) N(nb::object, stiffness) N(nb::object, damping) \
  N(nb::object, inertia) N(nb::object, reserve)

#define SARRUS_FORCE_FIELDS(F, N, D) \
  N(std::optional<std::vector<int>>, rows) F(nb::object, weight) F(nb::object, feedback) F(bool, has_sensor)

#define SARRUS_ACTIVE_FIELDS(F, N, D) F(nb::object, gap_weight) F(nb::object, per_row) F(nb::object, part)

// used, nu: indices of the actuators into all nu inputs; has_terms, has_tasks: whether the owner of a step is
// asked for the equations of motion, and for targets
#define SARRUS_LAW_FIELDS(F, N, D) \
  F(Integers, columns) F(Integers, used) F(int, nu) F(ActiveSetup, active) F(std::vector<TaskSetup>, tasks) \
  N(nb::object, metric) F(bool, mass_metric) F(int, levels) F(double, rank_tol) F(double, damping) \
  F(double, min_controllability) F(bool, by_mass) F(double, touch) F(double, tol) F(bool, drops_lost_rows) \
  F(double, angle) F(double, speed) N(std::optional<LimitSetup>, limits) N(std::optional<ObjectSetup>, object) \
  N(std::optional<ForceSetup>, forces) F(bool, has_terms) F(bool, has_tasks)

#define SARRUS_SETUPS(X) \
  X(OutputSetup, SARRUS_OUTPUT_FIELDS) X(TaskSetup, SARRUS_TASK_FIELDS) X(LimitRows, SARRUS_LIMIT_ROW_FIELDS) \
  X(LimitSetup, SARRUS_LIMIT_FIELDS) X(ObjectSetup, SARRUS_OBJECT_FIELDS) X(ForceSetup, SARRUS_FORCE_FIELDS) \
  X(ActiveSetup, SARRUS_ACTIVE_FIELDS) X(LawSetup, SARRUS_LAW_FIELDS)

#define SARRUS_FIELD(type, name, ...) type name;
#define SARRUS_SETUP(Setup, FIELDS) struct Setup { FIELDS(SARRUS_FIELD, SARRUS_FIELD, SARRUS_FIELD) };
SARRUS_SETUPS(SARRUS_SETUP)
#undef SARRUS_FIELD
#undef SARRUS_SETUP
// clang-format on

}  // namespace sarrus
