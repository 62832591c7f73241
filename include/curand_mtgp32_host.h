// What a program gives MTGP32's kernels: its sets of parameters, and a state for each block.
#ifndef WARPBEAM_CURAND_MTGP32_HOST_H
#define WARPBEAM_CURAND_MTGP32_HOST_H
#define CURAND_MTGP32_HOST_H
#pragma GCC system_header

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "curand_kernel.h"

// The states of one set's generator (Knuth's multiplier), laid over a byte that the set decides.
static __inline__ void mtgp32_init_state(unsigned int state[], const mtgp32_params_fast_t* para, unsigned int seed) {
  const unsigned int hidden = para->tbl[4] ^ (para->tbl[8] << 16);
  unsigned int fill = hidden;
  fill += fill >> 16;
  fill += fill >> 8;
  const int size = para->mexp / 32 + 1;
  memset(state, fill & 0xff, sizeof(unsigned int) * size);
  state[0] = seed;
  state[1] = hidden;
  for (int i = 1; i < size; ++i) state[i] ^= 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
}

static __inline__ curandStatus_t curandMakeMTGP32Constants(const mtgp32_params_fast_t params[],
                                                           mtgp32_kernel_params_t* p) {
  if (params[0].mexp != MTGPDC_MEXP) {
    fprintf(stderr, "warpbeam: MTGP32 needs the parameters of a toolkit's curand_mtgp32dc_p_11213.h\n");
    return CURAND_STATUS_INITIALIZATION_FAILED;
  }
  mtgp32_kernel_params_t* table = (mtgp32_kernel_params_t*)malloc(sizeof *table);
  if (!table) return CURAND_STATUS_ALLOCATION_FAILED;
  for (int i = 0; i < CURAND_NUM_MTGP32_PARAMS; ++i) {
    table->pos_tbl[i] = params[i].pos;
    table->sh1_tbl[i] = params[i].sh1;
    table->sh2_tbl[i] = params[i].sh2;
    memcpy(table->param_tbl[i], params[i].tbl, sizeof params[i].tbl);
    memcpy(table->temper_tbl[i], params[i].tmp_tbl, sizeof params[i].tmp_tbl);
    memcpy(table->single_temper_tbl[i], params[i].flt_tmp_tbl, sizeof params[i].flt_tmp_tbl);
  }
  table->mask[0] = params[0].mask;
  const cudaError_t copied = cudaMemcpy(p, table, sizeof *table, cudaMemcpyHostToDevice);
  free(table);
  return copied == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_INITIALIZATION_FAILED;
}

static __inline__ curandStatus_t curandMakeMTGP32KernelState(curandStateMtgp32_t* s, mtgp32_params_fast_t params[],
                                                             mtgp32_kernel_params_t* k, int n,
                                                             unsigned long long seed) {
  if (params[0].mexp != MTGPDC_MEXP) return CURAND_STATUS_INITIALIZATION_FAILED;
  curandStateMtgp32_t* states = (curandStateMtgp32_t*)calloc(n, sizeof *states);
  if (!states) return CURAND_STATUS_ALLOCATION_FAILED;
  for (int i = 0; i < n; ++i) {
    mtgp32_init_state(states[i].s, &params[i], (unsigned int)(seed ^ (seed >> 32)) + i + 1);
    states[i].pIdx = i;
    states[i].k = k;
  }
  const cudaError_t copied = cudaMemcpy(s, states, sizeof *states * n, cudaMemcpyHostToDevice);
  free(states);
  return copied == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_INITIALIZATION_FAILED;
}

#endif
