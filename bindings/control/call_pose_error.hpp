// sarrus._kernel.pose_error: the error of one pose, for control laws.
#pragma once

#include <nanobind/nanobind.h>

namespace sarrus {

void bind_pose_error(nanobind::module_& m);

}  // namespace sarrus
