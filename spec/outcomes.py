"""The outcomes that say no more than their name, one object of each: outcomes are values, and the searches, which refuse most of
what they try, are spared making and comparing more.
"""

from spec.operations import Accepted, Reason, Refused

ACCEPTED = Accepted()
REFUSED = {reason.value: Refused(reason) for reason in Reason}
"""Every refusal by its reason's name."""

UNKNOWN_REQUEST = REFUSED[Reason.UNKNOWN_REQUEST]
DUPLICATE_REQUEST = REFUSED[Reason.DUPLICATE_REQUEST]
BAD_ARGUMENT = REFUSED[Reason.BAD_ARGUMENT]
ROWS_RELEASED = REFUSED[Reason.ROWS_RELEASED]
OUT_OF_PAGES = REFUSED[Reason.OUT_OF_PAGES]
