"""What a change does to a stack, in words: two previews in, sentences out.

Both sides are answers of `offline.py` (its JSON), so that one side can come from another checkout of the program.
"""

from doks_gpu.plan.compare.comparison import Comparison, compare
from doks_gpu.plan.compare.words import as_dict, plain

__all__ = ["Comparison", "as_dict", "compare", "plain"]
