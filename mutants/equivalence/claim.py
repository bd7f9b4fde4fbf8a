"""What makes a function comparable with a mutant of its own over all integers.

A claim calls one function with integers in and integers out. Everything that it does must be in what the call gives back:
the value, what it leaves in its receiver, and which error it raises with which text.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """One function as a call in Python over `parameters`, in which `{m}` is its module in one version or the other.

    `given` is what every caller guarantees, or a proof would be none; for the same reason nothing that a caller may choose is
    spelled out in the call. Beside the module a call may use `of`, which makes a receiver, `Has`, which makes an argument of
    which only some attributes are asked for, `Asked`, a sequence that notes where it is asked, `left`, which adds what is left in
    a receiver to what was returned, `state`, all that a receiver holds, and `fields` of a dataclass or of each in a sequence.
    """

    module: str
    function: str
    parameters: str
    call: str
    given: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Where the function is."""
        return f"{self.module}.{self.function}"
