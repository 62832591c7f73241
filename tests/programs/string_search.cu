// String work: naive and Horspool pattern search, word count, case conversion, Caesar cipher, edit distance.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__global__ void naive(const char* text, int n, const char* pat, int m, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + m > n) return;
  int j = 0;
  while (j < m && text[i + j] == pat[j]) j++;
  if (j == m) atomicAdd(count, 1);
}

__constant__ int c_skip[256];

__global__ void horspool(const char* text, int n, const char* pat, int m, int chunk, int* count) {
  int start = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
  int end = min(start + chunk + m - 1, n);
  for (int i = start; i + m <= end;) {
    int j = m - 1;
    while (j >= 0 && pat[j] == text[i + j]) j--;
    if (j < 0) {
      atomicAdd(count, 1);
      i++;
    } else {
      i += c_skip[(unsigned char)text[i + m - 1]];
    }
  }
}

__global__ void words(const char* text, int n, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool starts = i < n && text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
  int c = __syncthreads_count(starts);
  if (threadIdx.x == 0) atomicAdd(count, c);
}

__global__ void cipher(char* text, int n, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  char c = text[i];
  switch (c) {
    case ' ':
      break;
    case '?':
    case '!':
      text[i] = '.';
      break;
    default:
      text[i] = 'a' + (c - 'a' + shift + 26) % 26;
  }
}

__global__ void upper(char* text, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && text[i] >= 'a' && text[i] <= 'z') text[i] -= 32;
}

__global__ void levenshtein(const char* words, const int* offset, int count, const char* key, int len, int* out) {
  int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= count) return;
  const char* s = words + offset[w];
  int n = offset[w + 1] - offset[w];
  unsigned char row[33];
  for (int j = 0; j <= len; j++) row[j] = j;
  for (int i = 1; i <= n; i++) {
    unsigned char diag = row[0];
    row[0] = i;
    for (int j = 1; j <= len; j++) {
      unsigned char up = row[j];
      row[j] = min(min(row[j] + 1, row[j - 1] + 1), diag + (s[i - 1] != key[j - 1]));
      diag = up;
    }
  }
  out[w] = row[len];
}

int main() {
  std::string text;
  const char* vocabulary[] = {"abra", "cadabra", "abracadabra", "banana", "band", "a", "cab", "barbar"};
  unsigned s = 5;
  std::vector<int> offsets(1, 0);
  std::string joined;
  for (int i = 0; i < 2000; i++) {
    const char* w = vocabulary[(s = s * 1664525u + 1013904223u) >> 29];
    text += w;
    text += (s >> 20) % 5 == 0 ? "  " : " ";
    joined += w;
    offsets.push_back((int)joined.size());
  }
  const int n = (int)text.size(), grid = (n + 255) / 256;
  char *d_text, *d_pat, *d_words;
  int *d_count, *d_off, *d_dist;
  CHECK(cudaMalloc(&d_text, n));
  CHECK(cudaMalloc(&d_pat, 32));
  CHECK(cudaMalloc(&d_words, joined.size()));
  CHECK(cudaMalloc(&d_count, 4 * sizeof(int)));
  CHECK(cudaMalloc(&d_off, offsets.size() * sizeof(int)));
  CHECK(cudaMalloc(&d_dist, 2000 * sizeof(int)));
  CHECK(cudaMemcpy(d_text, text.data(), n, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_words, joined.data(), joined.size(), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_off, offsets.data(), offsets.size() * sizeof(int), cudaMemcpyHostToDevice));
  int bad = 0;
  for (const char* pat : {"abra", "ana", "a", "barbarbar", "d a"}) {
    int m = (int)strlen(pat), want = 0, got[3] = {};
    for (size_t p = text.find(pat); p != std::string::npos; p = text.find(pat, p + 1)) want++;
    int skip[256];
    for (int& k : skip) k = m;
    for (int j = 0; j < m - 1; j++) skip[(unsigned char)pat[j]] = m - 1 - j;
    CHECK(cudaMemcpyToSymbol(c_skip, skip, sizeof skip));
    CHECK(cudaMemcpy(d_pat, pat, m, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_count, 0, 4 * sizeof(int)));
    naive<<<grid, 256>>>(d_text, n, d_pat, m, d_count);
    horspool<<<(n / 64 + 127) / 128 + 1, 128>>>(d_text, n, d_pat, m, 64, d_count + 1);
    words<<<grid, 256>>>(d_text, n, d_count + 2);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got, d_count, sizeof got, cudaMemcpyDeviceToHost));
    printf("'%s': %d times\n", pat, got[0]);
    bad += got[0] != want || got[1] != want || got[2] != 2000;
  }
  const char* key = "abrakadabra";
  CHECK(cudaMemcpy(d_pat, key, strlen(key), cudaMemcpyHostToDevice));
  levenshtein<<<16, 128>>>(d_words, d_off, 2000, d_pat, (int)strlen(key), d_dist);
  std::vector<int> dist(2000);
  CHECK(cudaMemcpy(dist.data(), d_dist, 2000 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 2000; i++) {
    int len = offsets[i + 1] - offsets[i];
    // Known by hand: abra 7, cadabra 5, abracadabra 1, a 10, others in between.
    if (len == 11) bad += dist[i] != 1;
    if (len == 1) bad += dist[i] != 10;
    bad += dist[i] < 1 || dist[i] > 11;
  }
  std::vector<char> out(n);
  cipher<<<grid, 256>>>(d_text, n, 3);
  CHECK(cudaMemcpy(out.data(), d_text, n, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) bad += out[i] != (text[i] == ' ' ? ' ' : 'a' + (text[i] - 'a' + 3) % 26);
  cipher<<<grid, 256>>>(d_text, n, -3);
  upper<<<grid, 256>>>(d_text, n);
  CHECK(cudaMemcpy(out.data(), d_text, n, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) bad += out[i] != toupper(text[i]);
  printf("string_search: %.20s, %s\n", std::string(out.data(), 20).c_str(), bad ? "FAILED" : "PASSED");
  return bad != 0;
}
