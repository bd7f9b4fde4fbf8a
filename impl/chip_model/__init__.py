"""The chip, cycle by cycle, from docs/chip.md: one class a part, which works out a cycle from registers and then passes its edge.
machine.py joins the parts, and hazards.py has the rules of order, one function each."""
