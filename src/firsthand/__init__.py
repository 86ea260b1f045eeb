"""Long-term memory for AI agents: keeps what was actually said, and can prove it."""
