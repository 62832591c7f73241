"""The programs of `bench clients`: `programs.py NAME DEVICE` runs one and prints seconds a turn (the least of several), where it has turns."""
import sys
import time


def least(work, turns):
    work()
    best = float("inf")
    for _ in range(turns):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    print(best)


def product(device):
    """1024³: of halves by Triton, or of floats by a kernel of CUDA C++ that NVRTC compiles."""
    import torch
    size = 1024
    if device == "triton":
        import triton
        import triton.language as tl

        @triton.jit
        def halves(a, b, c, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
            m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
            sum = tl.zeros((BM, BN), dtype=tl.float32)
            for begin in range(0, N, BK):
                sum = tl.dot(tl.load(a + m[:, None] * N + (begin + k)[None, :]), tl.load(b + (begin + k)[:, None] * N + n[None, :]), sum)
            tl.store(c + m[:, None] * N + n[None, :], sum.to(tl.float16))

        a, b, c = (torch.randn(size, size, device="cuda").half() for _ in range(3))

        def work():
            halves[(size // 64, size // 64)](a, b, c, size, 64, 64, 32)
            torch.cuda.synchronize()
    else:
        kernel = torch.cuda._compile_kernel("""
            extern "C" __global__ void floats(const float* a, const float* b, float* c, int n) {
              __shared__ float s[16][16], t[16][16];
              int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
              float sum = 0;
              for (int k = 0; k < n; k += 16) {
                s[y][x] = a[row * n + k + x];
                t[y][x] = b[(k + y) * n + column];
                __syncthreads();
                for (int i = 0; i < 16; ++i) sum += s[y][i] * t[i][x];
                __syncthreads();
              }
              c[row * n + column] = sum;
            }""", "floats")
        a, b, c = (torch.randn(size, size, device="cuda") for _ in range(3))

        def work():
            kernel((size // 16, size // 16, 1), (16, 16, 1), (a, b, c, size))
            torch.cuda.synchronize()
    least(work, 20)


def training(device):
    import torch
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)).to(device)
    step = torch.optim.Adam(model.parameters(), 1e-3)
    x, y = torch.randn(128, 64, device=device), torch.randint(0, 10, (128,), device=device)

    def work():
        step.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        step.step()
        if device == "cuda":
            torch.cuda.synchronize()

    least(work, 30)


def start(device):
    import torch
    x = torch.arange(10.0, device=device)
    assert (x * 2).sum().item() == 90


{"product": product, "training": training, "start": start}[sys.argv[1]](sys.argv[2])
