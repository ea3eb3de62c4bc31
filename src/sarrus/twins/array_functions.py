"""Functions of the Python code of twins, the same for all of them but for tables and sizes."""

BODY = '''
def _columns(x):
    return [x[..., i] for i in range(x.shape[-1])]


def _dense(columns, like, *shape):
    """Columns, numbers among them, as one array (..., *shape)."""
    whole = [x if hasattr(x, "shape") and x.shape == like.shape else _full(0.0, like) + x for x in columns]
    if not whole:
        return _full(0.0, like)[..., None].reshape(*like.shape, 1)[..., :0].reshape(*like.shape, *shape)
    return _stack(whole, -1).reshape(*like.shape, *shape)


def _blocks(found, like):
    """r, B, G and phi of each block as arrays."""
    for k, (columns, given) in enumerate(_BLOCKS):
        r, B, G, phi = found[4 * k : 4 * k + 4]
        n, m = len(columns), len(given)
        yield k, _dense(r, like, n), _dense(B, like, n, n), _dense(G, like, n, m), _dense(phi, like, len(phi))


def _regular(k, B):
    """Guards of a block, and the block, with another matrix in its place where it is singular."""
    n = B.shape[-1]
    ratio = _determinant(B) / _DETERMINANTS[k]
    flat = ~(xp.abs(ratio) > _FLAT)
    guards = xp.where(flat, SINGULAR, xp.where(ratio > 0, 0, BRANCH))
    eye = _array([[float(i == j) for j in range(n)] for i in range(n)], B)
    return guards, xp.where(flat[..., None, None], eye, B)


def _newton(s, f, like):
    dx = [0.0] * _N_FOLLOW
    for k, r, B, G, phi in _blocks(_closure(s, f), like):
        step = -_solve(_regular(k, B)[1], r[..., None])[..., 0]
        for i, x in zip(_BLOCKS[k][0], _columns(step)):
            dx[i] = x
    return _update(s, f, dx)[0]


def _follow(q_s):
    """Positions that follow, their rates N (..., n, NV_S), guards. The last two steps are differentiated."""
    s = _columns(q_s)
    like, fixed = s[0], _detached(s)
    f, z = _start(fixed)
    first = f
    for _ in range(NEWTON - 2):
        f = _newton(fixed, f, like)
    f = _detached(f)
    for _ in range(2):
        f = _newton(s, f, like)
    beyond = [~(xp.abs(x) < _BEYOND) for x in z]
    beyond += [~(xp.abs(a - b) < far) for a, b, far in zip(_detached(f), first, _FAR)]
    guards = xp.where(_stack(beyond, 0).any(0), CLOSURE, 0)
    rows = [[0.0] * NV_S for _ in range(_N_FOLLOW)]
    closed = max(_CLOSED, 1e4 * float(_epsilon(like)))
    for k, r, B, G, phi in _blocks(_closure(s, f), like):
        bits, B = _regular(k, B)
        fine = (xp.abs(phi) < closed).all(-1)
        guards = guards | bits | xp.where(fine, 0, CLOSURE)
        columns, given = _BLOCKS[k]
        if given:
            X = -_solve(B, G)
            for i, at in enumerate(columns):
                for j, to in enumerate(given):
                    rows[at][to] = X[..., i, j]
    N = _dense([x for row in rows for x in row], like, _N_FOLLOW, NV_S)
    return s, f, N, guards


def _masked(x, guards, axes):
    """NaN where a guard says that there is no result."""
    bad = (guards != 0).reshape(*guards.shape, *[1] * axes)
    return xp.where(bad, _full(float("nan"), x), x)


def _motor_rows(N, like):
    rows = []
    for k in _MOTORS_V:
        kind, at = _V_FROM[k]
        own = [float(j == at) for j in range(NV_S)]
        rows.append(N[..., at, :] if kind == "f" else _dense(own, like, NV_S))
    return _stack(rows, -2)


def _both(q_s, x):
    """Arguments with the same leading axes."""
    q_s = _array(q_s)
    x = _array(x, q_s)
    shape = (q_s[..., :1] + x[..., :1]).shape[:-1]
    return xp.broadcast_to(q_s, (*shape, q_s.shape[-1])), xp.broadcast_to(x, (*shape, x.shape[-1]))


def _times(A, x):
    return (A * x[..., None, :]).sum(-1)


def guards(q_s):
    """0 where there is a result (...), else bits: CLOSURE, SINGULAR, BRANCH."""
    return _calmly(_follow, _array(q_s))[3]


def motors(q_s):
    """Positions of the motors q_m (..., NU)."""
    s, f, N, bits = _calmly(_follow, _array(q_s))
    q = [s[int(x)] if kind == "s" else f[int(x)] if kind == "f" else x for kind, x in _Q_FROM]
    return _masked(_dense([q[i] for i in _MOTORS_Q], s[0], NU), bits, 1)


def jacobian(q_s):
    """J_A (..., NU, NV_S) with v_m = J_A v_s."""
    s, f, N, bits = _calmly(_follow, _array(q_s))
    return _masked(_motor_rows(N, s[0]), bits, 2)


def _whole_rates(N, v_s):
    v, d = _columns(v_s), _columns(_times(N, v_s))
    return [v[int(x)] if kind == "s" else d[int(x)] if kind == "f" else 0.0 for kind, x in _V_FROM]


def _drift(s, f, N, v_s):
    """Accelerations of the motors while the joints keep their speeds v_s (..., NV_S)."""
    like = v_s[..., 0]
    found, c = _closure(s, f), _gamma(s, f, _whole_rates(N, v_s))
    a = [0.0] * _N_FOLLOW
    for k, r, B, G, phi in _blocks(found, like):
        x = _solve(_regular(k, B)[1], _dense(c[k], like, B.shape[-1])[..., None])[..., 0]
        for i, one in zip(_BLOCKS[k][0], _columns(x)):
            a[i] = one
    return _dense([a[_V_FROM[k][1]] if _V_FROM[k][0] == "f" else 0.0 for k in _MOTORS_V], like, NU)


def _bracket(v, w):
    """[v, w] of velocities: angular velocities, and twists of Free joints, do not commute."""
    out = [0.0] * NV_S
    minor = lambda i, j: v[..., i] * w[j] - v[..., j] * w[i]  # noqa: E731
    for k, n in _TURNING:
        o = k + n - 3
        for i, j, m in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            out[o + i] = minor(o + j, o + m)
            if n == 6:
                out[k + i] = minor(o + j, k + m) + minor(k + j, o + m)
    return _dense(out, v[..., 0], NV_S)


def jacobian_rate(q_s, v_s):
    """Rate of J_A (..., NU, NV_S) along v_s: a_m = J_A a_s + rate v_s."""
    q_s, v_s = _both(q_s, v_s)
    s, f, N, bits = _calmly(_follow, q_s)
    J, columns = _motor_rows(N, s[0]), []
    for j in range(NV_S):
        e = [float(i == j) for i in range(NV_S)]
        unit = _array(e, v_s)
        mixed = 0.25 * (_drift(s, f, N, v_s + unit) - _drift(s, f, N, v_s - unit))
        columns.append(mixed + 0.5 * _times(J, _bracket(v_s, e)))
    return _masked(_stack(columns, -1), bits, 2)


def to_joints(q_s, tau_m):
    """Torques of the joints J_A.T tau_m (..., NV_S)."""
    q_s, tau_m = _both(q_s, tau_m)
    return _times(_transposed(jacobian(q_s)), tau_m)


def _torques(J, tau_s):
    """Torques of the motors, guards."""
    like, found = J[..., 0, 0], [0.0] * NU
    bits = xp.where(_full(0.0, like) > 1.0, 1, 0)
    for motors, joints, reference in _GROUPS:
        tau = _dense([tau_s[..., j] for j in joints], like, len(joints))
        made = 0.0 * tau
        if motors:
            own = _dense([J[..., i, j] for i in motors for j in joints], like, len(motors), len(joints))
            back = _transposed(own)
            wide, narrow = len(motors) > len(joints), len(motors) < len(joints)
            A = back @ own if wide else own @ back if narrow else back
            flat = ~(xp.abs(_determinant(A) / reference) > _FLAT)
            eye = _array([[float(i == j) for j in range(A.shape[-1])] for i in range(A.shape[-1])], A)
            A = xp.where(flat[..., None, None], eye, A)
            x = _solve(A, (_times(own, tau) if narrow else tau)[..., None])[..., 0]
            x = _times(own, x) if wide else x
            for i, one in zip(motors, _columns(x)):
                found[i] = one
            made = _times(back, x)
            bits = bits | xp.where(flat, SINGULAR, 0)
        closed = max(_CLOSED, 1e3 * float(_epsilon(like)))
        missed = (xp.abs(made - tau) > closed * (xp.abs(tau).sum(-1))[..., None]).any(-1)
        bits = bits | xp.where(missed, UNREACHED, 0)
    return _dense(found, like, NU), bits


def to_motors(q_s, tau_s):
    """Torques of the motors (..., NU), of least norm, that make tau_s; NaN where none do."""
    q_s, tau_s = _both(q_s, tau_s)
    found, bits = _torques(jacobian(q_s), tau_s)
    return _masked(found, bits, 1)


def limited(q_s, tau_s):
    """What the motors make of tau_s (..., NV_S) within their limits."""
    q_s, tau_s = _both(q_s, tau_s)
    J = jacobian(q_s)
    found, bits = _torques(J, tau_s)
    lower, upper = _array(_LOWER, found), _array(_UPPER, found)
    found = xp.minimum(xp.maximum(found, lower), upper)
    return _masked(_times(_transposed(J), found), bits & SINGULAR, 1)


def complete(q_s, v_s):
    """State of the closed robot: q (..., NQ), v (..., NV)."""
    q_s, v_s = _both(q_s, v_s)
    s, f, N, bits = _calmly(_follow, q_s)
    q = [s[int(x)] if kind == "s" else f[int(x)] if kind == "f" else x for kind, x in _Q_FROM]
    v = _whole_rates(N, v_s)
    return _masked(_dense(q, s[0], NQ), bits, 1), _masked(_dense(v, s[0], NV), bits, 1)
'''
