// Every printf conversion on the device, captured and compared with what the host prints.
#include <cuda_runtime.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

// One list, printed by both sides.
#define PRINT_ALL(P, STR)                                                                                             \
  P("[%d] [%i] [%5d] [%-5d] [%05d] [%+d] [% d]\n", 42, -42, 42, 42, 42, 42, 42);                                      \
  P("[%u] [%o] [%x] [%X] [%#x] [%#o] [%08X]\n", 3000000000u, 64u, 0xbeefu, 0xbeefu, 255u, 8u, 0xabcdeu);              \
  P("[%ld] [%lu] [%lld] [%llu] [%llx]\n", -5L, 5UL, -1234567890123LL, 12345678901234567890ULL, 0x123456789abcdefULL); \
  P("[%hd] [%hi] [%lo] [%lX]\n", (short)-7, (short)300, 511UL, 0xfeedfacecafeUL);                                     \
  P("[%f] [%.2f] [%10.3f] [%-10.3f] [%+.1f] [%010.2f]\n", 3.14159, 2.71828, 1.5, 1.5, 2.25, -1.5);                    \
  P("[%e] [%.3e] [%E] [%g] [%G] [%g] [%.10g]\n", 12345.678, 12345.678, 0.00012, 1e-10, 1e20, 0.5, 1.0 / 3);           \
  P("[%a] [%f] [%f] [%f]\n", 1.0, (double)1.5f, -0.0, 1e15);                                                          \
  P("[%c] [%3c] [%-3c] [%s] [%10s] [%-10s] [%.3s]\n", 'a', 'b', 'c', STR, STR, STR, STR);                             \
  P("[%*d] [%-*d] [%*.2f]\n", 6, 42, 6, 42, 9, 2.71828);                                                              \
  P("[%%] [%d%%] plain\ttab\n", 99);                                                                                  \
  P("[%f] [%f] [%F]\n", 1.0 / 0.0, -1.0 / 0.0, 1.0 / 0.0);                                                            \
  P("%d %d %d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);                                  \
  P("no arguments\n");

__constant__ char c_text[16] = "device";

__global__ void speak() {
  char local[16];
  for (int i = 0; i < 16; i++) local[i] = c_text[i];
  const char* text = local;
  PRINT_ALL(printf, text)
}

__global__ void count_returned(int* out) {
  out[0] = printf("%d\n", threadIdx.x + 1);
  out[1] = printf("nothing\n");
}

static std::string read_back(int fd) {
  std::string text(64 * 1024, '\0');
  ssize_t n = pread(fd, &text[0], text.size(), 0);
  text.resize(n > 0 ? n : 0);
  return text;
}

int main() {
  char name[] = "/tmp/printf_conversions_XXXXXX";
  int file = mkstemp(name);
  if (file < 0) return 2;
  unlink(name);
  fflush(stdout);
  int saved = dup(1);
  dup2(file, 1);
  speak<<<1, 1>>>();
  cudaError_t e = cudaDeviceSynchronize();
  fflush(stdout);
  std::string device = read_back(file);
  if (ftruncate(file, 0) != 0) return 2;
  lseek(file, 0, SEEK_SET);
  const char* text = "device";
  PRINT_ALL(printf, text)
  fflush(stdout);
  std::string host = read_back(file);
  dup2(saved, 1);

  int *d_out, out[2] = {0, 0}, bad = e != cudaSuccess || device.empty();
  cudaMalloc(&d_out, sizeof out);
  count_returned<<<1, 1>>>(d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  bad += out[0] != 1 || out[1] != 0;  // the device's printf returns the number of arguments

  size_t line = 0;
  for (size_t d = 0, h = 0; d < device.size() || h < host.size(); line++) {
    size_t de = device.find('\n', d), he = host.find('\n', h);
    if (de == std::string::npos) de = device.size();
    if (he == std::string::npos) he = host.size();
    std::string from_device = device.substr(d, de - d), from_host = host.substr(h, he - h);
    if (from_device != from_host) {
      printf("line %zu\n  device: %s\n  host:   %s\n", line + 1, from_device.c_str(), from_host.c_str());
      bad++;
    }
    d = std::min(de + 1, device.size());
    h = std::min(he + 1, host.size());
  }
  printf("printf_conversions: %zu lines compared, %s\n", line, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
