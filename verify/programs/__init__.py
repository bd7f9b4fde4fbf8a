"""Tests of the chip's software: the assembler, the compiler, the decoder on a chip, and the commands that run it."""
