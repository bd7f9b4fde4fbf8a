"""Production request traces: the check at the cost of what one operation touches, its replay, and short witnesses."""
