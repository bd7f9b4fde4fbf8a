"""Programs of the chip at random: legal by construction, several starts in a run, errors at their ends, on any number of
chips at once; a difference is shrunk to a small program and kept as a witness."""
