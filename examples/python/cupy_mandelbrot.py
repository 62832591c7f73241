"""CuPy: a kernel in CUDA C++ and array operations around it."""
import cupy as cp

escape = cp.RawKernel(r"""
extern "C" __global__ void escape(int width, int height, int* steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height) return;
  float x0 = 3.f * (i % width) / width - 2.f, y0 = 2.f * (i / width) / height - 1.f, x = 0, y = 0;
  int n = 0;
  for (; n < 100 && x * x + y * y < 4; ++n) {
    float next = x * x - y * y + x0;
    y = 2 * x * y + y0;
    x = next;
  }
  steps[i] = n;
}""", "escape")

width, height = 78, 24
steps = cp.empty((height, width), cp.int32)
escape(((width * height + 255) // 256,), (256,), (cp.int32(width), cp.int32(height), steps))
shades = cp.clip(cp.log2(steps + 1).astype(cp.int32), 0, 6)
for row in shades.get():
    print("".join(" .:-=+#"[shade] for shade in row))
print(f"{float(steps.mean()):.1f} steps in the mean")
