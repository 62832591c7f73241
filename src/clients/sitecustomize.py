"""What Python reads at its start under `warpbeam run`: some packages are told, when they are imported, what to do without machine code.

A module of this name that comes later in the path is run as well.
"""
import functools
import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _warp_config(module):
    # NVIDIA Warp has a compiler of its own, which makes PTX or machine code.
    if getattr(module, "cuda_output", "ptx") is None:
        module.cuda_output = "ptx"


def _of_ours(name):
    spec = importlib.util.spec_from_file_location(f"_warpbeam_{name}", os.path.join(_HERE, f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _torch(module):
    _of_ours("torch_operators").register(module)


def _jax_convolutions(module):
    _of_ours("jax_convolutions").register(module)


def _before_jax():
    # XLA has NVIDIA's assembler linked into it, unless it is told to call one; and takes most of a GPU's memory at its start.
    flags = os.environ.get("XLA_FLAGS", "")
    if "xla_gpu_enable_libnvptxcompiler" not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} --xla_gpu_enable_libnvptxcompiler=false --xla_gpu_enable_libnvjitlink=false".strip()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def _jax_devices(module):
    # It looks for the files of a kernel driver, and without them does not ask the CUDA driver how many devices there are.
    module.has_visible_nvidia_gpu = lambda: True


def _triton(module):
    # Before 3.5 it knows no toolkit 13, which is what its assembler is said to be from, and refuses to choose a version of PTX. What it
    # loads its compilers as depends on the version as well.
    backend = getattr(module, "backends", {}).get("nvidia")
    names = getattr(getattr(getattr(backend, "compiler", None), "__init__", None), "__globals__", {})
    known = names.get("ptx_get_version")
    if known is None:
        return

    @functools.lru_cache
    def ptx_get_version(cuda_version):
        for version in (cuda_version, "12.8", "12.5"):
            try:
                return known(version)
            except RuntimeError as refused:
                error = refused
        raise error

    names["ptx_get_version"] = ptx_get_version


def _numba(module):
    # It writes lines only if asked to; a report without them names no place.
    jit = module.jit

    @functools.wraps(jit)
    def with_lines(*arguments, **named):
        if "lineinfo" not in named and not named.get("debug") and not module.config.CUDA_DEBUGINFO_DEFAULT:
            named["lineinfo"] = True
        return jit(*arguments, **named)

    module.jit = with_lines


_FIRST = {"jaxlib": _before_jax}
_THEN = {"warp.config": _warp_config, "torch": _torch, "jax._src.hardware_utils": _jax_devices,
         "jax._src.lax.convolution": _jax_convolutions, "triton.backends": _triton}
if os.environ.get("WARPBEAM_TOOL"):  # `warpbeam check` or `warpbeam profile`
    _THEN |= {"numba.cuda.decorators": _numba, "numba_cuda.numba.cuda.decorators": _numba}


class _Loader:
    """Another's loader, with something to do behind it."""

    def __init__(self, loader, then):
        self._loader, self._then = loader, then

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        self._then(module)

    def __getattr__(self, name):
        return getattr(self._loader, name)


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if first := _FIRST.pop(name, None):
            first()
        then = _THEN.get(name)
        if then is None:
            return None
        for finder in sys.meta_path:
            if finder is _Finder or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader, then)
                return spec
        return None


def _run_the_next_of_this_name():
    places = [place for place in sys.path if os.path.abspath(place or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", places)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("WARPBEAM") != "off":
    sys.meta_path.insert(0, _Finder)
_run_the_next_of_this_name()
