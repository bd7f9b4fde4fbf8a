"""Tests of impl/studies, and what holds the documents about them to what the commands print."""
