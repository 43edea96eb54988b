"""From bytes to `Page`: one flat table of nodes, built once and never changed."""

from chaffinch.page.arrays import BoolArray, FloatArray
from chaffinch.page.blocks import Blocks
from chaffinch.page.build import parse, parse_capture
from chaffinch.page.table import Page
from chaffinch.page.tags import Visibility

__all__ = ["Blocks", "BoolArray", "FloatArray", "Page", "Visibility", "parse", "parse_capture"]
