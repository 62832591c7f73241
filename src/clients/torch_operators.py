"""PyTorch's operators on CUDA tensors. Its wheels carry their kernels as machine code only, which nothing but a GPU runs.

Device memory is mapped into the process, so each of those operators is computed by PyTorch's own implementation for the CPU, on
tensors that share the device's memory: behind what the current stream has to do, and before what comes next. Kernels that
Triton, torch.compile or an extension makes come as PTX, and run as CUDA does.
"""
import ctypes
import sys
import warnings
import weakref

# These have no kernels: they allocate, make views, copy bytes, or speak of streams.
_LEAVE = {
    "aten::empty.memory_format", "aten::empty_strided", "aten::resize_", "aten::set_", "aten::set_.source_Storage", "aten::set_.source_Storage_storage_offset",
    "aten::set_.source_Tensor", "aten::record_stream", "aten::is_pinned", "aten::_pin_memory", "aten::pin_memory", "aten::_local_scalar_dense", "aten::_efficientzerotensor",
    "aten::is_set_to", "aten::_has_same_storage_numel", "aten::_cudnn_init_dropout_state",
}
# Operators for every kind of device that would choose cuDNN, or call kernels by another way than through operators.
_MORE = ("aten::copy_", "aten::convolution", "aten::convolution_backward")

_told = False


def _tell(name):
    global _told
    if not _told:
        _told = True
        print(f"warpbeam: this PyTorch carries machine code only: its own operators ({name} …) are computed by the CPU, in the device's memory; "
              "kernels of Triton, torch.compile and extensions run as PTX", file=sys.stderr)


class _Twins:
    """Tensors of the CPU that share the memory of CUDA tensors."""

    def __init__(self, torch):
        self.torch = torch
        self.given = {}  # by id: what stands for which tensor of the caller's

    def of(self, tensor):
        torch = self.torch
        storage = tensor.untyped_storage()
        size = storage.nbytes()
        if size:
            memory = torch.frombuffer((ctypes.c_ubyte * size).from_address(storage.data_ptr()), dtype=torch.uint8).untyped_storage()
            twin = torch.empty(0, dtype=tensor.dtype).set_(memory, tensor.storage_offset(), tensor.size(), tensor.stride())
        else:
            twin = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
        if tensor.is_conj():
            twin = torch._conj(twin)
        if tensor.is_neg():
            twin = torch._neg_view(twin)
        self.given[id(twin)] = (twin, tensor)
        return twin


def _generators(torch):
    """A CPU's generator for each of CUDA's, begun anew when that one's seed changes."""
    known = weakref.WeakKeyDictionary()

    def of(device, given):
        index = given.device.index if given is not None else device.index
        torch.cuda.init()
        source = given if given is not None else torch.cuda.default_generators[index if index is not None else torch.cuda.current_device()]
        seed = source.initial_seed()
        entry = known.get(source)
        fresh = source.get_offset() == 0
        if entry is None or entry[0] != seed or (fresh and entry[2]):
            entry = known[source] = [seed, torch.Generator().manual_seed(seed), False]
        entry[2] = True
        source.set_offset(source.get_offset() + 4)  # as CUDA's moves on; a new manual_seed puts it back to 0
        return entry[1]

    return of


