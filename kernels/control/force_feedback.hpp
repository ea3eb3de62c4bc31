// Proportional-integral feedback of forces without an algebraic loop.
//
//   y_model = y_d + (1 + K_F)^-1 (K_I I - K_F d),   I' = y_d - y,   y = y_model + d                       (1)
//
// [Aghili2005] eq. (50), solved for the force of the model: src/sarrus/control/motion/force_feedback.py.
#pragma once

#include "control/step_data.hpp"

SARRUS_BEGIN

constexpr double UNREACHED = 1e-6;  // relative distance from the command above which a force is saturated

// out (p): force of the model to be commanded, (1)
// in: y_d (p); the newest d (p), or null without a measurement
template <class T>
SARRUS_FN void command(ForceFeedbackState<T>& s, T t, const T* desired, const T* measured_less_model,
                       T* out) {
  bool first = !(s.last == s.last);
  T dt = first || t < s.last ? T(0) : t - s.last;
  s.last = first ? t : larger(t, s.last);
  T share = s.filter_time == 0 ? T(1) : dt / (dt + s.filter_time);
  for (int i = 0; i < s.p; ++i) {
    T sum = s.integral[i] + dt * s.rate[i], cap = s.cap[i];
    s.integral[i] = sum > cap ? cap : sum < -cap ? -cap : sum;
    if (measured_less_model) s.disturbance[i] += share * (measured_less_model[i] - s.disturbance[i]);
    out[i] = desired[i];
  }
  for (int j = 0; j < s.p; ++j) {
    T pull = inner(s.ki + j * s.p, s.integral, s.p) - inner(s.kf + j * s.p, s.disturbance, s.p);
    for (int i = 0; i < s.p; ++i) out[i] += s.inverse[i * s.p + j] * pull;
  }
}

// error (p): y_d - y for the forces of the chosen inputs by the model; sets the rate of the integral.
// Anti-windup: the integral of a force that limits or the motion keep from its command stands still.
template <class T>
SARRUS_FN void settle(ForceFeedbackState<T>& s, const T* desired, const T* commanded, const T* modelled,
                      T* error) {
  for (int i = 0; i < s.p; ++i) {
    T lacks = commanded[i] - modelled[i], far = real<T>(UNREACHED) * (abs_(commanded[i]) + real<T>(1));
    error[i] = desired[i] - modelled[i] - s.disturbance[i];
    s.rate[i] = abs_(lacks) > far && lacks * error[i] > 0 ? T(0) : error[i];
  }
}

SARRUS_END
