"""Tells what is one name under several spellings: of models, of GPUs and precisions, and of what people type.

What isn't in a table stays as it was published: no name is guessed. On the ground, since who asks by name is not to
wait for the readers of formats.
"""

import functools
import re
import unicodedata
from collections.abc import Iterator

_NO_WIDTH = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
_ZERO_WIDTH = re.compile(f"[{_NO_WIDTH}]")
VISIBLE = rf"[^\s{_NO_WIDTH}]"  # what a text has that isn't blank
NAMED = rf"[^\s/{_NO_WIDTH}][^/]*$"  # what an id has whose last part, after any slash, isn't blank
_SEPARATORS = re.compile(r"[.\-_\s]+")
_SIGNS = re.compile(r"\((?:r|tm)\)|[®™(),]")  # as vendors put them around names

# By vendor: what may stand before a board's name, then its usual names; the first of them is the one that is kept.
# Boards of one chip with other ratings are others: H100 is the SXM board. Blanks count for nothing.
_BOARDS = (
    (
        ("", "nvidia", "tesla", "nvidia tesla"),
        """
        B300 = B300 SXM, B300 SXM6, B300 SXM6 AC, B300 288GB, HGX B300, Blackwell Ultra B300
        GB300 = GB300 NVL72, Grace Blackwell GB300
        B200 = B200 SXM, B200 SXM6, B200 180GB, B200 SXM 180GB, B200 SXM6 180GB, B200 180GB HBM3e, HGX B200, DGX B200
        B200 = Blackwell B200
        GB200 = GB200 NVL72, Grace Blackwell GB200
        GB10 = DGX Spark
        H200 = H200 SXM, H200 SXM5, H200 141GB, H200 SXM 141GB, H200 SXM5 141GB, H200 141GB HBM3e, HGX H200
        H200 = H200 SXM 141GB HBM3e, H200 SXM5 141GB HBM3e, H200 141GB SXM, Hopper H200
        H200 NVL = H200 NVL 141GB, H200 141GB NVL
        GH200 = GH200 480GB, GH200 96GB, GH200 96GB HBM3, Grace Hopper GH200
        GH200 144GB = GH200 144G HBM3e, GH200 144GB HBM3e
        H100 = H100 SXM, H100 SXM5, H100 80GB, H100 80GB HBM3, H100 SXM 80GB, H100 SXM5 80GB, H100 80GB SXM
        H100 = H100 80GB SXM5, H100 SXM 80GB HBM3, H100 SXM5 80GB HBM3, H100 80GB HBM3 SXM, H100 80GB HBM3 SXM5
        H100 = HGX H100, DGX H100, Hopper H100
        H100 PCIe = H100 PCIe 80GB, H100 80GB PCIe, H100 80GB HBM2e, H100 PCIe 80GB HBM2e
        H100 NVL = H100 NVL 94GB, H100 94GB NVL
        H800 = H800 SXM, H800 SXM5, H800 80GB, H800 80GB HBM3, H800 SXM5 80GB
        H800 PCIe = H800 PCIe 80GB, H800 80GB PCIe
        H20 = H20 96GB, H20 SXM, H20 96GB HBM3
        H20-3e = H20 141GB, H20 141GB HBM3e
        A100 =
        A100 SXM 80GB = A100 SXM4 80GB, A100 80GB SXM, A100 80GB SXM4, A100 SXM4 80GB HBM2e, A100 80GB HBM2e SXM4
        A100 SXM 40GB = A100 SXM4 40GB, A100 40GB SXM, A100 40GB SXM4
        A100 PCIe 80GB = A100 80GB PCIe
        A100 PCIe 40GB = A100 40GB PCIe
        A800 SXM 80GB = A800 SXM4 80GB, A800 80GB SXM, A800 80GB SXM4
        A800 PCIe 80GB = A800 80GB PCIe
        L40S = L40S 48GB, L40S PCIe
        L40 = L40 48GB
        L20 = L20 48GB
        L4 = L4 24GB
        L2 =
        A40 = A40 48GB, A40 PCIe
        A30 = A30 24GB
        A16 =
        A10 = A10 24GB, A10 PCIe, A10 PCIe 24GB
        A10G = A10G 24GB
        A2 =
        T4 = T4 16GB
        T4G =
        V100 =
        V100 SXM2 16GB = V100 16GB SXM2
        V100 SXM2 32GB = V100 32GB SXM2
        V100 SXM3 32GB = V100 32GB SXM3
        V100 PCIe 16GB = V100 16GB PCIe
        V100 PCIe 32GB = V100 32GB PCIe
        V100S PCIe 32GB = V100S, V100S 32GB PCIe
        P100 =
        P100 SXM2 16GB = P100 16GB SXM2
        P100 PCIe 16GB = P100 16GB PCIe
        P40 =
        P4 =
        """,
    ),
    (
        ("", "nvidia", "geforce", "nvidia geforce", "nvidia quadro"),
        """
        RTX 5090 = RTX 5090 32GB
        RTX 5090 D =
        RTX 5090 Laptop =
        RTX 5080 =
        RTX 5070 Ti =
        RTX 4090 = RTX 4090 24GB
        RTX 4090 D =
        RTX 4090 Laptop =
        RTX 4080 =
        RTX 4080 SUPER =
        RTX 4070 =
        RTX 3090 = RTX 3090 24GB
        RTX 3090 Ti =
        RTX 3080 =
        RTX PRO 6000 = RTX PRO 6000 Blackwell, RTX PRO 6000 96GB
        RTX PRO 6000 Server = RTX PRO 6000 Blackwell Server Edition, RTX PRO 6000 Server Edition
        RTX PRO 6000 Workstation = RTX PRO 6000 Blackwell Workstation Edition, RTX PRO 6000 Workstation Edition
        RTX PRO 6000 Max-Q = RTX PRO 6000 Blackwell Max-Q Workstation Edition, RTX PRO 6000 Blackwell Max-Q
        RTX PRO 6000 Max-Q = RTX PRO 6000 Max-Q Workstation Edition
        RTX 6000 Ada = RTX 6000 Ada Generation
        RTX 5000 Ada = RTX 5000 Ada Generation
        RTX A6000 = RTX A6000 48GB
        RTX A5000 =
        """,
    ),
    (
        ("", "amd", "instinct", "amd instinct"),
        """
        MI355X = MI355X OAM, MI355X 288GB
        MI350X = MI350X OAM, MI350X 288GB
        MI325X = MI325X OAM, MI325X 256GB
        MI300X = MI300X OAM, MI300X VF, MI300X 192GB, MI300X OAM 192GB
        MI300A = MI300A APU
        MI308X = MI308X OAM
        MI250X = MI250X OAM, MI250X 128GB
        MI250 = MI250 OAM, MI250 128GB, MI250 MCM OAM AC MBA
        MI210 = MI210 PCIe, MI210 64GB
        MI100 =
        """,
    ),
    (
        ("", "amd", "radeon", "amd radeon"),
        """
        RX 7900 XTX =
        PRO W7900 = PRO W7900 48GB
        AI PRO R9700 =
        """,
    ),
    (
        ("", "intel", "habana", "intel habana", "habana labs"),
        """
        Gaudi 3 = HL-325L, Gaudi 3 OAM, Gaudi 3 HL-325L
        Gaudi 3 PCIe = HL-338, Gaudi 3 HL-338
        Gaudi 2 = HL-225, HL-225H, Gaudi 2 OAM, Gaudi 2 HL-225
        Gaudi = HL-205
        Data Center GPU Max 1550 = GPU Max 1550, Max 1550
        Data Center GPU Max 1100 = GPU Max 1100, Max 1100
        Arc Pro B60 =
        """,
    ),
)
_AFTER = ("", "gpu", "tensor core gpu", "accelerator", "ai accelerator")