def _recurrent_cells(torch):
    """Steps of LSTM and GRU, which the CPU has not as operators: written in others. The workspaces are theirs alone."""

    def summed(first, second, first_bias, second_bias):
        gates = first + second
        return gates if first_bias is None else gates + first_bias + second_bias

    def lstm(input_gates, hidden_gates, cell, input_bias=None, hidden_bias=None):
        i, f, g, o = summed(input_gates, hidden_gates, input_bias, hidden_bias).chunk(4, 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        cell = f * cell + i * g
        return o * cell.tanh(), cell, torch.cat((i, f, g, o), 1)

    def lstm_backward(grad_hidden, grad_cell, cell, new_cell, workspace, has_bias):
        i, f, g, o = workspace.chunk(4, 1)
        bent = new_cell.tanh()
        grad_hidden = torch.zeros_like(bent) if grad_hidden is None else grad_hidden
        grad = grad_hidden * o * (1 - bent * bent)
        grad = grad if grad_cell is None else grad + grad_cell
        gates = torch.cat((grad * g * i * (1 - i), grad * cell * f * (1 - f), grad * i * (1 - g * g), grad_hidden * bent * o * (1 - o)), 1)
        return gates, grad * f, gates.sum(0) if has_bias else None

    def gru(input_gates, hidden_gates, hidden, input_bias=None, hidden_bias=None):
        if input_bias is not None:
            input_gates, hidden_gates = input_gates + input_bias, hidden_gates + hidden_bias
        (ir, iz, i_new), (hr, hz, h_new) = input_gates.chunk(3, 1), hidden_gates.chunk(3, 1)
        r, z = (ir + hr).sigmoid(), (iz + hz).sigmoid()
        n = (i_new + r * h_new).tanh()
        return (hidden - n) * z + n, torch.cat((r, z, n, hidden, h_new), 1)

    def gru_backward(grad, workspace, has_bias):
        r, z, n, hidden, h_new = workspace.chunk(5, 1)
        grad_z, grad_n = grad * (hidden - n) * z * (1 - z), grad * (1 - z) * (1 - n * n)
        grad_r = grad_n * h_new * r * (1 - r)
        of_input, of_hidden = torch.cat((grad_r, grad_z, grad_n), 1), torch.cat((grad_r, grad_z, grad_n * r), 1)
        return of_input, of_hidden, grad * z, of_input.sum(0) if has_bias else None, of_hidden.sum(0) if has_bias else None

    return {"aten::_thnn_fused_lstm_cell": lstm, "aten::_thnn_fused_lstm_cell_backward_impl": lstm_backward, "aten::_thnn_fused_gru_cell": gru,
            "aten::_thnn_fused_gru_cell_backward": gru_backward}


def _written_in_others(torch):
    """Operators that PyTorch has for GPUs only, in terms of others."""

    def wide(tensor):
        return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor

    def rms_norm_backward(grad, x, normalized_shape, rstd, weight, mask):
        across = tuple(range(x.dim() - len(normalized_shape), x.dim()))
        kept = tuple(range(x.dim() - len(normalized_shape)))
        normal = wide(x) * rstd
        bent = wide(grad) if weight is None else wide(grad) * wide(weight)
        of_x = (rstd * (bent - normal * (bent * normal).mean(across, keepdim=True))).to(x.dtype) if mask[0] else None
        of_weight = None
        if mask[1] and weight is not None:
            product = wide(grad) * normal
            of_weight = (product.sum(kept) if kept else product).to(weight.dtype)
        return of_x, of_weight

    def product(op):
        return lambda a, b, dtype: op(a.to(dtype), b.to(dtype))

    def sum_and_product(op):
        return lambda c, a, b, dtype, beta=1, alpha=1: op(c.to(dtype), a.to(dtype), b.to(dtype), beta=beta, alpha=alpha)

    def into(op):
        return lambda *arguments, out, **named: out.copy_(op(*arguments, **named))

    def masked_scale(x, mask, scale):
        return x * mask.to(x.dtype) * scale

    def dropout(x, p, generator=None):
        mask = torch.rand(x.shape, device=x.device, generator=generator) < p
        return masked_scale(x, mask, 1 / p), mask.to(torch.uint8)

    written = _recurrent_cells(torch) | {"aten::_fused_rms_norm_backward": rms_norm_backward, "aten::_masked_scale": masked_scale, "aten::_fused_dropout": dropout}
    for name, op in (("mm", torch.mm), ("bmm", torch.bmm)):
        written[f"aten::{name}.dtype"] = product(op)
    for name, op in (("addmm", torch.addmm), ("baddbmm", torch.baddbmm)):
        written[f"aten::{name}.dtype"] = sum_and_product(op)
    for name in ("mm", "bmm", "addmm", "baddbmm"):
        written[f"aten::{name}.dtype_out"] = into(written[f"aten::{name}.dtype"])
    for name in (f"aten::_use_{library}_ctc_loss{form}" for library in ("cudnn", "miopen") for form in ("", ".Tensor")):
        written[name] = lambda *arguments: False
    return written


def register(torch):
    if not getattr(torch, "version", None) or not torch.version.cuda or not hasattr(torch._C, "_dispatch_get_registrations_for_dispatch_key"):
        return
    generator_of = _generators(torch)
    Tensor = torch.Tensor
    library = torch.library.Library("aten", "IMPL")
    register.keep = library

    def to_cpu(value, twins, outs):
        if isinstance(value, Tensor):
            return twins.of(value) if value.is_cuda else value
        if isinstance(value, (list, tuple)):
            return type(value)(to_cpu(item, twins, outs) for item in value)
        if isinstance(value, torch.device):
            return torch.device("cpu") if value.type == "cuda" else value
        return value

    def to_cuda(value, twins, device):
        if isinstance(value, Tensor):
            known = twins.given.get(id(value))
            if known is not None:
                return known[1]
            if value.device.type != "cpu":
                return value
            result = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=device)
            if value.numel():
                twins.of(result).copy_(value)
            return result
        if isinstance(value, (list, tuple)):
            return type(value)(to_cuda(item, twins, device) for item in value)
        return value

    def first_device(values):
        for value in values:
            if isinstance(value, Tensor) and value.is_cuda:
                return value.device
            if isinstance(value, torch.device) and value.type == "cuda":
                return value
            if isinstance(value, (list, tuple)):
                found = first_device(value)
                if found is not None:
                    return found
        return None

    def no_kernel_for(schema):
        def kernel(*arguments, **named):
            raise NotImplementedError(f"warpbeam: {schema.name} cannot be had: this PyTorch carries it as machine code for NVIDIA's GPUs only, and has none for the CPU")

        return kernel

    def kernel_for(op, schema):
        outs = [argument.name for argument in schema.arguments if argument.is_out]
        tensors = [place for place, argument in enumerate(schema.arguments) if str(argument.type) == "Tensor"]
        packet = op.overloadpacket
        generators = [(place, argument.name) for place, argument in enumerate(schema.arguments) if "Generator" in str(argument.type)]

        def kernel(*arguments, **named):
            _tell(schema.name)
            device = first_device(arguments) or first_device(named.values()) or torch.device("cuda", torch.cuda.current_device())
            stream = torch.cuda.current_stream(device)
            if torch.cuda.is_current_stream_capturing():
                raise RuntimeError(f"warpbeam: {schema.name} is computed by the CPU here, which a CUDA graph cannot hold; capture kernels of Triton or torch.compile, or run it outside of the graph")
            stream.synchronize()
            twins = _Twins(torch)
            wanted = {name: named[name] for name in outs if isinstance(named.get(name), Tensor)}
            plain = {name: (value if name in wanted else to_cpu(value, twins, outs)) for name, value in named.items()}
            for name, out in wanted.items():
                plain[name] = torch.empty(0, dtype=out.dtype)
            values = list(to_cpu(list(arguments), twins, outs))
            for place, name in generators:
                given = named.get(name) if name in named else (arguments[place] if place < len(arguments) else None)
                if given is None or given.device.type == "cuda":
                    if place < len(values):
                        values[place] = generator_of(device, given)
                    else:
                        plain[name] = generator_of(device, given)
            # A number that stands for a tensor comes as itself: another form of the operator takes it so, with its rules for types.
            number = any(place < len(values) and isinstance(values[place], (bool, int, float, complex)) for place in tensors)
            result = (packet if number else op)(*values, **plain)
            for name, out in wanted.items():
                made = plain[name]
                if out.size() != made.size():
                    out.resize_(made.size())
                twins.of(out).copy_(made)
                twins.given[id(made)] = (made, out)
            return to_cuda(result, twins, device)

        return kernel

    def overload(name):
        packet, _, rest = name[len("aten::"):].partition(".")
        return getattr(getattr(torch.ops.aten, packet), rest or "default")

    written = _written_in_others(torch)
    names = set(torch._C._dispatch_get_registrations_for_dispatch_key("CUDA")) | set(_MORE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sorted(names):
            if not name.startswith("aten::") or name in _LEAVE:
                continue
            try:
                op = overload(name)
            except (AttributeError, RuntimeError):
                continue
            schema = op._schema
            # A view has its memory from an argument, and does not write to it.
            if any(result.alias_info is not None and not result.alias_info.is_write for result in schema.returns):
                continue
            if name in written:
                library.impl(name[len("aten::"):], written[name], "CUDA")
                continue
            there = torch._C._dispatch_has_computed_kernel_for_dispatch_key(name, "CPU")
            library.impl(name[len("aten::"):], kernel_for(op, schema) if there else no_kernel_for(schema), "CUDA")
    # Instead of kernels of their own: what is written in operators.
    torch.backends.cudnn.enabled = False
    for choice in ("enable_flash_sdp", "enable_mem_efficient_sdp", "enable_cudnn_sdp"):
        if hasattr(torch.backends.cuda, choice):
            getattr(torch.backends.cuda, choice)(False)
