"""Adapters for other people's pipelines; each needs the extra of its name."""
