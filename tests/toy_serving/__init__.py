"""A serving system of one file for the tests of the conformance command: honest, leaky, with faults, and with scripts."""
