// Batches for one instruction set (SARRUS_ISA).
#include "bearing_batches.hpp"
#include "centroidal_batches.hpp"
#include "constraint_batches.hpp"
#include "front_batches.hpp"
#include "linear_batches.hpp"
#include "project_batches.hpp"
#include "solve_batches.hpp"

SARRUS_BEGIN

const BatchTable& batch_table() {
  static const BatchTable table = {
      .stays_sparse = sparse,
      .plan_fronts = plan_model,
      .mass_matrix = mass_matrix_n,
      .rnea = rnea_n,
      .energy = energy_n,
      .poses = poses_n,
      .body_motion = body_motion_n,
      .frames = frames_n,
      .pose = pose_n,
      .jacobian = jacobian_n,
      .point_motion = point_motion_n,
      .constraints = constraints_n,
      .closure = closure_n,
      .row_wrenches = row_wrenches_n,
      .force_wrenches = force_wrenches_n,
      .bearing_bounds = bearing_bounds_n,
      .motion_bounds = motion_bounds_n,
      .sliding_friction = sliding_friction_n,
      .row_rates = row_rates_n,
      .pivots = pivots_n,
      .terms = terms_n,
      .integrate = integrate_n,
      .difference = difference_n,
      .forward = forward_n,
      .multipliers = multipliers_n,
      .derivatives = derivatives_n,
      .linearize = linearize_n,
      .consistent_velocity = consistent_velocity_n,
      .impact = impact_n,
      .inverse_dynamics = inverse_dynamics_n,
      .decompose = decompose_n,
      .split_rows = split_rows_of,
      .mobility = mobility_n,
      .project = project_n,
      .point = point_n,
      .center_of_mass = center_of_mass_n,
      .momentum = momentum_n,
      .momentum_matrix = momentum_matrix_n,
      .momentum_rate = momentum_rate_n,
      .momentum_matrix_rate = momentum_matrix_rate_n,
      .momentum_slopes = momentum_slopes_n,
  };
  return table;
}

SARRUS_END
