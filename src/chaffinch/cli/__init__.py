"""The command line."""

from chaffinch.cli.main import main

__all__ = ["main"]
