"""JAX's convolutions on CUDA devices. XLA gives them to cuDNN, which there is not: here they become products of matrices.

One product for each place of the filter, or for each place of the result where those are fewer, as in the gradient of a filter.
"""
import functools
import itertools
import math

_MOST_UNROLLED = 64


def _convolution(lax, numpy, lhs, rhs, *, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count, batch_group_count,
                 precision, preferred_element_type, **_):
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    lhs, rhs = lax.transpose(lhs, lhs_spec), lax.transpose(rhs, rhs_spec)  # batch, channels, places; results, channels, places
    kind = preferred_element_type or lhs.dtype
    # Halves are summed up as floats.
    sums = numpy.float32 if numpy.issubdtype(kind, numpy.floating) and numpy.finfo(kind).bits < 32 else kind
    lhs = lax.pad(lhs, numpy.zeros((), lhs.dtype), [(0, 0, 0)] * 2 + [(low, high, apart - 1) for (low, high), apart in zip(padding, lhs_dilation)])
    batch, channels, *places = lhs.shape
    results, depth, *window = rhs.shape
    out = [max(0, (size - (k - 1) * apart - 1) // step + 1) if k else 0 for size, k, apart, step in zip(places, window, rhs_dilation, window_strides)]
    groups = feature_group_count * batch_group_count
    if feature_group_count > 1:
        lhs = lhs.reshape(batch, groups, depth, *places).swapaxes(0, 1)
    else:
        lhs = lhs.reshape(groups, batch // groups, channels, *places)
        batch //= groups
    rhs = rhs.reshape(groups, results // groups, depth, *window)
    count = len(window)

    def patch(first, size, step):
        """Of every `step`th place of the input, `size` from the first on."""
        whole = lax.dynamic_slice(lhs, [0, 0, 0, *first], [*lhs.shape[:3], *((n - 1) * by + 1 for n, by in zip(size, step))])
        return lax.slice(whole, [0] * whole.ndim, whole.shape, [1, 1, 1, *step])

    def product(a, b, contracted):
        # XLA's fusions of products do not get through slices with steps: it ends the program.
        a, b = lax.optimization_barrier((a, b))
        return lax.dot_general(a, b, ((contracted, contracted), ((0,), (0,))), precision=precision, preferred_element_type=sums)

    def of_filter(at):
        first = [k * apart for k, apart in zip(at, rhs_dilation)]
        weights = lax.dynamic_slice(rhs, [0, 0, 0, *at], [*rhs.shape[:3], *[1] * count]).reshape(rhs.shape[:3])
        return product(patch(first, out, window_strides), weights, (2,))  # group, batch, places, results

    def of_result(at):
        return product(patch([o * step for o, step in zip(at, window_strides)], window, rhs_dilation), rhs, tuple(range(2, 3 + count)))

    def unravelled(number, shape):
        at = []
        for size in reversed(shape):
            at.insert(0, number % size)
            number = number // size
        return at

    shape = (groups, batch, *out, results // groups)
    if math.prod(shape) == 0 or math.prod(rhs.shape) == 0:
        made = numpy.zeros(shape, sums)
    elif math.prod(window) <= math.prod(out):
        if math.prod(window) <= _MOST_UNROLLED:
            made = functools.reduce(lambda a, b: a + b, (of_filter(at) for at in itertools.product(*map(range, window))))
        else:
            made = lax.fori_loop(0, math.prod(window), lambda k, sum: sum + of_filter(unravelled(k, window)), numpy.zeros(shape, sums))
    else:
        if math.prod(out) <= _MOST_UNROLLED:
            made = numpy.stack([of_result(at) for at in itertools.product(*map(range, out))], 2)
        else:
            made = numpy.moveaxis(lax.map(lambda o: of_result(unravelled(o, out)), numpy.arange(math.prod(out))), 0, 2)
        made = made.reshape(shape)
    # batch, group and result, places
    made = numpy.moveaxis(made, (1, 0, 2 + count), (0, 1, 2)).reshape(batch, results, *out).astype(kind)
    back = [0] * made.ndim
    for at, place in enumerate(out_spec):
        back[place] = at
    return lax.transpose(made, back)


def register(convolution):
    from jax._src.interpreters import mlir

    def made(lhs, rhs, **named):
        from jax import lax
        import jax.numpy
        return _convolution(lax, jax.numpy, lhs, rhs, **named)

    mlir.register_lowering(convolution.conv_general_dilated_p, mlir.lower_fun(made, multiple_results=False), platform="cuda")
