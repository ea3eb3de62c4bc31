// Steps of several copies at once, for one instruction set (SARRUS_ISA).
#include "contact_lanes.hpp"
#include "modal_lanes.hpp"

SARRUS_BEGIN

LaneSteps* make_lanes(const ModelD& m, const Options& o) {
  if (!fit_in_lanes(m, o)) return nullptr;
  return with_lane_stride(m.nv,
                          [&](auto ld) -> LaneSteps* { return new SizedLanes<decltype(ld)::width>(m, o); });
}

ModalLanes* make_modal_lanes(const ModelD& m, const ModePlan& plan, const Options& o) {
  bool by_load = false;
  each_bearing(m, [&](int, const auto&) { by_load = true; });
  if (!fit_in_lanes(m, o) || by_load) return nullptr;
  return with_lane_stride(
      m.nv, [&](auto ld) -> ModalLanes* { return new SizedModalLanes<decltype(ld)::width>(m, plan, o); });
}

ModalLanes* make_contact_lanes(const ModelD& m, const Options& o) {
  if (!fit_in_lanes(m, o)) return nullptr;
  return with_lane_stride(m.nv,
                          [&](auto ld) -> ModalLanes* { return new OpenLanes<decltype(ld)::width>(m, o); });
}

SARRUS_END
