"""Chaffinch."""
