// Local memory: arrays indexed at run time, structures of arrays, pointers to locals passed to functions, variable
// alignment, char buffers reinterpreted, unions, memcpy between locals, alloca-like large frames, lambdas by reference.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define HD __host__ __device__

struct Stack {
  int items[40];
  int top;
  HD Stack() : top(0) {}
  HD void push(int v) { items[top++] = v; }
  HD int pop() { return items[--top]; }
};

HD inline void swap(int* a, int* b) {
  int t = *a;
  *a = *b;
  *b = t;
}

HD inline unsigned permute(unsigned seed) {
  int p[12];
  for (int i = 0; i < 12; i++) p[i] = i;
  for (int i = 11; i > 0; i--) {
    seed = seed * 1103515245u + 12345u;
    swap(&p[i], &p[seed / 65536 % (i + 1)]);
  }
  unsigned h = 0;
  for (int i = 0; i < 12; i++) h = h * 13 + p[i];
  return h;
}

HD inline int rpn(int x) {  // evaluate a small program on a stack machine
  const char program[] = "x3*x+2x-*5+";
  Stack s;
  for (int i = 0; i < (int)sizeof program - 1; i++) {
    char c = program[i];
    if (c == 'x')
      s.push(x);
    else if (c >= '0' && c <= '9')
      s.push(c - '0');
    else {
      int b = s.pop(), a = s.pop();
      s.push(c == '+' ? a + b : c == '-' ? a - b : a * b);
    }
  }
  return s.pop();
}

HD inline unsigned pun(int x) {
  union {
    float f;
    unsigned u;
    unsigned short h[2];
    unsigned char c[4];
  } v;
  v.f = x * 1.25f;
  unsigned char raw[24] = {};
  double d = x / 3.0;
  memcpy(raw + 1, &d, sizeof d);
  unsigned sum = v.u ^ v.h[1] ^ (v.c[3] << 8);
  for (int i = 0; i < 24; i++) sum = sum * 31 + raw[(i * 7 + x) % 24];
  double back;
  memcpy(&back, raw + 1, sizeof back);
  return back == d ? sum : 0;
}

HD inline int sieve(int x) {
  bool composite[128];
  memset(composite, 0, sizeof composite);
  int count = 0;
  for (int i = 2; i < 100 + x % 28; i++) {
    if (composite[i]) continue;
    count++;
    for (int j = i * i; j < 128; j += i) composite[j] = true;
  }
  return count;
}

struct Grid {
  short cell[6][7];
  double weight[3];
};
HD inline int grids(int x) {
  Grid g[2];
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 7; j++) g[k].cell[i][j] = (short)(x * (i + 1) - j * (k + 3));
  g[0].weight[x % 3] = 1.5;
  g[1] = g[0];
  g[1].cell[x % 6][x % 7] = 1000;
  auto total = [&](const Grid& gr) {
    int s = 0;
    for (auto& row : gr.cell)
      for (short c : row) s += c;
    return s;
  };
  return total(g[0]) * 3 + total(g[1]) + (int)(g[1].weight[x % 3] * 2);
}

HD inline int digits(long long v, char* text) {  // number to text and back
  int n = 0;
  bool negative = v < 0;
  unsigned long long u = negative ? -v : v;
  do text[n++] = '0' + u % 10;
  while (u /= 10);
  if (negative) text[n++] = '-';
  for (int i = 0; i < n / 2; i++) {
    char t = text[i];
    text[i] = text[n - 1 - i];
    text[n - 1 - i] = t;
  }
  text[n] = 0;
  return n;
}

HD inline void all(int x, unsigned* o) {
  char text[24];
  o[0] = permute(x);
  o[1] = rpn(x);
  o[2] = pun(x);
  o[3] = sieve(x);
  o[4] = grids(x);
  int n = digits((long long)x * x * x * (x & 1 ? -1 : 1) * 1000003, text);
  o[5] = n;
  for (int i = 0; i < n; i++) o[5] = o[5] * 17 + text[i];
}

__global__ void k(unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) all(i, out + i * 6);
}

int main() {
  const int n = 500;
  static unsigned out[n * 6];
  unsigned *d, want[6];
  int bad = 0;
  if (cudaMalloc(&d, sizeof out) != cudaSuccess) return 1;
  k<<<(n + 63) / 64, 64>>>(d, n);
  if (cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  for (int i = 0; i < n; i++) {
    all(i, want);
    for (int j = 0; j < 6; j++)
      if (out[i * 6 + j] != want[j] && bad++ < 5)
        printf("  function %d of %d: %u, not %u\n", j, i, out[i * 6 + j], want[j]);
  }
  printf("local_arrays: %d wrong, %s\n", bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
