"""One thing under several spellings: what is the same, and what must stay apart."""

import pytest

from energydb.names import alike, gpu_name, model_identity, precision_name
from energydb.store.facts import VENDOR_FACTS


@pytest.mark.parametrize(
    ("name", "spellings"),
    [
        ("H100", ["H100", "h100", "nvidia h100", "NVIDIA H100 80GB HBM3", "h100-sxm", "H100 SXM5", "H100_SXM5_80GB"]),
        (
            "H100",
            ["NVIDIA-H100-80GB-HBM3", "NVIDIA H100 Tensor Core GPU", " h100\u200b ", "H100\u00a0SXM", "H100SXM5"],
        ),
        ("H100 PCIe", ["NVIDIA H100 PCIe", "h100-pcie", "H100 80GB PCIe"]),
        ("H100 NVL", ["NVIDIA H100 NVL", "h100_nvl"]),
        ("H200", ["NVIDIA H200", "h200-sxm", "H200 141GB"]),
        ("GH200", ["NVIDIA GH200 480GB", "gh200"]),
        ("B200", ["NVIDIA B200", "b200", "HGX B200"]),
        ("GB200", ["NVIDIA GB200", "gb200"]),
        ("B300", ["NVIDIA B300 SXM6 AC", "b300"]),
        ("GB300", ["NVIDIA GB300"]),
        ("H20", ["NVIDIA H20"]),
        ("A100 SXM 80GB", ["NVIDIA A100-SXM4-80GB", "A100-SXM-80GB", "a100 80gb sxm4"]),
        ("A100 SXM 40GB", ["NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"]),
        ("A100 PCIe 80GB", ["NVIDIA A100 80GB PCIe", "A100-PCIE-80GB"]),
        ("A100 PCIe 40GB", ["NVIDIA A100-PCIE-40GB"]),
        ("A100", ["NVIDIA A100", "a100"]),
        ("T4", ["Tesla T4", "NVIDIA Tesla T4", "nvidia t4"]),
        ("V100 SXM2 16GB", ["Tesla V100-SXM2-16GB"]),
        ("L40S", ["NVIDIA L40S", "l40s"]),
        ("L4", ["NVIDIA L4"]),
        ("A10", ["NVIDIA A10"]),
        ("A10G", ["NVIDIA A10G"]),
        ("RTX 4090", ["NVIDIA GeForce RTX 4090", "rtx4090", "GeForce RTX 4090"]),
        ("RTX 4090 Laptop", ["NVIDIA GeForce RTX 4090 Laptop GPU"]),
        ("RTX 5090", ["NVIDIA GeForce RTX 5090", "rtx-5090"]),
        ("RTX PRO 6000 Server", ["NVIDIA RTX PRO 6000 Blackwell Server Edition"]),
        ("RTX PRO 6000 Max-Q", ["NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"]),
        ("MI250X", ["AMD Instinct MI250X", "mi250x"]),
        ("MI300X", ["AMD Instinct MI300X", "AMD_Instinct_MI300X_OAM", "AMD Instinct\u2122 MI300X", "mi300x"]),
        ("MI325X", ["AMD Instinct MI325X"]),
        ("MI355X", ["AMD Instinct MI355X", "MI355X OAM"]),
        ("Gaudi 2", ["Intel Gaudi 2", "gaudi2", "HL-225"]),
        ("Gaudi 3", ["Intel(R) Gaudi(R) 3", "gaudi-3", "HL-325L", "Intel\u00ae Gaudi\u00ae 3 AI accelerator"]),
    ],
)
def test_a_gpu_has_one_name(name, spellings):
    """As drivers, vendors and clouds write it."""
    assert {spelling: gpu_name(spelling) for spelling in spellings} == dict.fromkeys(spellings, name)
    assert gpu_name(name) == name


def test_no_gpu_is_guessed():
    """What isn't in the table stays as published, but for what can't be seen."""
    for published in ("NVIDIA H100 64GB", "H100 MIG 1g.10gb", "TPU v5e", "AMD Instinct MI250X/MI250", "AMD H100"):
        assert gpu_name(published) == published
    assert gpu_name("\ufeffTPU \t v5e\u200b ") == "TPU v5e"
    assert gpu_name("Cafe\u0301 1") == "Caf\u00e9 1"


def test_what_vendors_state_is_found_by_name():
    """Facts are kept under the one name that a GPU has."""
    assert [gpu_name(name) for name in VENDOR_FACTS] == list(VENDOR_FACTS)


@pytest.mark.parametrize(
    ("name", "spellings"),
    [
        ("BF16", ["BF16", "bf16", "bfloat16", "torch.bfloat16", "BFloat16 ", "bf-16"]),
        ("FP16", ["fp16", "float16", "half", "torch.float16", "torch.half", "FP 16"]),
        ("FP32", ["fp32", "float32", "torch.float32"]),
        ("FP8", ["fp8", "FP8", "float8", "fp_8", "fp8\u200b"]),
        ("FP8-E4M3", ["fp8-e4m3", "FP8_E4M3", "torch.float8_e4m3fn"]),
        ("FP8-E5M2", ["fp8_e5m2", "torch.float8_e5m2"]),
        ("MXFP4", ["mxfp4", "MXFP4", "mx-fp4"]),
        ("MXFP6", ["mxfp6"]),
        ("NVFP4", ["nvfp4", "NVFP4"]),
        ("FP4", ["fp4", "float4"]),
        ("INT4", ["int4", "INT-4"]),
        ("INT8", ["int8", "torch.int8"]),
        ("W4A16", ["w4a16"]),
        ("Q4_K_M", ["q4_k_m", " Q4_K_M "]),
        ("AWQ INT4", ["awq  int4"]),
    ],
)
def test_a_precision_has_one_name(name, spellings):
    """As frameworks and publishers write it; one that isn't known in capitals."""
    assert {spelling: precision_name(spelling) for spelling in spellings} == dict.fromkeys(spellings, name)
    assert precision_name(name) == name


def test_names_that_people_type():
    assert alike("Llama_3.1.8B") == alike("llama 3-1  8b") == "llama-3-1-8b"
    assert alike("meta-llama/Llama-3.1-8B") == "meta-llama/llama-3-1-8b"
    assert alike(" LM\u200b arena.chat_") == "lm-arena-chat"
    assert alike("cafe\u0301") == alike("CAF\u00c9") == "caf\u00e9"


def test_a_model_is_its_id():
    """Of an id only case, blanks around it, zero-width characters and Unicode form count for nothing."""
    assert model_identity("\ufeffQwen/Qwen3-14B ") == model_identity("qwen/qwen3-14b") == "qwen/qwen3-14b"
    assert model_identity("org/a-b") != model_identity("org/a.b")
