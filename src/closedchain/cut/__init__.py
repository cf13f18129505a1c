"""The graph of a mechanism: which joints to cut, the limbs that remain, and their numbering."""
