"""Contract suites that every store and every embedder runs, ours and yours."""
