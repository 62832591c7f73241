"""PyTorch's operators on CUDA tensors against the same on the CPU, with PyTorch's own table of operators and its own inputs (as its
`test_ops.py` does): results, and gradients of those that have them.
"""
import itertools

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

TYPES = (torch.float32, torch.int64, torch.complex64, torch.bfloat16, torch.float64, torch.bool)


def cases():
    for op in op_db:
        there = op.supported_dtypes("cpu") & op.supported_dtypes("cuda")
        for dtype in TYPES:
            if dtype in there:
                yield pytest.param(op, dtype, id=f"{op.name}{'_' + op.variant_test_name if op.variant_test_name else ''}-{str(dtype).removeprefix('torch.')}".replace(" ", "_"))


def moved(value, device):
    if isinstance(value, torch.Tensor):
        other = value.detach().clone().to(device)
        return other.requires_grad_(value.requires_grad) if value.requires_grad else other
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(moved(item, device) for item in value)
    if isinstance(value, dict):
        return {name: moved(item, device) for name, item in value.items()}
    if isinstance(value, torch.device) or value == "cpu":
        return torch.device(device)
    return value


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors(item)]
    return []


def run(op, sample, device):
    torch.manual_seed(7)
    first, rest, named = moved(sample.input, device), moved(sample.args, device), moved(sample.kwargs, device)
    result = op(first, *rest, **named)
    results = tensors(result)
    bent = [tensor for tensor in results if tensor.requires_grad]
    leaves = [tensor for tensor in tensors([first, *rest, *named.values()]) if tensor.requires_grad]
    gradients = []
    if bent and leaves:
        total = sum((tensor.abs() if tensor.is_complex() else tensor).double().sum() for tensor in bent)
        gradients = [gradient for gradient in torch.autograd.grad(total, leaves, allow_unused=True) if gradient is not None]
    return result, results + gradients


def same(a, b):
    a, b = a.resolve_conj().resolve_neg(), b.resolve_conj().resolve_neg()
    return a.shape == b.shape and (a.numel() == 0 or torch.equal(torch.nan_to_num(torch.view_as_real(a) if a.is_complex() else a.float()), torch.nan_to_num(torch.view_as_real(b) if b.is_complex() else b.float())))


@pytest.mark.parametrize("op,dtype", cases())
def test_operator(op, dtype):
    bends = dtype in (torch.float32, torch.float64) and op.supports_autograd
    samples = list(itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=bends), 6))
    if not samples:
        pytest.skip("its table has no inputs of this type")
    compared = False
    for sample in samples:
        try:
            _, wanted = run(op, sample, "cpu")
            _, again = run(op, sample, "cpu")
            torch.manual_seed(8)
            other = tensors(op(moved(sample.input, "cpu"), *moved(sample.args, "cpu"), **moved(sample.kwargs, "cpu")))
        except Exception:  # noqa: BLE001
            continue  # not for the CPU to do
        compared = True
        _, got = run(op, sample, "cuda")
        assert len(got) == len(wanted)
        drawn = "empty" in op.name or any(not a.is_sparse and a.layout == torch.strided and not same(a.detach(), b.detach()) for a, b in zip(wanted, other))
        for mine, theirs in zip(got, wanted):
            assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
            if not drawn:
                loose = 2e-2 if dtype == torch.bfloat16 else 1e-4
                torch.testing.assert_close(mine.detach().cpu(), theirs.detach(), rtol=loose, atol=loose, equal_nan=True)
    if not compared:
        pytest.skip("the CPU does not compute it")
