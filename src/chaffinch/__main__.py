"""`python -m chaffinch` is the command `chaffinch`."""

import sys

from chaffinch.cli import main

if __name__ == "__main__":
    sys.exit(main())
