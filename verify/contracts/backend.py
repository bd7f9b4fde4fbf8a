"""The Hypothesis settings of the contracts' properties: by default its own search, with --backend crosshair a solver's.

The properties alone follow --backend: a solver cannot see into numpy, nor through a random search of thousands of steps.
"""

from hypothesis import HealthCheck, settings

from verify.hypothesis_profile import load_profile

BACKENDS = ("hypothesis", "crosshair")
PROPERTIES = "kvproof-properties"
EXAMPLES = {"hypothesis": 200, "crosshair": 60}
"""By backend; an example of CrossHair's is a path."""


def register_backend(name: str) -> None:
    """Register the settings PROPERTIES: those of every test here, on this backend."""
    load_profile()
    settings.register_profile(
        PROPERTIES,
        parent=settings(),
        backend=name,
        max_examples=EXAMPLES[name],
        # A loaded machine must never decide a verdict; CrossHair is slow and says so.
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
