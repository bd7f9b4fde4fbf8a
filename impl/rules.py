"""Rules of this implementation alone, beyond what the oracle asks of every one."""

RULES: dict[str, str] = {
    "LIFO": (
        "A fresh pool hands out pages 0, 1, 2, ... and a freed page is reused first; trim and release give pages back from "
        "the front, truncate from the back."
    ),
}
