"""How a kernel reaches an operand."""

SCALAR = "s"  # a NumPy scalar
ROW = "c"  # an array whose value is one for a whole row
UNIT = "u"  # elements side by side
GATHERED = "g"  # anything else: copied block by block to (or from) contiguous scratch
SCRATCH = "w"  # an output that stays in scratch
