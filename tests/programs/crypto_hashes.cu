// Integer-heavy work with known answers: CRC-32, MD5, SHA-256, AES-128, Base64, xorshift and big-number factorials.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__device__ uint32_t crc_table[256];

__global__ void build_crc() {
  uint32_t c = threadIdx.x;
  for (int k = 0; k < 8; k++) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
  crc_table[threadIdx.x] = c;
}
__device__ uint32_t crc32(const uint8_t* p, int n) {
  uint32_t c = ~0u;
  for (int i = 0; i < n; i++) c = crc_table[(c ^ p[i]) & 0xff] ^ (c >> 8);
  return ~c;
}

__constant__ uint32_t sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ inline uint32_t ror(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }
__device__ inline uint32_t rol(uint32_t x, int n) { return (x << n) | (x >> (32 - n)); }

__device__ int pad(const uint8_t* p, int n, uint8_t* out, bool big) {  // messages of up to 119 bytes
  int blocks = n + 9 <= 64 ? 1 : 2, total = blocks * 64;
  for (int i = 0; i < total; i++) out[i] = i < n ? p[i] : i == n ? 0x80 : 0;
  uint64_t bits = (uint64_t)n * 8;
  for (int i = 0; i < 8; i++) out[total - 8 + i] = (uint8_t)(bits >> (big ? 56 - 8 * i : 8 * i));
  return blocks;
}

__device__ void sha256(const uint8_t* p, int n, uint32_t* h) {
  uint8_t m[128];
  int blocks = pad(p, n, m, true);
  const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (int i = 0; i < 8; i++) h[i] = start[i];
  for (int b = 0; b < blocks; b++) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++) {
      const uint8_t* q = m + b * 64 + i * 4;
      w[i] = (uint32_t)q[0] << 24 | q[1] << 16 | q[2] << 8 | q[3];
    }
    for (int i = 16; i < 64; i++) {
      uint32_t s0 = ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ (w[i - 15] >> 3),
               s1 = ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    for (int i = 0; i < 8; i++) s[i] = h[i];
    for (int i = 0; i < 64; i++) {
      uint32_t t1 =
          s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha_k[i] + w[i];
      uint32_t t2 = (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      for (int j = 7; j > 0; j--) s[j] = s[j - 1];
      s[4] += t1;
      s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) h[i] += s[i];
  }
}

__device__ void md5(const uint8_t* p, int n, uint32_t* h) {
  uint8_t m[128];
  int blocks = pad(p, n, m, false);
  const int shift[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};
  h[0] = 0x67452301, h[1] = 0xefcdab89, h[2] = 0x98badcfe, h[3] = 0x10325476;
  for (int b = 0; b < blocks; b++) {
    const uint8_t* q = m + b * 64;
    uint32_t A = h[0], B = h[1], C = h[2], D = h[3];
    for (int i = 0; i < 64; i++) {
      uint32_t f, k = (uint32_t)floor(fabs(sin((double)(i + 1))) * 4294967296.0);
      int g;
      if (i < 16)
        f = (B & C) | (~B & D), g = i;
      else if (i < 32)
        f = (D & B) | (~D & C), g = (5 * i + 1) % 16;
      else if (i < 48)
        f = B ^ C ^ D, g = (3 * i + 5) % 16;
      else
        f = C ^ (B | ~D), g = (7 * i) % 16;
      uint32_t w = q[g * 4] | q[g * 4 + 1] << 8 | q[g * 4 + 2] << 16 | (uint32_t)q[g * 4 + 3] << 24;
      uint32_t t = D;
      D = C;
      C = B;
      B = B + rol(A + f + k + w, shift[i / 16 * 4 + i % 4]);
      A = t;
    }
    h[0] += A, h[1] += B, h[2] += C, h[3] += D;
  }
}

__device__ uint8_t gmul(uint8_t a, uint8_t b) {
  uint8_t r = 0;
  for (; b; b >>= 1) {
    if (b & 1) r ^= a;
    a = (uint8_t)(a << 1) ^ (a & 0x80 ? 0x1b : 0);
  }
  return r;
}
__device__ uint8_t sbox(uint8_t x) {
  uint8_t inv = 0;
  if (x)
    for (int c = 1; c < 256; c++)
      if (gmul(x, (uint8_t)c) == 1) inv = (uint8_t)c;
  uint8_t r = inv;
  for (int k = 1; k <= 4; k++) r ^= (uint8_t)(inv << k | inv >> (8 - k));
  return r ^ 0x63;
}
__global__ void aes(const uint8_t* key, const uint8_t* text, uint8_t* out) {  // 256 threads, one block of cipher text
  __shared__ uint8_t S[256], w[176], s[16], t[16];
  int i = threadIdx.x;
  S[i] = sbox((uint8_t)i);
  __syncthreads();
  if (i == 0) {
    uint8_t rcon = 1;
    for (int k = 0; k < 16; k++) w[k] = key[k];
    for (int k = 16; k < 176; k += 4) {
      uint8_t x[4] = {w[k - 4], w[k - 3], w[k - 2], w[k - 1]};
      if (k % 16 == 0) {
        uint8_t first = x[0];
        x[0] = S[x[1]] ^ rcon, x[1] = S[x[2]], x[2] = S[x[3]], x[3] = S[first];
        rcon = gmul(rcon, 2);
      }
      for (int j = 0; j < 4; j++) w[k + j] = w[k - 16 + j] ^ x[j];
    }
  }
  __syncthreads();
  if (i >= 16) return;
  s[i] = text[i] ^ w[i];
  __syncwarp(0xffff);
  for (int round = 1; round <= 10; round++) {
    int row = i % 4, col = i / 4;
    t[i] = S[s[((col + row) % 4) * 4 + row]];
    __syncwarp(0xffff);
    uint8_t* c = t + col * 4;
    uint8_t v = round < 10 ? gmul(c[row], 2) ^ gmul(c[(row + 1) % 4], 3) ^ c[(row + 2) % 4] ^ c[(row + 3) % 4] : t[i];
    s[i] = v ^ w[round * 16 + i];
    __syncwarp(0xffff);
  }
  out[i] = s[i];
}

