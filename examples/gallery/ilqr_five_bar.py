# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""iLQR on a closed chain: two motors move a five-bar from pose to pose: out/ilqr_five_bar.png.

A and B of each step, in all coordinates, are `mech.step_derivatives`; the line search is one rollout.
"""

from pathlib import Path

import numpy as np

import sarrus as sr

PICTURE = Path("out/ilqr_five_bar.png")
DT, STEPS, ALPHAS = 0.01, 100, 0.5 ** np.arange(10)
R, W, W_END = 1e-5, 1e-3, 100.0  # weights of inputs, of states on the way and at the end


def solve(mech: sr.Mechanism, q0: np.ndarray, goal: np.ndarray, motors: np.ndarray, rounds: int):
    """The motion as a rollout of one copy, and the cost after each round."""
    nv, nu = mech.nv, mech.nu

    def errors(run: sr.Rollout) -> np.ndarray:
        dq = [mech.difference(np.tile(goal, (len(run), 1)), run.q[:, k]) for k in range(STEPS + 1)]
        return np.concatenate([np.stack(dq, axis=1), run.v], axis=2)

    def costs(run: sr.Rollout) -> np.ndarray:
        x, u = errors(run), run.u[:, :-1]
        way = W * np.sum(x[:, :-1] ** 2, axis=(1, 2)) + R * np.sum(u * u, axis=(1, 2))
        return np.where(run.status == 0, 0.5 * (way + W_END * np.sum(x[:, -1] ** 2, axis=1)), np.inf)

    run, history = sr.rollout(mech, q0, np.zeros(nv), np.zeros((STEPS, nu)), dt=DT, steps=STEPS), []
    for _ in range(rounds):
        q, v, u, x = run.q[0, :-1], run.v[0, :-1], run.u[0, :-1], errors(run)[0]
        history.append(float(costs(run)[0]))
        d = mech.step_derivatives(q, v, u, dt=DT)  # all steps in one call
        Vx, Vxx = W_END * x[-1], W_END * np.eye(2 * nv)
        k, K = np.zeros((STEPS, nu)), np.zeros((STEPS, nu, 2 * nv))
        for i in reversed(range(STEPS)):
            A, B = d.A[i], d.B[i][:, motors]
            Quu, Qux = R * np.eye(len(motors)) + B.T @ Vxx @ B, B.T @ Vxx @ A
            k[i, motors] = -np.linalg.solve(Quu, R * u[i, motors] + B.T @ Vx)
            K[i, motors] = np.linalg.solve(Quu, Qux)
            Vx = W * x[i] + A.T @ Vx + Qux.T @ k[i, motors]
            Vxx = W * np.eye(2 * nv) + A.T @ Vxx @ A - Qux.T @ K[i, motors]
        law = sr.LinearFeedback(K, q, v, u + ALPHAS[:, None, None] * k)  # one copy for each step length
        trials = sr.rollout(mech, q0, np.zeros(nv), dt=DT, steps=STEPS, policy=law)
        best = int(np.argmin(costs(trials)))
        if not costs(trials)[best] < history[-1] * (1.0 - 1e-6):
            break
        run = sr.rollout(mech, q0, np.zeros(nv), trials.u[best, :-1], dt=DT, steps=STEPS)
    return run, history


def main(rounds: int = 60) -> dict[str, float]:
    """Move, and draw the motion and the cost."""
    import matplotlib.pyplot as plt

    mech = sr.library.five_bar()
    motors = np.array([mech.actuators.index(name) for name in ("link1", "link4")])
    q0 = mech.assemble(fixed={"link1": -2.0, "link4": 1.0}).q
    goal = mech.assemble(q0, fixed={"link1": -0.8, "link4": 1.6}).q
    run, history = solve(mech, q0, goal, motors, rounds)
    miss = float(np.abs(mech.difference(run.q[0, -1], goal)).max())
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5))
    for k in range(0, STEPS + 1, 20):
        mech.plot(run.q[0, k], left, color="C0", alpha=0.25 + 0.75 * k / STEPS, masses=False)
    mech.plot(goal, left, color="C3", alpha=0.5, masses=False).set_title("the motion, its goal in red")
    right.semilogy(history, "o-")
    right.set(title="iterative LQR", xlabel="round", ylabel="cost")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=120, bbox_inches="tight")
    print(f"cost {history[0]:.3g} -> {history[-1]:.3g} in {len(history)} rounds; {miss:.1e} rad off the goal")
    return {"first": history[0], "last": history[-1], "miss": miss, "drift": float(run.drift.max())}


if __name__ == "__main__":
    main()
