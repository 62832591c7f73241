"""PyTorch's operators on CUDA tensors. Its wheels carry their kernels as machine code only, which nothing but a GPU runs.

Device memory is mapped into the process, so each of those operators is computed by PyTorch's own implementation for the CPU, on
tensors that share the device's memory: behind what the current stream has to do, and before what comes next. Kernels that
Triton, torch.compile or an extension makes come as PTX, and run as CUDA does.
"""
import atexit
import contextlib
import ctypes
import os
import sys
import warnings
import weakref

# These have no kernels: they allocate, make views, copy bytes, or speak of streams.
_LEAVE = {
    "aten::empty.memory_format", "aten::empty_strided", "aten::resize_", "aten::set_", "aten::set_.source_Storage", "aten::set_.source_Storage_storage_offset",
    "aten::set_.source_Tensor", "aten::record_stream", "aten::is_pinned", "aten::_pin_memory", "aten::pin_memory", "aten::_local_scalar_dense", "aten::_efficientzerotensor",
    "aten::is_set_to", "aten::_has_same_storage_numel", "aten::_cudnn_init_dropout_state",
}
# Sparse tensors are made of dense ones: these put them together and take them apart.
_LEAVE_SPARSE = {
    "aten::" + name for name in (
        "_coalesced_", "_dimI", "_dimV", "_indices", "_nnz", "_sparse_coo_tensor_with_dims", "_sparse_coo_tensor_with_dims_and_tensors", "_values", "allreduce_", "clone",
        "copy_", "copy_sparse_to_sparse_", "dense_dim", "empty.memory_format", "empty_like", "indices", "is_coalesced", "permute", "resize_", "resize_as_sparse_", "sparse_dim",
        "sparse_resize_", "sparse_resize_and_clear_", "unsqueeze", "values", "view_as_complex", "view_as_real", "zero_", "zeros.out", "crow_indices", "col_indices",
        "ccol_indices", "row_indices")
}
_KINDS = {"CUDA": "CPU", "SparseCUDA": "SparseCPU", "SparseCsrCUDA": "SparseCsrCPU"}
# Operators for every kind of device that would choose cuDNN, or call kernels by another way than through operators.
_MORE = ("aten::copy_", "aten::convolution", "aten::convolution_backward")

# These take tensors of the CPU beside CUDA's: indices, lengths, and lists whose tensors need not be together.
_MIXED = ("aten::copy_", "aten::_copy_from", "aten::index.", "aten::index_put", "aten::_index_put_impl", "aten::_unsafe_index", "aten::_pack_padded_sequence",
          "aten::_foreach_", "aten::_fused_", "aten::_amp_", "aten::_ctc_loss", "aten::_use_")

_told = False


def _tell(name):
    global _told
    if not _told:
        _told = True
        print(f"warpbeam: this PyTorch carries machine code only: its own operators ({name} …) are computed by the CPU, in the device's memory; "
              "kernels of Triton, torch.compile and extensions run as PTX", file=sys.stderr)


class _AsALibrary:
    """`warpbeam check` takes what the host does in device memory for a mistake, and what no kernel has written for memory without values, unless it is told that a library
    is at work."""

    def __init__(self):
        driver = ctypes.CDLL("libcuda.so.1")
        self.begins, self.ends, self.writes = (driver["__warpbeam_library_" + what] for what in ("begins", "ends", "writes"))

    def __enter__(self):
        self.begins()

    def __exit__(self, *wrong):
        self.ends()

    def has(self, torch, storage):
        if storage.nbytes():
            with torch.cuda.device(storage.device):
                self.writes(ctypes.c_void_p(storage.data_ptr()), ctypes.c_size_t(storage.nbytes()), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))


_checked = _AsALibrary() if os.environ.get("WARPBEAM_TOOL") == "check" else None
_as_a_library = _checked or contextlib.nullcontext()


