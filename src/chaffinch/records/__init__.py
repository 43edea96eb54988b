"""Records of result pages: where they stand, what they are made of, and the template that all of a site share."""

from chaffinch.records.mining import mine_records
from chaffinch.records.results import PageRecords, Record, Unit
from chaffinch.records.units import UnitOptions

__all__ = ["PageRecords", "Record", "Unit", "UnitOptions", "mine_records"]
