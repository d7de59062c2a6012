"""History in, smaller history out: the ways to forget, and `fit`, which guarantees the budget."""

from unremember.compression.clip import CLIP_MARK
from unremember.compression.explain import Explanation, explain
from unremember.compression.fit import fit
from unremember.compression.job import Compress, Job
from unremember.compression.report import KINDS, KindRow, Report, report_on
from unremember.compression.window import NoCompression, sliding_window

__all__ = [
    "CLIP_MARK",
    "KINDS",
    "Compress",
    "Explanation",
    "Job",
    "KindRow",
    "NoCompression",
    "Report",
    "explain",
    "fit",
    "report_on",
    "sliding_window",
]
