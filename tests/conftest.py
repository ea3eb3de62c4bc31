"""For all tests: one Hypothesis profile, the same examples on every run, no stopwatch; and Ctrl-C arrives."""

import signal

from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("ci")

# Jobs in the background of a shell ignore SIGINT, and so do their children: tests of Ctrl-C would not end.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
