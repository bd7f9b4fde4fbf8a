"""Survivors that are no new program: proofs, evidence within scopes, and the checked-in ledger of both."""
