"""The methods that tell template from content."""

from chaffinch.methods.decision import decide, read_by
from chaffinch.methods.favor import DEFAULT_FAVOR, FAVORS, Favor, read_favor, threshold_of
from chaffinch.methods.fold import Fold, learn_template
from chaffinch.methods.protocol import DEFAULT_THRESHOLD, AnyMethod, Method
from chaffinch.methods.table import DEFAULT_METHOD, METHODS, keeping_comments, learned_by, make_method, options_of

__all__ = [
    "DEFAULT_FAVOR",
    "DEFAULT_METHOD",
    "DEFAULT_THRESHOLD",
    "FAVORS",
    "METHODS",
    "AnyMethod",
    "Favor",
    "Fold",
    "Method",
    "decide",
    "keeping_comments",
    "learn_template",
    "learned_by",
    "make_method",
    "options_of",
    "read_by",
    "read_favor",
    "threshold_of",
]
