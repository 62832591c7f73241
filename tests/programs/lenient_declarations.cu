// What nvcc compiles, most of it with a warning: arrays of variable size with items, functions that say only once for whom they
// are, labels behind variables in kernels, and main without a type.
#include <cstdio>
#include <string>

struct Account {
  int sum;
  __host__ __device__ Account(int);
  __host__ __device__ int with(int) const;
  __device__ void close();
  template <class T>
  __host__ __device__ T times(T) const;
  friend int left(const Account&);
};
Account::Account(int start) : sum(start) {}
int Account::with(int more) const { return sum + more; }
void Account::close() { sum = -int(threadIdx.x) - 1; }
template <class T>
T Account::times(T x) const {
  return x * sum;
}
__host__ __device__ int left(const Account& a) { return a.sum; }

int twice(int);
__host__ __device__ int twice(int x) { return 2 * x; }

template <class T>
__device__ T opposite(T x) {
  return x;
}
template <>
int opposite<int>(int x) {
  return -x;
}

__global__ void accounts(Account a, int* p) {
  typeof(a) b = a;
  switch (p[0]) {
    case 0:
      const int start = a.with(2), more = start + 1;
      p[1] = twice(start) + a.times(more);
      break;
    case 1:
      b.close();
      p[1] = opposite(left(b));
  }
}

bool variable_sizes(int n) {
  const float weights[n] = {0.5f, 2};
  int zero = 1, zeros[n] = {0}, after = zero + 1;
  int* none[n] = {};
  char text[n + 3] = "a,b;c";
  double table[n][2] = {{1, 2}, {3, 4}};
  std::string names[n] = {"u", "v"};
  bool good = weights[1] == 2 && weights[n - 1] == 0 && after == 2 && std::string(text) == "a,b;c" && names[2].empty();
  for (int i = 0; i < n; ++i) good = good && zeros[i] == 0 && none[i] == nullptr;
  return good && table[1][1] == 4 && table[3][0] == 0 && names[1] == "v";
}

main() {
  int* p;
  cudaMallocManaged(&p, 8);
  bool good = variable_sizes(5) && Account(3).with(4) == 7 && twice(3) == 6;
  for (int which : {0, 1}) {
    p[0] = which;
    accounts<<<1, 1>>>(Account(3), p);
    good = good && cudaDeviceSynchronize() == cudaSuccess && p[1] == (which ? 1 : 28);
  }
  puts(good ? "passed" : "failed");
  return good ? 0 : 1;
}
