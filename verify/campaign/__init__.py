"""Campaigns: a long search over targets, scopes and seeds on any executor, kept in one SQLite file that later runs go on with."""
