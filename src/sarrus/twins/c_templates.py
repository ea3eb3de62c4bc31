"""Parts of the C code of twins that are the same for all of them, but for names and sizes."""

SOLVER = """static void exchange(int n, double *x, double *y)
{
    int i;
    for (i = 0; i < n; ++i) {
        const double t = x[i];
        x[i] = y[i];
        y[i] = t;
    }
}

/* Gaussian elimination with partial pivoting: X (n x k) <- A^-1 X; the determinant of A */
static double eliminate(int n, int k, double *A, double *X)
{
    double det = 1.0;
    int c, i, j;
    for (c = 0; c < n; ++c) {
        int best = c;
        for (i = c + 1; i < n; ++i) if (fabs(A[i * n + c]) > fabs(A[best * n + c])) best = i;
        if (best != c) {
            exchange(n, A + c * n, A + best * n);
            exchange(k, X + c * k, X + best * k);
            det = -det;
        }
        det *= A[c * n + c];
        if (A[c * n + c] == 0.0) return 0.0;
        for (i = 0; i < n; ++i) {
            const double factor = A[i * n + c] / A[c * n + c];
            if (i == c || factor == 0.0) continue;
            for (j = c; j < n; ++j) A[i * n + j] -= factor * A[c * n + j];
            for (j = 0; j < k; ++j) X[i * k + j] -= factor * X[c * k + j];
        }
    }
    for (i = 0; i < n; ++i) for (j = 0; j < k; ++j) X[i * k + j] /= A[i * n + i];
    return det;
}

/* x[columns] <- sign B^-1 r, for k right sides that stand row by row in x */
static double solve_block(int n, int k, double *B, double *r, const int *columns, double sign, double *x)
{
    const double det = eliminate(n, k, B, r);
    int i, j;
    for (i = 0; i < n; ++i) for (j = 0; j < k; ++j) x[columns[i] * k + j] = sign * r[i * k + j];
    return det;
}
"""
GUARDING = """
static unsigned opened(int n, const double *phi)
{
    int i;
    for (i = 0; i < n; ++i) if (!(fabs(phi[i]) < CLOSED)) return PREFIX_CLOSURE;
    return 0u;
}

static unsigned turned(double ratio)
{
    if (!(fabs(ratio) > FLAT)) return PREFIX_SINGULAR;
    return ratio > 0.0 ? 0u : PREFIX_BRANCH;
}

/* N[columns, given] <- -B^-1 G; returns the determinant of B */
static double solve_given(int n, int m, double *B, double *G, const int *columns, const int *given, double *N)
{
    const double det = eliminate(n, m, B, G);
    int i, j;
    for (i = 0; i < n; ++i) for (j = 0; j < m; ++j) N[columns[i] * NS + given[j]] = -G[i * m + j];
    return det;
}
"""
FUNCTION_BODIES = """/* Torques of a group of motors: as many as joints, more (least norm), fewer */
static unsigned motor_group(int n_m, int n_s, const int *motors, const int *joints, double reference,
                            const double *J, const double *tau_s, double *tau_m)
{
    double A[PREFIX_NV_S * PREFIX_NV_S + PREFIX_NU * PREFIX_NU + 1], x[PREFIX_NV_S + PREFIX_NU + 1];
    double missed = 0.0, largest = 0.0, det;
    const int square = n_m == n_s, n = n_m < n_s ? n_m : n_s;
    int i, j, k;
    for (i = 0; i < n; ++i) {
        x[i] = n_m < n_s ? 0.0 : tau_s[joints[i]];
        for (j = 0; n_m < n_s && j < n_s; ++j) x[i] += J[motors[i] * NS + joints[j]] * tau_s[joints[j]];
        for (j = 0; j < n; ++j) {
            double sum = square ? J[motors[j] * NS + joints[i]] : 0.0;
            for (k = 0; !square && k < (n_m < n_s ? n_s : n_m); ++k)
                sum += n_m < n_s ? J[motors[i] * NS + joints[k]] * J[motors[j] * NS + joints[k]]
                                 : J[motors[k] * NS + joints[i]] * J[motors[k] * NS + joints[j]];
            A[i * n + j] = sum;
        }
    }
    det = n ? eliminate(n, 1, A, x) : reference;
    if (!(fabs(det / reference) > FLAT)) return PREFIX_SINGULAR;
    for (i = 0; i < n_m; ++i) {
        double sum = n_m <= n_s ? x[i] : 0.0;
        for (j = 0; n_m > n_s && j < n_s; ++j) sum += J[motors[i] * NS + joints[j]] * x[j];
        tau_m[motors[i]] = sum;
    }
    for (j = 0; j < n_s; ++j) {
        double made = 0.0;
        for (i = 0; i < n_m; ++i) made += J[motors[i] * NS + joints[j]] * tau_m[motors[i]];
        missed = fmax(missed, fabs(made - tau_s[joints[j]]));
        largest = fmax(largest, fabs(tau_s[joints[j]]));
    }
    return missed > CLOSED * largest ? PREFIX_UNREACHED : 0u;
}

static unsigned torques(const double *J, const double *tau_s, double *tau_m)
{
    unsigned guards = 0u;
GROUPS
    return guards;
}

unsigned NAME_motors(const double *q_s, double *q_m)
{
    double f[NF], N[ND * NS], q[PREFIX_NQ + 1];
    const unsigned guards = follow(q_s, f, N);
    int i;
    if (guards != 0u) return guards;
    whole(q_s, f, q);
    for (i = 0; i < PREFIX_NU; ++i) q_m[i] = q[motor_q[i]];
    return 0u;
}

unsigned NAME_jacobian(const double *q_s, double *J)
{
    double f[NF], N[ND * NS];
    const unsigned guards = follow(q_s, f, N);
    if (guards == 0u) motor_rows(N, J);
    return guards;
}

unsigned NAME_jacobian_rate(const double *q_s, const double *v_s, double *dJ)
{
    double f[NF], N[ND * NS], J[PREFIX_NU * NS + 1], ahead[PREFIX_NU + 1], behind[PREFIX_NU + 1];
    double w[NS], e[NS], turn[NS];
    const unsigned guards = follow(q_s, f, N);
    int i, j, k;
    if (guards != 0u) return guards;
    motor_rows(N, J);
    for (j = 0; j < PREFIX_NV_S; ++j) {
        for (i = 0; i < NS; ++i) e[i] = i == j ? 1.0 : 0.0;
        for (i = 0; i < NS; ++i) w[i] = v_s[i] + e[i];
        drift(q_s, f, N, w, ahead);
        for (i = 0; i < NS; ++i) w[i] = v_s[i] - e[i];
        drift(q_s, f, N, w, behind);
        bracket(v_s, e, turn);
        for (i = 0; i < PREFIX_NU; ++i) {
            double sum = 0.25 * (ahead[i] - behind[i]);
            for (k = 0; k < PREFIX_NV_S; ++k) sum += 0.5 * J[i * NS + k] * turn[k];
            dJ[i * NS + j] = sum;
        }
    }
    return 0u;
}

unsigned NAME_to_joints(const double *q_s, const double *tau_m, double *tau_s)
{
    double J[PREFIX_NU * NS + 1];
    const unsigned guards = NAME_jacobian(q_s, J);
    int i, j;
    for (j = 0; guards == 0u && j < PREFIX_NV_S; ++j) {
        tau_s[j] = 0.0;
        for (i = 0; i < PREFIX_NU; ++i) tau_s[j] += J[i * NS + j] * tau_m[i];
    }
    return guards;
}

unsigned NAME_to_motors(const double *q_s, const double *tau_s, double *tau_m)
{
    double J[PREFIX_NU * NS + 1], found[PREFIX_NU + 1];
    unsigned guards = NAME_jacobian(q_s, J);
    int i;
    if (guards != 0u) return guards;
    guards = torques(J, tau_s, found);
    for (i = 0; !(guards & PREFIX_SINGULAR) && i < PREFIX_NU; ++i) tau_m[i] = found[i];
    return guards;
}

unsigned NAME_limited(const double *q_s, const double *tau_s, double *out)
{
    double J[PREFIX_NU * NS + 1], tau_m[PREFIX_NU + 1];
    unsigned guards = NAME_jacobian(q_s, J);
    int i, j;
    if (guards != 0u) return guards;
    guards = torques(J, tau_s, tau_m) & PREFIX_SINGULAR;
    if (guards != 0u) return guards;
    for (i = 0; i < PREFIX_NU; ++i) tau_m[i] = fmin(fmax(tau_m[i], inputs[i][0]), inputs[i][1]);
    for (j = 0; j < PREFIX_NV_S; ++j) {
        out[j] = 0.0;
        for (i = 0; i < PREFIX_NU; ++i) out[j] += J[i * NS + j] * tau_m[i];
    }
    return 0u;
}

unsigned NAME_complete(const double *q_s, const double *v_s, double *q, double *v)
{
    double f[NF], N[ND * NS];
    const unsigned guards = follow(q_s, f, N);
    if (guards != 0u) return guards;
    whole(q_s, f, q);
    whole_rates(v_s, N, v);
    return 0u;
}
"""
EXAMPLE = """/* How NAME.h is used, made by sarrus (Twin.export_code). */
#include <stdio.h>

#include "NAME.h"

int main(void)
{
    const double q_s[PREFIX_NQ_S + 1] = PREFIX_Q0;
    double q_m[PREFIX_NU + 1];
    const unsigned guards = NAME_motors(q_s, q_m);
    int i;
    printf("guards %u\\n", guards);
    for (i = 0; guards == 0u && i < PREFIX_NU; ++i) printf("q_m[%d] = %.9g\\n", i, q_m[i]);
    return 0;
}
"""