class _Twins:
    """Tensors of the CPU that share the memory of CUDA tensors."""

    def __init__(self, torch):
        self.torch = torch
        self.given = {}  # by id: what stands for which tensor of the caller's

    def of(self, tensor):
        torch = self.torch
        if tensor.layout is not torch.strided:
            twin = _put_together(torch, tensor, self.of)
            self.given[id(twin)] = (twin, tensor)
            return twin
        storage = tensor.untyped_storage()
        size = storage.nbytes()
        if _checked:
            _checked.has(torch, storage)
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


def _put_together(torch, sparse, of):
    """A sparse tensor like this one, of what `of` makes of its parts."""
    if sparse.layout is torch.sparse_coo:
        return torch.sparse_coo_tensor(of(sparse._indices()), of(sparse._values()), sparse.size(), is_coalesced=sparse.is_coalesced(), check_invariants=False)
    rows = sparse.layout in (torch.sparse_csr, torch.sparse_bsr)
    pressed, plain = (sparse.crow_indices(), sparse.col_indices()) if rows else (sparse.ccol_indices(), sparse.row_indices())
    return torch.sparse_compressed_tensor(of(pressed), of(plain), of(sparse.values()), sparse.size(), layout=sparse.layout, check_invariants=False)


def _mixed_bits(number):
    """Neighbours become numbers far from each other."""
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9 & 0xffffffffffffffff
    number = (number ^ (number >> 27)) * 0x94d049bb133111eb & 0xffffffffffffffff
    return number ^ (number >> 31)


def _generators(torch):
    """A CPU's generator for a draw of one of CUDA's: what it gives follows from that one's seed and place, which programs keep and put back."""
    drawn_by_graphs = weakref.WeakKeyDictionary()

    def of(device, given):
        index = given.device.index if given is not None else device.index
        torch.cuda.init()
        source = given if given is not None else torch.cuda.default_generators[index if index is not None else torch.cuda.current_device()]
        if torch.cuda.is_current_stream_capturing():  # it does not tell then; each run of the graph draws on
            return drawn_by_graphs.setdefault(source, torch.Generator().manual_seed(torch.initial_seed()))
        place = source.get_offset()
        source.set_offset(place + 4)  # as CUDA's moves on
        seed = source.initial_seed()
        # The first draw is the CPU's of this seed.
        return torch.Generator().manual_seed(seed if place == 0 else _mixed_bits((seed + place * 0x9e3779b97f4a7c15) & 0xffffffffffffffff) >> 1)

    return of


class _Captured:
    """Operators inside of a capture of a CUDA graph: what they give is known by its form alone, and a call of the host's in the graph computes it."""

    def __init__(self, torch):
        self.torch, self.kept, self.driver = torch, [], None

    def forms(self, value):
        """The same without memory; `given` says later which of them were arguments."""
        torch, given = self.torch, {}

        def of(value):
            if isinstance(value, torch.Tensor):
                if value.layout is not torch.strided:
                    raise NotImplementedError("a sparse tensor")
                form = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device="meta")
                given[id(form)] = (form, value)
                return form
            if isinstance(value, (list, tuple)):
                return type(value)(of(item) for item in value)
            if isinstance(value, dict):
                return {name: of(item) for name, item in value.items()}
            return torch.device("meta") if isinstance(value, torch.device) else None if isinstance(value, torch.Generator) else value

        return of(value), given

    def add(self, work):
        """`work` is called whenever the graph is, at this place of the current stream."""
        if self.driver is None:
            self.driver = ctypes.CDLL("libcuda.so.1")
            # The interpreter cannot be called any more once it ends.
            atexit.register(self.torch.cuda.synchronize)

        def called(_):
            with self.torch.no_grad(), _as_a_library:
                work()

        call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(called)
        self.kept.append(call)
        error = self.driver.cuLaunchHostFunc(ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream), call, None)
        if error:
            raise RuntimeError(f"warpbeam: an operator cannot be a part of this CUDA graph: error {error}")


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


