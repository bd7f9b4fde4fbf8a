"""Proof that the harness itself can fail: broken traces, planted faults, hostile targets, layers, traceability."""
