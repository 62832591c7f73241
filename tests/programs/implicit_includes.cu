// Old habits: standard functions used without their headers, C-style casts of allocation
// pointers, a checking macro that exits, results compared with abs.
#include <cuda_runtime.h>

#define check(call)                                                      \
{                                                                        \
    const cudaError_t error = call;                                      \
    if (error != cudaSuccess)                                            \
    {                                                                    \
        printf("Error: %s:%d, ", __FILE__, __LINE__);                        \
        printf("code:%d, reason: %s\n", error, cudaGetErrorString(error)); \
        exit(1);                                                         \
    }                                                                    \
}

void initialData(float *ip, int size)
{
    time_t t;
    srand((unsigned int) time(&t));
    for (int i = 0; i < size; i++) ip[i] = (float)(rand() & 0xFF) / 10.0f;
}

__global__ void sumArrays(float *A, float *B, float *C)
{
    int i = threadIdx.x;
    C[i] = A[i] + B[i];
}

__global__ void hypotenuse(float *x, const int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) x[i] = sqrt(pow(x[i], 2) + max(x[i], 4.0f) * min(i, 3));
}

__global__ void smallest(const int *x, int n, int *result, unsigned *level)
{
    int least = INT_MAX;
    for (int i = 0; i < n; i++) least = min(least, x[i]);
    assert(least < INT_MAX);
    *result = least;
    if (*level == UINT_MAX) *level = 0;
}

int main(int argc, char **argv)
{
    if (argc > 5) fprintf(stderr, "usage: %s\n", argv[0]);
    assert(argc > 0);
    int nElem = 32;
    size_t nBytes = nElem * sizeof(float);
    float *h_A = (float *)malloc(nBytes), *h_B = (float *)malloc(nBytes), *gpuRef = (float *)malloc(nBytes);
    initialData(h_A, nElem);
    initialData(h_B, nElem);
    memset(gpuRef, 0, nBytes);
    float *d_A, *d_B, *d_C;
    check(cudaMalloc((float**)&d_A, nBytes));
    check(cudaMalloc((float**)&d_B, nBytes));
    check(cudaMalloc((void**)&d_C, nBytes));
    check(cudaMemcpy(d_A, h_A, nBytes, cudaMemcpyHostToDevice));
    check(cudaMemcpy(d_B, h_B, nBytes, cudaMemcpyHostToDevice));
    dim3 block (nElem);
    dim3 grid  (nElem / block.x);
    sumArrays<<<grid, block>>>(d_A, d_B, d_C);
    printf("Execution configuration <<<%d, %d>>>\n", grid.x, block.x);
    check(cudaMemcpy(gpuRef, d_C, nBytes, cudaMemcpyDeviceToHost));
    bool match = 1;
    double epsilon = 1.0E-8;
    for (int i = 0; i < nElem; i++)
        if (abs(h_A[i] + h_B[i] - gpuRef[i]) > epsilon) match = 0;
    hypotenuse<<<grid, block>>>(d_A, nElem);
    check(cudaMemcpy(gpuRef, d_A, nBytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < nElem; i++)
    {
        float want = sqrt(h_A[i] * h_A[i] + max(h_A[i], 4.0f) * min(i, 3));
        if (!(fabs(gpuRef[i] - want) <= 1e-5 * want)) match = 0;
    }
    int numbers[4] = {7, -3, 12, 5}, *d_x, least;
    unsigned *level;
    check(cudaMalloc(&d_x, 5 * sizeof(int)));
    check(cudaMallocManaged(&level, sizeof(unsigned)));
    *level = UINT_MAX;
    check(cudaMemcpy(d_x, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    smallest<<<1, 1>>>(d_x, 4, d_x + 4, level);
    check(cudaMemcpy(&least, d_x + 4, sizeof(int), cudaMemcpyDeviceToHost));
    if (least != -3 || *level != 0) match = 0;
    cudaFree(d_A);
    cudaFree(d_B);
    cudaFree(d_C);
    free(h_A);
    free(h_B);
    free(gpuRef);
    printf("implicit_includes: %s\n", match ? "PASSED" : "FAILED");
    return !match;
}