_PRECISIONS = """
BF16 = bfloat16, brain float 16
FP16 = float16, half, f16
FP32 = float32, float, f32
FP64 = float64
TF32 = tensor float 32
FP8 = float8
FP8-E4M3 = float8 e4m3, fp8 e4m3fn, float8 e4m3fn, e4m3, e4m3fn
FP8-E5M2 = float8 e5m2, e5m2
FP8-E4M3FNUZ = float8 e4m3fnuz
FP8-E5M2FNUZ = float8 e5m2fnuz
FP6 = float6
FP4 = float4
MXFP8 =
MXFP6 =
MXFP4 =
NVFP4 =
INT8 =
INT4 =
UINT8 =
UINT4 =
W8A8 =
W8A16 =
W4A16 =
W4A8 =
W4A4 =
"""


def model_identity(model_id: str) -> str:
    """Return what two spellings of one Hugging Face id have in common.

    >>> model_identity(" Qwen/Qwen3-14B\u200b ")
    'qwen/qwen3-14b'
    """
    return _visible(model_id).strip().casefold()


def is_blank(text: str) -> bool:
    """Tell a text in which nothing is to be seen."""
    return not _visible(text).strip()


def alike(name: str) -> str:
    """Return what names that people type have in common: case, `.`, `-`, `_` and blanks tell nothing apart.

    >>> alike(" Llama_3.1 8B")
    'llama-3-1-8b'
    """
    return _SEPARATORS.sub("-", _cleaned(name).casefold()).strip("-")


