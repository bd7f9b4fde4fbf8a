"""Conformance: third-party managers set up in environments of their own, held against the oracle, and reported on."""
