// OpenMP target: teams, reductions, nested parallelism, recursion on the device, a math function, target data. The
// program fails when a region ran on the host.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define N 5000
#pragma omp declare target
static double square(double x) { return x * x; }
#pragma omp end declare target
#pragma omp declare target
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
#pragma omp end declare target
int main(void) {
  double *a = malloc(N * sizeof *a), sum = 0;
  int threads = 0, host = 1, f = 0;
  for (int i = 0; i < N; ++i) a[i] = i;
  printf("devices %d\n", omp_get_num_devices());
#pragma omp target map(from: host)
  host = omp_is_initial_device();
#pragma omp target teams distribute parallel for map(tofrom: a[0:N]) num_teams(4) thread_limit(64)
  for (int i = 0; i < N; ++i) a[i] = square(a[i]) + 1;
#pragma omp target teams distribute parallel for reduction(+:sum) map(to: a[0:N])
  for (int i = 0; i < N; ++i) sum += a[i];
#pragma omp target map(from: threads, f)
  {
#pragma omp parallel num_threads(8)
#pragma omp atomic
    threads++;
    f = fib(12);
  }
  double want = 0;
  for (int i = 0; i < N; ++i) want += (double)i * i + 1;
  printf("sum %.0f want %.0f threads %d host %d fib %d\n", sum, want, threads, host, f);
#pragma omp target data map(tofrom: a[0:N])
  {
#pragma omp target teams distribute parallel for simd
    for (int i = 0; i < N; ++i) a[i] = sqrt(a[i]);
#pragma omp target update from(a[0:N])
  }
  for (int i = 0; i < N; ++i) if (fabs(a[i] - sqrt((double)i * i + 1)) > 1e-9) return 2;
  return sum != want || host || f != 144;
}
