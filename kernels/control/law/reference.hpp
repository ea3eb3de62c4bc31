// References of control laws: desired values of outputs as functions of time, written where ControlInput
// looks for them. The operations are those of src/sarrus/control/outputs/references.py, one by one.
#pragma once

#include "base/rounded.hpp"
#include "control/step_data.hpp"

namespace sarrus {

enum ReferenceKind : int { MINIMUM_JERK = 0, MINIMUM_JERK_POSE = 1, SINUSOID = 2, CUBIC_SPLINE = 3 };

// Components first .. first + size of output `output`. numbers:
//   MINIMUM_JERK       t0, duration, start (size), way (size)
//   MINIMUM_JERK_POSE  t0, duration, place (3), way (3), turn (3), rotation at the start (9)
//   SINUSOID           mean, amplitude, omega, phase (size each)
//   CUBIC_SPLINE       whether it repeats, times (points), coefficients (4, points - 1, size)
struct Reference {
  int kind, output, first, size, points;
  const double* numbers;
};

}  // namespace sarrus

SARRUS_BEGIN

// 10 s^3 - 15 s^4 + 6 s^5
SARRUS_FN double minimum_jerk(double s) {
  double cubed = rounded(rounded(s * s) * s);
  return cubed * rounded(rounded(10.0 - rounded(15.0 * s)) + rounded(rounded(6.0 * s) * s));
}

// Where a component goes: x, x' and x'' lie `apart` behind each other
struct TargetPlace {
  double* x;
  int apart;
  SARRUS_HD void put(int i, double value, double rate, double acceleration) const {
    x[i] = value, x[apart + i] = rate, x[2 * apart + i] = acceleration;
  }
};

// Share of the way, speed and acceleration of a motion with the least jerk at time t
struct JerkPhase {
  double share, rate, acceleration;
  SARRUS_HD JerkPhase(double t0, double T, double t) {
    double s = (t - t0) / T, left;
    s = s > 0.0 ? s : 0.0;
    s = s < 1.0 ? s : 1.0;
    left = 1.0 - s;
    share = minimum_jerk(s);
    rate = rounded(rounded(rounded(30.0 * s) * s) * rounded(left * left)) / T;
    acceleration =
        rounded(rounded(rounded(60.0 * s) * left) * rounded(1.0 - rounded(2.0 * s))) / rounded(T * T);
  }
};

SARRUS_FN void follow_minimum_jerk(const Reference& r, double t, const TargetPlace& to) {
  const double *start = r.numbers + 2, *way = start + r.size;
  JerkPhase p(r.numbers[0], r.numbers[1], t);
  for (int i = 0; i < r.size; ++i)
    to.put(r.first + i, start[i] + rounded(way[i] * p.share), way[i] * p.rate, way[i] * p.acceleration);
}

// to (9) = exp(e) R
SARRUS_FN void turned(const double* e, const double* R, double* to) {
  double xx = rounded(e[0] * e[0]), yy = rounded(e[1] * e[1]), zz = rounded(e[2] * e[2]);
  double square = rounded(rounded(xx + yy) + zz), angle = sqrt_(square), sine, cosine, a = 1.0, b = 0.5;
  sincos_(angle, sine, cosine);
  if (angle > 1e-4) a = sine / angle, b = rounded(1.0 - cosine) / square;
  double ax = rounded(a * e[0]), ay = rounded(a * e[1]), az = rounded(a * e[2]);
  double bxy = rounded(rounded(b * e[0]) * e[1]), bxz = rounded(rounded(b * e[0]) * e[2]),
         byz = rounded(rounded(b * e[1]) * e[2]);
  const double E[9] = {1.0 - rounded(b * rounded(yy + zz)), bxy - az, bxz + ay, bxy + az,
                       1.0 - rounded(b * rounded(xx + zz)), byz - ax, bxz - ay, byz + ax,
                       1.0 - rounded(b * rounded(xx + yy))};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double first = rounded(E[3 * i] * R[j]), second = rounded(E[3 * i + 1] * R[3 + j]);
      to[3 * i + j] = rounded(first + second) + rounded(E[3 * i + 2] * R[6 + j]);
    }
}

