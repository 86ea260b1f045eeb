"""Embedders and tokenizers."""