def gpu_name(published: str) -> str:
    """Return the one name of a GPU: by the table of boards, else its published text, cleaned.

    >>> gpu_name("NVIDIA H100 80GB HBM3"), gpu_name("h100-sxm"), gpu_name("NVIDIA  X9000 ")
    ('H100', 'H100', 'NVIDIA X9000')
    """
    return _gpus().get(_bare(published)) or _cleaned(published)


def precision_name(published: str) -> str:
    """Return the one name of a precision: by the table, else its published text, cleaned and in capitals.

    >>> precision_name("torch.bfloat16"), precision_name("float8"), precision_name("fp8_e4m3"), precision_name("q4_k")
    ('BF16', 'FP8', 'FP8-E4M3', 'Q4_K')
    """
    return _precision_names().get(_bare(published).removeprefix("torch")) or _cleaned(published).upper()


def _visible(text: str) -> str:
    """Return a text in one Unicode form, without characters of no width."""
    return unicodedata.normalize("NFC", _ZERO_WIDTH.sub("", text))


def _cleaned(text: str) -> str:
    """Return a text but for what can't be seen in it: Unicode form, zero width, blanks around it, runs of them."""
    return " ".join(_visible(text).split())


def _bare(name: str) -> str:
    """Return a name to look up: neither case, vendors' signs, separators nor blanks."""
    return alike(_SIGNS.sub(" ", _cleaned(name).casefold())).replace("-", "")


def _spellings(table: str) -> Iterator[tuple[str, str]]:
    """Yield each spelling that a table gives, with the name that it stands for."""
    for line in table.strip().splitlines():
        name, _, others = (part.strip() for part in line.partition("="))
        yield from ((spelling, name) for spelling in (name, *filter(None, others.split(", "))))


@functools.cache
def _gpus() -> dict[str, str]:
    """Return the one name of each GPU by its bare spellings; made when first asked for, as few questions need it."""
    return {
        _bare(f"{before} {spelling} {after}"): name
        for prefixes, table in _BOARDS
        for spelling, name in _spellings(table)
        for before in prefixes
        for after in _AFTER
    }


@functools.cache
def _precision_names() -> dict[str, str]:
    """Return the one name of each precision by its bare spellings."""
    return {_bare(spelling): name for spelling, name in _spellings(_PRECISIONS)}
