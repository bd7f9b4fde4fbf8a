"""Runs at scale: shards over any executor, verdicts kept for later runs, and a folder that an interrupted run resumes."""
