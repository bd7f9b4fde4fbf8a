"""A suite that looks reasonable, weak rules and all, with the exact rules beside them: what an ablation runs."""
