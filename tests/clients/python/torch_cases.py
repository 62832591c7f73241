"""PyTorch and Triton: the wheel's own operators (machine code only, so they go to the CPU's), kernels that come as PTX, and the libraries."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from cases import case, finish

GPU = torch.device("cuda")


def same(a, b, by=1e-4):
    torch.testing.assert_close(a.cpu(), b, rtol=by, atol=by, check_device=False)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    v = tl.load(x + row * columns + at, mask=inside, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * columns + at, e / tl.sum(e, 0), mask=inside)


@triton.jit
def product_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    sum = tl.zeros((BM, BN), dtype=tl.float32)
    for begin in range(0, K, BK):
        sum = tl.dot(tl.load(a + m[:, None] * K + (begin + k)[None, :]), tl.load(b + (begin + k)[:, None] * N + n[None, :]), sum)
    tl.store(c + m[:, None] * N + n[None, :], sum.to(tl.float16))


@triton.jit
def norm_kernel(x, w, out, columns, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    inside = at < columns
    v = tl.load(x + row * columns + at, mask=inside, other=0.0)
    mean = tl.sum(v, 0) / columns
    d = tl.where(inside, v - mean, 0.0)
    tl.store(out + row * columns + at, d * tl.rsqrt(tl.sum(d * d, 0) / columns + 1e-5) * tl.load(w + at, mask=inside), mask=inside)


@case
def devices():
    assert torch.cuda.is_available() and torch.cuda.device_count() >= 1 and torch.cuda.get_device_name()


@case
def copies():
    a = torch.arange(1000).reshape(10, 100)
    same(a.cuda().t().contiguous(), a.t())
    same(a.cuda().half(), a.half())


@case
def operators():
    torch.manual_seed(1)
    a, b = torch.randn(30, 40), torch.randn(30, 40)
    x, y = a.cuda(), b.cuda()
    same(x * y + x.sin().abs().sqrt(), a * b + a.sin().abs().sqrt())
    same(torch.cat([x, y]).sum(0), torch.cat([a, b]).sum(0))
    same(x[x > 0], a[a > 0])
    same(x.sort(dim=1).values, a.sort(dim=1).values)
    same(torch.where(x > y, x, y).argmax(1), torch.where(a > b, a, b).argmax(1))
    out = torch.empty(0, device=GPU)
    torch.add(x, y, out=out)
    same(out, a + b)
    x.clamp_(-1, 1).mul_(2)
    same(x, a.clamp(-1, 1) * 2)


@case
def products_and_decompositions():
    a, b = torch.randn(30, 40), torch.randn(40, 20)
    same(a.cuda() @ b.cuda(), a @ b)
    same(torch.linalg.svdvals(a.cuda()), torch.linalg.svdvals(a))
    same(torch.fft.fft(a.cuda()), torch.fft.fft(a))


@case
def random_numbers():
    torch.cuda.manual_seed(5)
    a, b = torch.rand(1000, device=GPU), torch.rand(1000, device=GPU)
    torch.cuda.manual_seed(5)
    assert torch.equal(a, torch.rand(1000, device=GPU)) and not torch.equal(a, b)
    assert abs(torch.randn(10000, device=GPU).std().item() - 1) < 0.05


@case
def autograd():
    a = torch.randn(5, 5)
    x, y = a.cuda().requires_grad_(), a.clone().requires_grad_()
    (x.exp() @ x).sum().backward()
    (y.exp() @ y).sum().backward()
    same(x.grad, y.grad)


def train(device, optimizer):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(4 * 49, 10)).to(device)
    data, labels = torch.rand(16, 1, 16, 16).to(device), torch.randint(0, 10, (16,)).to(device)
    steps = optimizer(model.parameters())
    losses = []
    for _ in range(5):
        steps.zero_grad()
        loss = F.cross_entropy(model(data), labels)
        loss.backward()
        steps.step()
        losses.append(loss.detach())
    return torch.stack(losses)


@case
def training():
    for optimizer in (lambda p: torch.optim.SGD(p, 0.1, momentum=0.9), lambda p: torch.optim.Adam(p, 1e-2), lambda p: torch.optim.AdamW(p, 1e-2, foreach=True), lambda p: torch.optim.AdamW(p, 1e-2, fused=True)):
        same(train(GPU, optimizer), train("cpu", optimizer), 1e-3)


@case
def attention_and_layers():
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 4, 8, 16)
    same(F.scaled_dot_product_attention(q.cuda(), k.cuda(), v.cuda(), is_causal=True), F.scaled_dot_product_attention(q, k, v, is_causal=True))
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
    x = torch.randn(2, 5, 16)
    with torch.no_grad():
        want = layer(x)
        same(layer.cuda()(x.cuda()), want)


@case
def recurrent_layers():
    for kind in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
        for bias in (True, False):
            layer, x = kind(8, 16, bias=bias, batch_first=True), torch.randn(2, 5, 8)
            want = layer(x)[0]
            want.square().sum().backward()
            grads = [p.grad.clone() for p in layer.parameters()]
            layer.zero_grad()
            layer.cuda()
            have = layer(x.cuda())[0]
            same(have.detach(), want.detach())
            have.square().sum().backward()
            for p, grad in zip(layer.parameters(), grads):
                same(p.grad, grad, 1e-3)


@case
def streams_and_events():
    stream, begin, end = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        begin.record()
        a = torch.ones(100, device=GPU) * 2
        end.record()
    stream.synchronize()
    assert begin.elapsed_time(end) >= 0
    same(a, torch.full((100,), 2.0))


@case
def triton_vector_sum():
    x, y = torch.rand(1000), torch.rand(1000)
    out = torch.empty(1000, device=GPU)
    add_kernel[(8,)](x.cuda(), y.cuda(), out, 1000, 128)
    same(out, x + y)


@case
def triton_softmax():
    x = torch.randn(50, 100)
    out = torch.empty(50, 100, device=GPU)
    softmax_kernel[(50,)](x.cuda(), out, 100, 128)
    same(out, x.softmax(1))


@case
def triton_layer_norm():
    x, w = torch.randn(20, 100), torch.randn(100)
    out = torch.empty(20, 100, device=GPU)
    norm_kernel[(20,)](x.cuda(), w.cuda(), out, 100, 128)
    same(out, F.layer_norm(x, (100,), w))


@case
def triton_product():
    a, b = torch.randn(128, 64).half(), torch.randn(64, 128).half()
    c = torch.empty(128, 128, dtype=torch.float16, device=GPU)
    product_kernel[(2, 2)](a.cuda(), b.cuda(), c, 128, 128, 64, 64, 64, 32)
    same(c, (a.float() @ b.float()).half(), 2e-2)


@case
def operators_that_only_gpus_have():
    layer = torch.nn.RMSNorm(48)
    x = torch.randn(3, 5, 48)
    want = layer(x).tanh().sum()
    want.backward()
    grad = layer.weight.grad.clone()
    layer.zero_grad()
    layer.cuda()
    have = layer(x.cuda()).tanh().sum()
    have.backward()
    same(have.detach(), want.detach(), 1e-3)
    same(layer.weight.grad, grad, 1e-3)
    a, b = torch.randn(2, 16, 16).bfloat16()
    same(torch.mm(a.cuda(), b.cuda(), out_dtype=torch.float32), a.float() @ b.float(), 1e-3)
    logs, target = torch.randn(20, 2, 5).log_softmax(2), torch.randint(1, 5, (2, 6))
    lengths = torch.tensor([20, 20]), torch.tensor([6, 4])
    same(F.ctc_loss(logs.cuda(), target.cuda(), *lengths), F.ctc_loss(logs, target, *lengths), 1e-3)


@case
def numbers_as_operands():
    for values in (torch.arange(-6, 6, dtype=torch.int8), torch.linspace(-3, 3, 12), torch.linspace(-3, 3, 12).double()):
        for f in (lambda x: x % 5, lambda x: x * 0.1, lambda x: x + 1, lambda x: 2 - x, lambda x: x > 0.1):
            want, have = f(values), f(values.cuda())
            assert have.dtype == want.dtype
            same(have, want, 0)
    for narrow in (torch.float16, torch.bfloat16):  # in steps of the type itself some were off by one
        same(torch.arange(1, 1024, 2, dtype=narrow, device=GPU), torch.arange(1, 1024, 2).to(narrow), 0)
    bits = torch.arange(12)
    same(bits.cuda() & 3, bits & 3)
    same(torch.bitwise_and(bits.cuda(), 6), bits & 6)


@case
def devices_are_not_mixed():
    x, y = torch.ones(3, device=GPU), torch.ones(3)
    for wrong in (lambda: x + y, lambda: y.add_(x), lambda: torch.cat([x, y]), lambda: F.linear(x, torch.ones(2, 3)), lambda: y[torch.tensor([0], device=GPU)],
                  lambda: F.embedding(torch.tensor([0]), torch.ones(3, 2, device=GPU))):
        try:
            wrong()
        except RuntimeError as said:
            assert "same device" in str(said), said
        else:
            raise AssertionError("tensors of two devices were taken")
    same(x * torch.tensor(2.0), y * 2)
    same(x[torch.tensor([0, 2])], y[:2])
    x[torch.tensor([1])] = torch.tensor(5.0)
    same(x, torch.tensor([1.0, 5.0, 1.0]))


@case
def graphs_hold_operators():
    x, out = torch.zeros(10, device=GPU), torch.zeros(10, device=GPU)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2 + 1
        torch.add(y, x, out=out)
        x.add_(1)
        highest, _ = y.max(0)
    same(x, torch.zeros(10))
    for turn in range(3):
        graph.replay()
        same(y, torch.full((10,), 2.0 * turn + 1))
        same(out, torch.full((10,), 3.0 * turn + 1))
        assert highest.item() == 2 * turn + 1
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            x.nonzero()
    except RuntimeError as said:
        assert "aten::nonzero" in str(said), said
    else:
        raise AssertionError("what it gives is not known before")
    same(x, torch.full((10,), 3.0))

    torch.manual_seed(4)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(16, 1)).cuda()
    step = torch.optim.SGD(model.parameters(), 0.05)
    inputs = torch.randn(32, 8, device=GPU)
    aims = inputs.sum(1, keepdim=True)
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        F.mse_loss(model(inputs), aims).backward()
        step.step()
    torch.cuda.current_stream().wait_stream(aside)
    step.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph := torch.cuda.CUDAGraph()):
        loss = F.mse_loss(model(inputs), aims)
        loss.backward()
        step.step()
    losses = []
    for _ in range(20):
        graph.replay()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2, losses

    def f(a, b):
        return (a @ b).relu() + a.sum(1, keepdim=True)

    fast = torch.compile(f, mode="reduce-overhead")
    for _ in range(3):
        a, b = torch.randn(16, 16), torch.randn(16, 16)
        same(fast(a.cuda(), b.cuda()), f(a, b), 1e-3)


@case
def sparse():
    dense = torch.randn(20, 20) * (torch.rand(20, 20) > 0.7)
    s = dense.to_sparse().cuda()
    same(s.to_dense(), dense)
    same(s @ torch.ones(20, 4, device=GPU), dense @ torch.ones(20, 4))
    s.add_(s)
    same(s.to_dense(), dense * 2)
    same(torch.zeros(20, 20, device=GPU).add_(s), dense * 2)
    same(torch.sparse.sum(s, 0).to_dense(), dense.sum(0) * 2)
    rows = dense.cuda().to_sparse_csr()
    same(rows @ torch.eye(20, device=GPU), dense)
    rows.mul_(3)
    same((rows + rows).to_dense(), dense * 6)
    weight = torch.randn(20, 3, device=GPU, requires_grad=True)
    torch.sparse.mm(s, weight).sum().backward()
    same(weight.grad, 2 * dense.T @ torch.ones(20, 3))
    table = torch.nn.Embedding(10, 4, sparse=True).cuda()
    before = table.weight.detach().cpu().clone()
    table(torch.tensor([1, 2, 1], device=GPU)).sum().backward()
    torch.optim.SparseAdam(table.parameters(), 0.5).step()
    changed = (table.weight.detach().cpu() != before).any(1)
    assert changed.tolist() == [False, True, True] + [False] * 7


@case
def states_of_random_numbers():
    from torch.utils.checkpoint import checkpoint
    state = torch.cuda.get_rng_state()
    first, second = torch.rand(5, device=GPU), torch.rand(5, device=GPU)
    torch.cuda.set_rng_state(state)
    same(torch.rand(5, device=GPU), first.cpu(), 0)
    same(torch.rand(5, device=GPU), second.cpu(), 0)
    assert not torch.equal(first, second)
    x = torch.ones(1000, device=GPU, requires_grad=True)
    y = checkpoint(lambda z: F.dropout(z * 2, 0.5), x, use_reentrant=False)
    y.sum().backward()
    same(x.grad, y.detach().cpu())
    singles = torch.stack([torch.rand((), device=GPU) for _ in range(2000)])
    assert abs(singles.mean() - 0.5) < 0.03 and abs(singles.var() - 1 / 12) < 0.01


@case
def profiled():
    from torch.profiler import ProfilerActivity, profile
    x, y, out = torch.rand(1000, device=GPU), torch.rand(1000, device=GPU), torch.empty(1000, device=GPU)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        for _ in range(3):
            add_kernel[(8,)](x, y, out, 1000, 128)
        torch.cuda.synchronize()
    (kernel,) = [event for event in seen.key_averages() if event.key == "add_kernel"]
    assert kernel.count == 3 and kernel.device_time_total > 0, kernel


@case
def compiled():
    @torch.compile
    def f(x, y):
        return torch.relu(x * 2 + y).sum(1)

    x, y = torch.randn(20, 30), torch.randn(20, 30)
    same(f(x.cuda(), y.cuda()), torch.relu(x * 2 + y).sum(1))


finish("PyTorch and Triton", "torch", "triton")
