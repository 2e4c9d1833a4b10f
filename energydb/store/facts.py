"""What is known beside the documents: what vendors state of GPUs, and what boundaries count.

A GPU or boundary not listed here is loaded without these facts.
"""

from typing import NamedTuple


class VendorFacts(NamedTuple):
    """A vendor's figures for one GPU: memory (GB), rated power (W) and where they are stated."""

    memory_gb: float
    rated_watts: float
    facts_source: str


VENDOR_FACTS = {
    "H100": VendorFacts(80.0, 700.0, "NVIDIA H100 Tensor Core GPU data sheet: H100 SXM5, 80 GB HBM3, up to 700 W"),
    "B200": VendorFacts(
        180.0, 1000.0, "NVIDIA HGX B200 and DGX B200 data sheets: 1,440 GB HBM3e over 8 GPUs, 1,000 W a GPU"
    ),
}


class Counted(NamedTuple):
    """What energy within one boundary counts, and a note."""

    gpu: bool
    host: bool
    psu: bool
    idle_reserve: bool
    cooling: bool
    embodied: bool
    note: str


BOUNDARIES = {
    "gpu_only": Counted(
        gpu=True,
        host=False,
        psu=False,
        idle_reserve=False,
        cooling=False,
        embodied=False,
        note="GPUs alone, on a busy server: a floor under what the whole of it takes.",
    )
}
