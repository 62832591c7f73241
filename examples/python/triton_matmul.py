"""Triton: a matrix product on tensor cores."""
import torch
import triton
import triton.language as tl


@triton.jit
def multiply(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for begin in range(0, K, BLOCK_K):
        left = tl.load(a + m[:, None] * K + (begin + k)[None, :])
        right = tl.load(b + (begin + k)[:, None] * N + n[None, :])
        sums = tl.dot(left, right, sums)
    tl.store(c + m[:, None] * N + n[None, :], sums.to(tl.float16))


M = N = K = 256
a, b = torch.randn(M, K).half(), torch.randn(K, N).half()
c = torch.empty(M, N, dtype=torch.float16, device="cuda")
multiply[(M // 64, N // 64)](a.cuda(), b.cuda(), c, M, N, K, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32)
print(f"largest difference from the CPU's product: {(c.cpu().float() - a.float() @ b.float()).abs().max().item():.4f}")
