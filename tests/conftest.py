"""What all tests share: examples of hypothesis are not timed, since the machine may be busy, and any test may ask for PostgreSQL."""

from hypothesis import settings

pytest_plugins = ("tests.postgres",)

settings.register_profile("forecaster", deadline=None)
settings.load_profile("forecaster")