// to: rotation (9), place (3), x' (6), x'' (6); of a turn alone (r.size 3) without places
SARRUS_FN void follow_pose(const Reference& r, double t, double* to) {
  const double *place = r.numbers + 2, *way = place + 3, *turn = way + 3, *R = turn + 3;
  JerkPhase p(r.numbers[0], r.numbers[1], t);
  double e[3];
  for (int i = 0; i < 3; ++i) e[i] = 0.0 + rounded(turn[i] * p.share);
  turned(e, R, to);
  to += 9;
  bool whole = r.size == 6;
  for (int i = 0; whole && i < 3; ++i) *to++ = place[i] + rounded(way[i] * p.share);
  for (int i = whole ? 0 : 3; i < 6; ++i) *to++ = way[i] * p.rate;
  for (int i = whole ? 0 : 3; i < 6; ++i) *to++ = way[i] * p.acceleration;
}

SARRUS_FN void follow_sinusoid(const Reference& r, double t, const TargetPlace& to) {
  const double *mean = r.numbers, *amplitude = mean + r.size, *omega = amplitude + r.size,
               *phase = omega + r.size;
  for (int i = 0; i < r.size; ++i) {
    double sine, cosine, angle = rounded(omega[i] * t) + phase[i];
    sincos_(angle, sine, cosine);
    double s = rounded(amplitude[i] * sine), c = rounded(amplitude[i] * cosine);
    to.put(r.first + i, mean[i] + s, omega[i] * c, -rounded(omega[i] * omega[i]) * s);
  }
}

// Value or derivative (0, 1, 2) at z of a cubic whose coefficients lie `apart`, highest power first
SARRUS_FN double cubic(const double* c, int apart, double z, int order) {
  double sum = 0.0, power = 1.0;
  for (int k = order; k < 4; ++k) {
    double factor = order == 0 ? 1.0 : order == 1 ? k : k * (k - 1);
    sum += rounded(rounded(c[(3 - k) * apart] * power) * factor);
    power = rounded(power * z);
  }
  return sum;
}

SARRUS_FN void follow_spline(const Reference& r, double t, const TargetPlace& to) {
  const double *times = r.numbers + 1, *c = times + r.points, first = times[0], last = times[r.points - 1];
  bool repeats = r.numbers[0] != 0.0;
  int pieces = r.points - 1, i = 0;
  double s = t < first ? first : t > last ? last : t;
  if (repeats) {
    double past = __builtin_fmod(first + __builtin_fmod(t - first, last - first) - first, last - first);
    s = first + (past < 0.0 ? past + (last - first) : past);
  }
  bool rests = s != t && !repeats;
  while (i < pieces - 1 && s >= times[i + 1]) ++i;
  for (int k = 0; k < r.size; ++k) {
    const double* of = c + i * r.size + k;
    int apart = pieces * r.size;
    double z = s - times[i];
    to.put(r.first + k, cubic(of, apart, z, 0), rests ? 0.0 : cubic(of, apart, z, 1),
           rests ? 0.0 : cubic(of, apart, z, 2));
  }
}

// The targets that change with time; given (outputs): outputs whose targets somebody else sets
SARRUS_FN void follow_references(const ControlSetup<double>& s, const Reference* references, int count,
                                 const unsigned char* given, double t, double* targets) {
  for (int i = 0; i < count; ++i) {
    const Reference& r = references[i];
    const Output<double>& o = s.output[r.output];
    if (given[r.output]) continue;
    const TargetPlace to{targets + o.at, o.size};
    if (r.kind == MINIMUM_JERK) follow_minimum_jerk(r, t, to);
    if (r.kind == MINIMUM_JERK_POSE) follow_pose(r, t, to.x);
    if (r.kind == SINUSOID) follow_sinusoid(r, t, to);
    if (r.kind == CUBIC_SPLINE) follow_spline(r, t, to);
  }
}

SARRUS_END
