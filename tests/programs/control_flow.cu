// Control flow that strains reconvergence: goto, nested breaks and continues, short circuits, loops with several exits,
// switches in loops, do-while, ternaries with side effects, early returns from inlined and called functions.
#include <cstdio>
#include <cstdlib>

#define HD __host__ __device__

HD inline int early(int x) {
  if (x % 7 == 0) return 1;
  for (int i = 0; i < x % 5; i++)
    if ((x >> i) & 8) return i + 10;
  return -x;
}

HD inline int collatz(unsigned n) {
  int steps = 0;
  while (n != 1) {
    n = n & 1 ? 3 * n + 1 : n / 2;
    if (++steps > 500) break;
  }
  return steps;
}

HD inline int tangle(int x) {
  int state = 0, i = 0;
start:
  if (++i > 40) goto out;
  switch (state) {
    case 0:
      if (x & 1) {
        state = 2;
        goto start;
      }
      state = 1;
      [[fallthrough]];
    case 1:
      x = x * 3 + 1;
      if (x > 5000) goto out;
      state = x & 2 ? 0 : 3;
      break;
    case 2:
      x -= 7;
      if (x < 0) return x;
      state = 1;
      break;
    default:
      do {
        x >>= 1;
        if (x % 11 == 0) continue;
        if (x % 13 == 0) break;
      } while (x > 100);
      state = x & 1;
  }
  goto start;
out:
  return x + i * 1000;
}

HD inline int loops(int x) {
  int found = -1, visits = 0;
  for (int a = 1; a < 12 && found < 0; a++) {
    for (int b = a; b < 12; b++) {
      visits++;
      if ((a + b) % 4 == x % 4) continue;
      if (a * b > x) {
        found = a * 100 + b;
        break;
      }
      if (a * b == x - 3 || (b > 9 && visits > x)) goto done;
    }
  }
done:
  return found * 1000 + visits;
}

HD inline int shortcut(int x) {
  int calls = 0;
  auto test = [&](int v) {
    calls++;
    return v != 0;
  };
  bool r = (test(x & 1) && test(x & 2)) || (test(x & 4) && !test(x & 8)) || test(x % 3);
  int y = r ? calls++ : (calls += 5);
  return calls * 100 + y * 10 + r;
}

HD inline int deep(int x) {
  int r = 0;
  if (x & 1) {
    if (x & 2) {
      if (x & 4) {
        while (x > 20) {
          x -= 3;
          if (x & 8) {
            if (x % 5 == 0) return r;
            r += x;
          } else {
            for (int k = 0; k < (x & 3); k++) r ^= k << x % 7;
          }
        }
      } else
        r = 3;
    } else
      r = x & 16 ? 4 : x & 32 ? 5 : 6;
    r += 100;
  } else {
    r = x / 2;
    if (r & 1) r = -r;
  }
  return r * 2 + (x & 1);
}

HD inline void all(int x, int* o) {
  o[0] = early(x);
  o[1] = collatz(x + 1);
  o[2] = tangle(x);
  o[3] = loops(x);
  o[4] = shortcut(x);
  o[5] = deep(x);
}

__global__ void k(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) all(i, out + i * 6);
}

int main() {
  const int n = 3000;
  static int out[n * 6];
  int *d, bad = 0, want[6];
  if (cudaMalloc(&d, sizeof out) != cudaSuccess) return 1;
  k<<<(n + 95) / 96, 96>>>(d, n);
  if (cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  for (int i = 0; i < n; i++) {
    all(i, want);
    for (int j = 0; j < 6; j++)
      if (out[i * 6 + j] != want[j] && bad++ < 5)
        printf("  function %d of %d: %d, not %d\n", j, i, out[i * 6 + j], want[j]);
  }
  printf("control_flow: %d wrong, %s\n", bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
