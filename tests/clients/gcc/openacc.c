// OpenACC: loops, a reduction, data clauses. The program fails when it did not run on the device.
#include <stdio.h>
#include <openacc.h>
#define N 10000
int main(void) {
  static float a[N], b[N], c[N];
  for (int i = 0; i < N; ++i) { a[i] = i; b[i] = 2 * i; }
  printf("devices %d\n", acc_get_num_devices(acc_device_nvidia));
  double sum = 0;
#pragma acc parallel loop copyin(a, b) copyout(c)
  for (int i = 0; i < N; ++i) c[i] = a[i] + b[i];
#pragma acc parallel loop reduction(+:sum) copyin(c)
  for (int i = 0; i < N; ++i) sum += c[i];
  for (int i = 0; i < N; ++i) if (c[i] != 3 * i) { printf("wrong %d %g\n", i, c[i]); return 1; }
  int on = 0;
#pragma acc parallel copyout(on)
  on = acc_on_device(acc_device_nvidia);
  printf("sum %g on device %d\n", sum, on);
  return sum != 3.0 * N * (N - 1) / 2 || !on;
}
