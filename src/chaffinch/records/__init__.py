"""Records of result pages: where they stand, what they are made of, and the template that all of a site share."""

from chaffinch.records.applying import Applied, apply_wrapper
from chaffinch.records.drawing import draw
from chaffinch.records.grouping import group_pages
from chaffinch.records.mining import Mined, mine, mine_all, mine_records, results_of
from chaffinch.records.results import PageRecords, Record, Unit
from chaffinch.records.run import RecordsReport, RecordsRun
from chaffinch.records.tables import MinedRecords
from chaffinch.records.units import UnitOptions
from chaffinch.records.wrapper import Wrapper, read_wrappers, write_wrappers

__all__ = [
    "Applied",
    "Mined",
    "MinedRecords",
    "PageRecords",
    "Record",
    "RecordsReport",
    "RecordsRun",
    "Unit",
    "UnitOptions",
    "Wrapper",
    "apply_wrapper",
    "draw",
    "group_pages",
    "mine",
    "mine_all",
    "mine_records",
    "read_wrappers",
    "results_of",
    "write_wrappers",
]
