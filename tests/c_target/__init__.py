"""A page table in C behind the target protocol, the healthy one and variants with planted faults, compiled by the tests."""
