"""What is evaluated: items, systems, labels, and the units that a step works on."""

from sondage.pool.groupings import Bins
from sondage.pool.in_memory import Group, System
from sondage.pool.labels import LabelSpace
from sondage.pool.pool import Pool
from sondage.pool.rows import Rows
from sondage.pool.units import CellUnits, ItemUnits, Units

__all__ = ["Bins", "CellUnits", "Group", "ItemUnits", "LabelSpace", "Pool", "Rows", "System", "Units"]
