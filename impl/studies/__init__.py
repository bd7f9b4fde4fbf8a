"""Studies of the cache at work: what memory, sharing, windows, pages and admission cost, each on the real implementation."""
