"""A stand-in for the chip's RTL, which copies words of memory and misbehaves in ways of its own."""