__constant__ char b64[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
__global__ void base64(const uint8_t* in, int n, char* out) {
  int i = threadIdx.x * 3;
  if (i >= n) return;
  uint32_t v = in[i] << 16 | (i + 1 < n ? in[i + 1] << 8 : 0) | (i + 2 < n ? in[i + 2] : 0);
  char* o = out + threadIdx.x * 4;
  o[0] = b64[v >> 18], o[1] = b64[v >> 12 & 63];
  o[2] = i + 1 < n ? b64[v >> 6 & 63] : '=';
  o[3] = i + 2 < n ? b64[v & 63] : '=';
}

__global__ void factorial(uint32_t* digits, int* length, int n) {  // base 10^9, carried by one warp in turn
  __shared__ uint64_t d[32];
  int t = threadIdx.x;
  d[t] = t == 0;
  __syncwarp();
  for (int k = 2; k <= n; k++) {
    d[t] *= k;
    __syncwarp();
    if (t == 0)
      for (int i = 0; i + 1 < 32; i++) d[i + 1] += d[i] / 1000000000u, d[i] %= 1000000000u;
    __syncwarp();
  }
  digits[t] = (uint32_t)d[t];
  unsigned used = __ballot_sync(~0u, d[t] != 0);
  if (t == 0) *length = 32 - __clz(used);
}

__global__ void hashes(const uint8_t* text, const int* start, int count, uint32_t* out) {
  int i = threadIdx.x;
  if (i >= count) return;
  const uint8_t* p = text + start[i];
  int n = start[i + 1] - start[i];
  uint32_t* o = out + i * 13;
  o[0] = crc32(p, n);
  md5(p, n, o + 1);
  sha256(p, n, o + 5);
}

int main() {
  const char* messages[] = {"", "abc", "123456789", "message digest",
                            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"};
  std::string all;
  int start[6] = {0}, bad = 0;
  for (int i = 0; i < 5; i++) all += messages[i], start[i + 1] = (int)all.size();
  uint8_t *d_text, *d_aes;
  int *d_start, *d_len;
  uint32_t out[65], *d_out;
  CHECK(cudaMalloc(&d_text, 256));
  CHECK(cudaMalloc(&d_aes, 64));
  CHECK(cudaMalloc(&d_start, sizeof start));
  CHECK(cudaMalloc(&d_len, 4));
  CHECK(cudaMalloc(&d_out, sizeof out));
  CHECK(cudaMemcpy(d_text, all.data(), all.size(), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_start, start, sizeof start, cudaMemcpyHostToDevice));
  build_crc<<<1, 256>>>();
  hashes<<<1, 32>>>(d_text, d_start, 5, d_out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  printf("crc32 of 123456789: %08x\n", out[2 * 13]);
  bad += out[2 * 13] != 0xcbf43926 || out[0] != 0;
  bad += out[1 * 13 + 1] != 0x98500190 ||
         out[1 * 13 + 4] != 0x727fe128;  // 900150983cd24fb0d6963f7d28e17f72, little-endian
  bad += out[1 * 13 + 5] != 0xba7816bf || out[1 * 13 + 12] != 0xf20015ad;
  bad +=
      out[5] != 0xe3b0c442 || out[12] != 0x7852b855 || out[4 * 13 + 5] != 0x248d6a61 || out[4 * 13 + 12] != 0x19db06c1;
  printf("hashes: %d wrong\n", bad);

  uint8_t key[16], text[16], cipher[16];
  const uint8_t want[16] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                            0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
  for (int i = 0; i < 16; i++) key[i] = (uint8_t)i, text[i] = (uint8_t)(i * 0x11);
  CHECK(cudaMemcpy(d_aes, key, 16, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_aes + 16, text, 16, cudaMemcpyHostToDevice));
  aes<<<1, 256>>>(d_aes, d_aes + 16, d_aes + 32);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(cipher, d_aes + 32, 16, cudaMemcpyDeviceToHost));
  bad += memcmp(cipher, want, 16) != 0;
  char coded[32] = {};
  base64<<<1, 32>>>(d_text + start[3], 14, (char*)d_out);
  CHECK(cudaMemcpy(coded, d_out, 20, cudaMemcpyDeviceToHost));
  bad += strcmp(coded, "bWVzc2FnZSBkaWdlc3Q=") != 0;
  int len = 0;
  factorial<<<1, 32>>>(d_out, d_len, 50);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out, d_out, 32 * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&len, d_len, 4, cudaMemcpyDeviceToHost));
  char digits[400], *p = digits + sprintf(digits, "%u", out[len - 1]);
  for (int i = len - 2; i >= 0; i--) p += sprintf(p, "%09u", out[i]);
  bad += strcmp(digits, "30414093201713378043612608166064768844377641568960512000000000000") != 0;
  printf("50! = %s\ncrypto_hashes: %s, %s\n", digits, coded, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
