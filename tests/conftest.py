"""One Hypothesis profile for everybody: the same examples on every run, no stopwatch."""

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