def _wide_arange(torch, usual):
    """The CPU's sums up steps in the result's type, which for 16 bits is not what a GPU gives."""

    def arange(start, end, step=1, *, out):
        if out.dtype not in (torch.float16, torch.bfloat16):
            return usual(start, end, step, out=out)
        made = torch.arange(start, end, step, dtype=torch.float32, device=out.device)
        if out.size() != made.size():
            out.resize_(made.size())
        return out.copy_(made)

    return arange


def register(torch):
    if not getattr(torch, "version", None) or not torch.version.cuda or not hasattr(torch._C, "_dispatch_get_registrations_for_dispatch_key"):
        return
    generator_of, captured = _generators(torch), _Captured(torch)
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
            if value.layout is not torch.strided:
                return _put_together(torch, value, lambda part: to_cuda(part, _Twins(torch), device))
            result = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=device)
            if value.numel():
                twins.of(result).copy_(value)
            return result
        if isinstance(value, (list, tuple)):
            return type(value)(to_cuda(item, twins, device) for item in value)
        return value

    def write_back(sparse, twin, device):
        """Its parts may be others now."""
        now = _put_together(torch, twin, lambda part: to_cuda(part, _Twins(torch), device))
        if sparse.layout is torch.sparse_coo:
            torch.ops.aten.copy_sparse_to_sparse_(sparse, now)
        elif sparse.values().data_ptr() != twin.values().data_ptr():
            sparse.copy_(now)

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

    def another_device(values, device):
        """Where a tensor with dimensions lies that is not there."""
        for value in values:
            if isinstance(value, Tensor):
                if value.dim() and value.device != device and value.device.type in ("cuda", "cpu"):
                    return value.device
            elif isinstance(value, (list, tuple)):
                found = another_device(value, device)
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

        written_to = [(place, argument.name) for place, argument in enumerate(schema.arguments) if argument.alias_info is not None and argument.alias_info.is_write]
        mixed = (schema.name + "." + schema.overload_name).startswith(_MIXED)
        indexes = schema.name in ("aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_")

        def call(values, plain):
            # A number that stands for a tensor comes as itself: another form of the operator takes it so, with its rules for types.
            number = any(place < len(values) and isinstance(values[place], (bool, int, float, complex)) for place in tensors)
            return (packet if number else op)(*values, **plain)

        def with_generators(arguments, named, values, plain, device):
            for place, name in generators:
                given = named.get(name) if name in named else (arguments[place] if place < len(arguments) else None)
                if given is None or given.device.type == "cuda":
                    if place < len(values):
                        values[place] = generator_of(device, given)
                    else:
                        plain[name] = generator_of(device, given)

        def capture(arguments, named, wanted, device):
            """The operator as a part of a CUDA graph."""
            refused = RuntimeError(f"warpbeam: {schema.name} is computed by the CPU here, and what it gives is not known before a CUDA graph runs; leave it outside of the graph")
            try:
                (forms, named_forms), given = captured.forms((list(arguments), {name: value for name, value in named.items() if name not in wanted}))
                for name, out in wanted.items():
                    named_forms[name] = torch.empty(0, dtype=out.dtype, device="meta")
                result = call(forms, named_forms)
            except (NotImplementedError, RuntimeError) as wrong:
                raise refused from wrong
            twins = _Twins(torch)
            values, plain = to_cpu(list(arguments), twins, outs), {name: to_cpu(value, twins, outs) for name, value in named.items() if name not in wanted}
            with_generators(arguments, named, values, plain, device)
            for name, out in wanted.items():
                if out.size() != named_forms[name].size():
                    out.resize_(named_forms[name].size())
                given[id(named_forms[name])] = (named_forms[name], out)
                plain[name] = twins.of(out)
            targets = []

            def given_back(form):
                if isinstance(form, Tensor):
                    if id(form) in given:
                        targets.append(None)
                        return given[id(form)][1]
                    made = torch.empty_strided(form.size(), form.stride(), dtype=form.dtype, device=device)
                    targets.append(twins.of(made) if made.numel() else None)
                    return made
                if isinstance(form, (list, tuple)):
                    return type(form)(given_back(item) for item in form)
                if form is not None:
                    raise refused
                targets.append(None)
                return None

            def flat(value):
                return [leaf for item in value for leaf in flat(item)] if isinstance(value, (list, tuple)) else [value]

            answer = given_back(result)

            def work():
                for target, made in zip(targets, flat(call(values, plain))):
                    if target is not None:
                        target.copy_(made)

            captured.add(work)
            # Inductor counts who holds memory of a graph: what stood for it here shall not until a collection comes by.
            given.clear()
            twins.given.clear()
            return answer

        def kernel(*arguments, **named):
            _tell(schema.name)
            device = first_device(arguments) or first_device(named.values()) or torch.device("cuda", torch.cuda.current_device())
            if not mixed:
                other = another_device((arguments, tuple(named.values())), device)
                if other is not None:
                    raise RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, {device} and {other}!")
            elif indexes and not arguments[0].is_cuda:
                raise RuntimeError(f"indices should be either on cpu or on the same device as the indexed tensor ({arguments[0].device})")
            wanted = {name: named[name] for name in outs if isinstance(named.get(name), Tensor) and named[name].layout is torch.strided}
            stream = torch.cuda.current_stream(device)
            if torch.cuda.is_current_stream_capturing():
                return capture(arguments, named, wanted, device)
            stream.synchronize()
            with _as_a_library:
                return compute(arguments, named, wanted, device)

        def compute(arguments, named, wanted, device):
            twins = _Twins(torch)
            plain = {name: (value if name in wanted else to_cpu(value, twins, outs)) for name, value in named.items()}
            for name, out in wanted.items():
                plain[name] = torch.empty(0, dtype=out.dtype)
            values = list(to_cpu(list(arguments), twins, outs))
            with_generators(arguments, named, values, plain, device)
            result = call(values, plain)
            for place, name in written_to:
                given, twin = (arguments[place], values[place]) if place < len(arguments) else (named.get(name), plain.get(name))
                if isinstance(given, Tensor) and given.layout is not torch.strided:
                    write_back(given, twin, device)
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key, cpu in _KINDS.items():
            leave, more = (_LEAVE, _MORE) if key == "CUDA" else (_LEAVE_SPARSE, ())
            for name in sorted({*torch._C._dispatch_get_registrations_for_dispatch_key(key), *more}):
                if not name.startswith("aten::") or name in leave:
                    continue
                try:
                    op = overload(name)
                except (AttributeError, RuntimeError):
                    continue
                schema = op._schema
                # A view has its memory from an argument, and does not write to it.
                if any(result.alias_info is not None and not result.alias_info.is_write for result in schema.returns):
                    continue
                if key == "CUDA" and name in written:
                    library.impl(name[len("aten::"):], written[name], key)
                    continue
                there = torch._C._dispatch_has_computed_kernel_for_dispatch_key(name, cpu)
                kernel = kernel_for(op, schema) if there else no_kernel_for(schema)
                if key == "CUDA" and name == "aten::arange.start_out":
                    kernel = _wide_arange(torch, kernel)
                library.impl(name[len("aten::"):], kernel, key)
    # Programs may put operators of theirs in the place of these, as of the wheel's; until 2.9 torch.library refuses what Python has registered before.
    torch.library._impls.difference_update(library._op_impls)
    # Instead of kernels of their own: what is written in operators.
    torch.backends.cudnn.enabled = False
    for choice in ("enable_flash_sdp", "enable_mem_efficient_sdp", "enable_cudnn_sdp"):
        if hasattr(torch.backends.cuda, choice):
            getattr(torch.backends.cuda, choice)(False)
