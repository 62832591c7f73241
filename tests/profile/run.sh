#!/usr/bin/env bash
# The profiler from the outside. Each case is a function case_* that works in a directory of its own and fails with a
# status. Usage: run.sh [filter]; prints a line per case and ends with "N passed, N failed, N skipped".
set -u
here=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
warpbeam=${WARPBEAM_BUILD:-$root/build/release}/bin/warpbeam
filter=${1:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/warpbeam-profile.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
unset WARPBEAM_DEVICE WARPBEAM_TOOL WARPBEAM_TOOL_OPTIONS WARPBEAM_RECORDING

profile() { "$warpbeam" profile "$@"; }

# values FILE KERNEL METRIC: the values of a metric for the launches of a kernel, with spaces between them.
values() {
  awk -F'","' -v kernel="$2" -v metric="$3" '
    { gsub(/^"|"$/, "") }
    NR == 1 { for (k = 1; k <= NF; ++k) if ($k == metric) column = k; if (!column) exit 1; next }
    NR > 2 && index($2, kernel "(") == 1 { text = text (text == "" ? "" : " ") $column }
    END { print text }' "$1"
}
# is FILE KERNEL METRIC VALUES
is() {
  local got
  got=$(values "$1" "$2" "$3") || { echo "    $1 has no $3"; return 1; }
  [[ $got == "$4" ]] || { echo "    $2 $3: '$got' instead of '$4'"; return 1; }
}

# hardware GROUP: every number that an H200's counters gave.
hardware() {
  profile --set exact --csv ours.csv "$here/accesses.cu" -- "$1" >out 2>err || { cat err; return 1; }
  equal "$here/h200/$1.csv"
}
# h100 PROGRAM: every number that an H100's counters gave.
h100() {
  profile --device h100 --set exact --csv ours.csv "$here/$1.cu" >out 2>err || { cat err; return 1; }
  equal "$here/h100/$1.csv"
}
# equal FILE: ours.csv has its numbers.
equal() {
  awk -F'","' '
    { gsub(/^"|"$/, "") }
    FNR == NR && FNR == 1 { for (k = 1; k <= NF; ++k) ours[$k] = k; next }
    FNR == NR && FNR == 2 { next }
    FNR == NR { for (k = 1; k <= NF; ++k) value[$1, k] = $k; ++launches; next }
    FNR == 1 { for (k = 3; k <= NF; ++k) { name[k] = $k; if (!($k in ours)) { print "    there is no " $k; wrong = 1 } } next }
    {
      ++rows
      for (k = 3; k <= NF; ++k) {
        if ($k == "") continue
        ++compared
        difference = value[$1, ours[name[k]]] - $k
        if (difference < 0.0051 && difference > -0.0051) continue
        print "    launch " $1 " " $2 " " name[k] ": " value[$1, ours[name[k]]] " instead of " $k
        wrong = 1
      }
    }
    END {
      if (rows != launches) { print "    " launches " launches instead of " rows; wrong = 1 }
      if (!compared) { print "    nothing was compared"; wrong = 1 }
      exit wrong
    }' ours.csv "$1" >differences
  local status=$?
  head -12 differences
  return $status
}

case_global_loads_count_as_on_an_h200() { hardware global_load; }
case_global_stores_count_as_on_an_h200() { hardware global_store; }
case_global_atomics_count_as_on_an_h200() { hardware global_atomic; }
case_shared_loads_count_as_on_an_h200() { hardware shared_load; }
case_shared_stores_count_as_on_an_h200() { hardware shared_store; }
case_shared_atomics_count_as_on_an_h200() { hardware shared_atomic; }
case_asynchronous_copies_count_as_on_an_h200() { hardware async_copy; }
case_arithmetic_counts_as_on_an_h200() { hardware arithmetic; }

case_other_ways_to_memory_count_as_on_an_h100() { h100 paths; }
case_loops_of_atomic_operations_count_as_on_an_h100() { h100 shared_loops; }
# Left out of the numbers: stores of neighbours, which ptxas puts together (`Sparse`, `Full`).
case_copied_structures_count_as_on_an_h100() { h100 members; }
case_texture_requests_count_as_on_an_h100() { h100 textures; }
case_ways_that_end_alike_count_as_on_an_h100() { h100 ways; }

# The runs of worked.txt, each with its table.
case_numbers_of_the_table() {
  local first second rest options words=() wrong=0
  while read -r first second rest; do
    case $first in
      '' | \#*) ;;
      run)
        options="$second $rest" words=()
        [[ $options == *' -- '* ]] && read -ra words <<<"-- ${options#* -- }" && options=${options%% -- *}
        # shellcheck disable=SC2086
        profile $options --csv t.csv "$here/worked.cu" "${words[@]}" >out </dev/null || { echo "    $options"; wrong=1; }
        ;;
      *) is t.csv "$first" "$second" "$rest" || { echo "    with $options ${words[*]}"; wrong=1; } ;;
    esac
  done <"$here/worked.txt"
  return $wrong
}

# No shell takes its path apart.
case_a_ptxas_at_hand_tells_registers() {
  mkdir "it's a tool"
  printf '%s\n' '#!/bin/sh' "echo \"ptxas info    : Compiling entry function '_Z1kPi' for 'sm_90'\" >&2" 'echo "ptxas info    : Used 77 registers, used 0 barriers"' >"it's a tool/ptxas"
  chmod +x "it's a tool/ptxas"
  printf '%s\n' '__global__ void k(int* p) { if (p) *p = 1; }' 'int main() { k<<<1, 32>>>(nullptr); return cudaDeviceSynchronize(); }' >r.cu
  PATH="$PWD/it's a tool:$PATH" profile --device h100 --metrics launch__registers_per_thread --csv r.csv r.cu || return 1
  is r.csv k launch__registers_per_thread 77
}

case_branches_that_part_half_of_a_warp() {
  profile --metrics branch_efficiency,warp_execution_efficiency,inst_executed -k odd_and_even --csv b.csv "$here/worked.cu" >out || return 1
  is b.csv odd_and_even branch_efficiency "0" && [[ $(wc -l <b.csv) == 3 ]]
}

case_lines_add_up_to_the_kernel() {
  profile --page source --csv lines.csv "$here/worked.cu" >out || return 1
  profile --page ptx --csv ptx.csv "$here/worked.cu" >out || return 1
  profile --metrics inst_executed,thread_inst_executed,gld_transactions,gst_transactions,atomic_transactions --csv all.csv "$here/worked.cu" >out || return 1
  for page in lines ptx; do
    awk -F'","' '
      { gsub(/^"|"$/, "") }
      FNR == NR && FNR > 1 { executed[$1] += $4; threads[$1] += $5; sectors[$1] += $7 }
      FNR == NR { next }
      FNR > 2 && (executed[$1] != $5 || threads[$1] != $6 || sectors[$1] != $7 + $8 + $9) {
        print "    launch " $1 ": " executed[$1] " " threads[$1] " " sectors[$1] " and " $5 " " $6 " " $7 + $8 + $9; wrong = 1
      }
      END { exit wrong || FNR < 10 }' $page.csv all.csv || return 1
  done
}

case_csv_has_the_form_of_nsight_computes_raw_page() {
  profile --metrics gld_efficiency,smsp__inst_executed.sum -k copy_from --csv - "$here/worked.cu" >out || return 1
  grep -q '^"ID","Kernel Name","Block Size","Grid Size","gld_efficiency","smsp__inst_executed.sum"$' out &&
    grep -q '^"","","","","%","inst"$' out && grep -q '^"0","copy_from(float \*, float const \*, int)","(512, 1, 1)","(32, 1, 1)","100","' out || return 1
  profile --csv --metrics gld_efficiency,smsp__inst_executed.sum -k copy_from "$here/worked.cu" >again || return 1
  cmp out again
}

case_launches_are_picked() {
  profile --metrics inst_executed -k regex:^copy --launch-skip 1 --launch-count 3 --csv s.csv "$here/worked.cu" >out || return 1
  [[ $(tail -n +3 s.csv | cut -d'"' -f4 | cut -d'(' -f1 | tr '\n' ' ') == "copy_from copy_from copy_to " ]] || { cat s.csv; return 1; }
  cat >marked.cu <<'CU'
#include <cuda_profiler_api.h>
__global__ void outside() {}
__global__ void inside() {}
int main() {
  outside<<<1, 32>>>();
  cudaProfilerStart();
  inside<<<1, 32>>>();
  cudaProfilerStop();
  outside<<<1, 32>>>();
  return cudaDeviceSynchronize();
}
CU
  profile --profile-from-start off --metrics inst_executed --csv m.csv marked.cu || return 1
  [[ $(tail -n +3 m.csv | cut -d'"' -f4) == "inside()" ]]
}

case_executables_are_profiled_and_keep_their_status() {
  cat >status.cu <<'CU'
#include <cstdlib>
__global__ void k() {}
int main(int argc, char** argv) {
  k<<<1, 32>>>();
  cudaDeviceSynchronize();
  return std::atoi(argv[1]);
}
CU
  "$warpbeam" nvcc -o status status.cu || return 1
  profile --metrics inst_executed --csv e.csv ./status 7
  [[ $? == 7 && $(wc -l <e.csv) == 3 ]]
}

# What a division takes depends on its operands: a numerator of zero goes the long way (36 instructions, as counted on an H200).
case_divisions_go_the_way_that_their_operands_need() {
  cat >ways.cu <<'END'
template <int zero> __global__ void quotients(float* x, int n) {
  float a = zero ? 0.f : 1.5f, b = 3.25f + threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < n; i++) x[threadIdx.x] = (a + x[32]) / b;
}
int main() {
  float* x;
  cudaMalloc(&x, 256);
  cudaMemset(x, 0, 256);
  quotients<0><<<1, 32>>>(x, 100);
  quotients<1><<<1, 32>>>(x, 100);
  return cudaDeviceSynchronize();
}
END
  profile --metrics smsp__sass_inst_executed.sum --csv ways.csv ways.cu >out 2>err || return 1
  local quick long
  quick=$(values ways.csv 'void quotients<0>' smsp__sass_inst_executed.sum) && long=$(values ways.csv 'void quotients<1>' smsp__sass_inst_executed.sum) || return 1
  ((long - quick == 3600)) || { echo "    $quick and $long"; return 1; }
}
case_launches_that_nobody_waits_for_are_profiled() {
  cat >w.cu <<'CU'
#include <cstdlib>
#include <thread>
__device__ int sum;
__global__ void k(int n) { for (int i = 0; i < n; ++i) atomicAdd(&sum, i); }
int main(int n, char** words) {
  k<<<4, 32>>>(1000);
  if (n > 2) std::thread([] { for (;;) k<<<1, 32>>>(9), cudaDeviceSynchronize(); }).detach();
  if (n > 1 && words[1][0] == 'q') quick_exit(3);
  if (n > 1 && words[1][0] == 'c') cudaLaunchHostFunc(0, [](void*) { exit(3); }, nullptr), cudaDeviceSynchronize();
  return 3;
}
CU
  for words in '' q c 'n thread'; do
    status=0
    # shellcheck disable=SC2086
    profile --csv m.csv w.cu -- $words >out 2>&1 || status=$?
    [[ $status == 3 && $(grep -c '"k(int)"' m.csv) != 0 ]] || { echo "    '$words': status $status"; head -5 out; return 1; }
  done
}
case_kernels_that_kernels_launch_are_listed_after_them() {
  cat >nested.cu <<'CU'
__global__ void child(int* p, int n) { if (threadIdx.x < n) p[blockIdx.x * 64 + threadIdx.x] += 1; }
__global__ void parent(int* p) {
  if (threadIdx.x < 3) child<<<threadIdx.x + 1, 64>>>(p, 32);
}
__global__ void after(int* p) { p[threadIdx.x] = 0; }
int main() {
  int* p;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  parent<<<1, 32>>>(p);
  after<<<1, 32>>>(p);
  return cudaDeviceSynchronize();
}
CU
  for threads in 1 4; do WARPBEAM_THREADS=$threads profile -rdc=true --metrics gld_transactions,gst_transactions --csv n$threads.csv nested.cu || return 1; done
  cmp n1.csv n4.csv && [[ $(tail -n +3 n1.csv | cut -d'"' -f4 | cut -d'(' -f1 | tr '\n' ' ') == "parent child child child after " ]] || { cat n1.csv; return 1; }
  is n1.csv child gld_transactions "4 8 12"
}

case_unknown_metrics_are_named_and_left_out() {
  profile --metrics gld_eficiency "$here/worked.cu" >out 2>err && return 1
  grep -q "did you mean 'gld_efficiency'" err && profile --query-metrics | grep -q 'gld_efficiency' || return 1
  profile --metrics gld_eficiency,inst_executed,regex:^nothing -k count_all --csv u.csv "$here/worked.cu" >out 2>err || return 1
  grep -q "warning: there is no metric 'gld_eficiency'; did you mean 'gld_efficiency'" err && grep -q "warning: .*'regex:^nothing'" err &&
    head -1 u.csv | grep -q '"Grid Size","inst_executed"$'
}

case_what_is_not_modelled_prints_na_and_why() {
  local names=nvlink_transmit_throughput,sysmem_read_bytes,ecc_throughput,lts__t_requests.sum,l2_surface_load_bytes
  names+=,smsp__inst_executed.max,smsp__pcsamp_warps_issue_stalled_barrier,inst_replay_overhead
  profile --metrics $names -k count_all --csv n.csv "$here/worked.cu" >out 2>err || return 1
  [[ ! -s err && $(tail -1 n.csv | grep -o '"n/a"' | wc -l) == 8 ]] || { cat err n.csv; return 1; }
  profile --metrics $names -k count_all "$here/worked.cu" >out 2>err || return 1
  [[ $(grep -cE ' n/a  [a-z]' out) == 8 ]] && grep -q 'nvlink_transmit_throughput .* n/a  traffic between GPUs is not modelled' out || { cat out; return 1; }
  profile --query-metrics | grep -q '^T .*stall_sync' && profile --query-metrics | grep -q '^C dram__bytes.sum'
}

# Programs whose times are asked for: what a copy needs is there, and what it is followed by.
timed() {
  cat >timed.cu <<'CU'
#include <cstdio>
__global__ void copy(const float* a, float* b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i];
}
__global__ void sums(const float* a, float* b) {
  __shared__ float part[256];
  part[threadIdx.x] = a[blockIdx.x * 256 + threadIdx.x];
  for (int n = 128; n > 0; n /= 2) {
    __syncthreads();
    if (threadIdx.x < n) part[threadIdx.x] += part[threadIdx.x + n];
  }
  if (threadIdx.x == 0) atomicAdd(b, part[0]);
}
__global__ void roots(float* b, int n) {
  float x = b[blockIdx.x * blockDim.x + threadIdx.x];
  for (int k = 0; k < n; ++k) x = sqrtf(x) + 1;
  b[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
int main() {
  float *a, *b, first;
  cudaMalloc(&a, 4 << 20);
  cudaMalloc(&b, 4 << 20);
  cudaMemset(a, 0, 4 << 20);
  for (int k = 0; k < 3; ++k) copy<<<4096, 256>>>(a, b);
  sums<<<4096, 256>>>(a, b);
  roots<<<512, 256>>>(b, 30);
  cudaMemcpy(&first, b, 4, cudaMemcpyDeviceToHost);
  printf("first %g\n", first);
  return cudaDeviceSynchronize();
}
CU
}

case_times_are_predicted_for_each_launch_in_order() {
  timed
  profile --device h200 --metrics gpu__time_duration.sum --csv - timed.cu >out 2>err || { cat err; return 1; }
  grep -A7 '^"ID"' out >rows
  [[ $(sed -n 1p rows) == '"ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum"' && $(sed -n 2p rows) == '"","","","","ns"' ]] || { cat out; return 1; }
  awk -F'","' '{ gsub(/^"|"$/, "") } NR > 2 && ($1 != NR - 3 || $5 !~ /^[0-9.]+$/ || $5 < 1) { print; bad = 1 } NR > 2 { order = order $2 " " }
    END { exit bad || order != "copy(float const *, float *) copy(float const *, float *) copy(float const *, float *) sums(float const *, float *) roots(float *, int) " }' rows || { cat rows; return 1; }
  # By nvprof's name; what is a rate of it; other GPUs.
  profile --metrics duration,gpu__time_duration.max,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum.per_second,gld_throughput --csv r.csv -k copy timed.cu >out 2>err || return 1
  [[ $(values r.csv copy duration) == "$(values r.csv copy gpu__time_duration.max)" && $(head -2 r.csv | tail -1) == *'"ns","ns","sector/second","byte/second"' ]] || { cat r.csv; return 1; }
  awk -F'","' '{ gsub(/^"|"$/, "") } NR > 2 { n++; if ($7 * 32 / $8 < 0.999 || $7 * 32 / $8 > 1.001) exit 1 } END { exit n != 3 }' r.csv || { cat r.csv; return 1; }
  for device in v100 a100; do
    profile --device $device --metrics gpu__time_duration.sum,achieved_occupancy --csv d.csv timed.cu >out 2>err || return 1
    grep -q '"n/a"' d.csv && { cat d.csv; return 1; }
  done
  return 0
}

# Pages of managed memory come with the first kernel that touches them.
case_pages_of_managed_memory_count_where_they_are_fetched() {
  cat >managed.cu <<'END'
__global__ void add(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
int main() {
  float* x;
  cudaMallocManaged(&x, 4 << 20);
  for (int i = 0; i < 1 << 20; ++i) x[i] = i;
  for (int k = 0; k < 2; ++k) add<<<4096, 256>>>(x);
  return cudaDeviceSynchronize();
}
END
  profile --device h200 --csv ours.csv --metrics gpu__time_duration.sum managed.cu >out 2>err || { cat err; return 1; }
  values ours.csv add gpu__time_duration.sum | awk '{ exit !($1 > 10 * $2) }' || { cat ours.csv; return 1; }
  profile --device h200 managed.cu >out 2>err || { cat err; return 1; }
  grep -q 'the link to the host' out || { cat out; return 1; }
}

# As nvcc does: numbers of a row's elements are added before an address is made of them, and arithmetic in assembly keeps no loop from being unrolled.
case_loops_are_shaped_as_by_nvcc() {
  cat >loops.cu <<'CU'
__global__ void rows(float* p, int n) {
  float* row = p + blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] *= 2;
}
__global__ void chain(unsigned* p, int n) {
  unsigned x = p[0];
  for (int i = 0; i < n; ++i) asm("{ add.u32 %0, %1, 7; }" : "=r"(x) : "r"(x));
  p[0] = x;
}
CU
  "$warpbeam" nvcc -arch=sm_90 -ptx loops.cu && awk '/entry _Z4rows/ { rows = 1 } /entry _Z5chain/ { rows = 0 } /:.*Inner Loop/ { loop = 1 }
    loop && rows && /shl.b64/ { shifts++ } loop && /bra/ { loop = 0 } !rows && /add.u32 .*, 7;/ { adds++ } END { exit !(shifts == 1 && adds >= 5) }' loops.ptx || { cat loops.ptx; return 1; }
}

# `while (a && b)` branches once a turn where b takes a few instructions, and loops with barriers take four turns as one; the swap is predicated, but
# jumped over where it has no lanes. Roots stay behind their condition. That a block has at most 1024 threads says nothing of a loop's length. So nvcc and the vendor's assembler have it.
case_conditions_are_joined_and_loops_with_barriers_repeated() {
  cat >loops.cu <<'CU'
__global__ void orbits(float* o, int limit) {
  float a = o[threadIdx.x], x = 0, y = 0;
  int n = 0;
  while (n < limit && x * x + y * y < 4) {
    float next = x * x - y * y + a;
    y = 2 * x * y + a;
    x = next;
    ++n;
  }
  o[threadIdx.x] = n;
}
__global__ void swaps(unsigned* p, int n) {
  __shared__ unsigned s[256];
  const int t = threadIdx.x;
  s[t] = p[t];
  for (int phase = 0; phase < n; ++phase) {
    __syncthreads();
    int i = 2 * t + phase % 2;
    if (i + 1 < n && s[i] > s[i + 1]) {
      unsigned v = s[i];
      s[i] = s[i + 1];
      s[i + 1] = v;
    }
  }
  p[t] = s[t];
}
__global__ void tile(const float* p, float* o) {
  __shared__ float s[1024];
  for (int i = threadIdx.x; i < 1024; i += 256) s[i % 32 * 32 + i / 32] = p[blockIdx.x * 1024 + i];
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x ^ 33];
}
__global__ void hits(float* o, float b) {
  float d = o[threadIdx.x];
  o[threadIdx.x] = d < 0 ? 1e30f : -b - sqrtf(d);
}
int main() {}
CU
  "$warpbeam" assembly -arch=sm_90 loops.cu >text && awk '/^(orbits|swaps|tile|hits)/ { kernel = substr($1, 1, index($1, "(") - 1) } / BRA/ { branches[kernel]++ }
    /BAR.SYNC/ { barriers[kernel]++ } /BSSY/ { jumps[kernel]++ } /@P[0-9] STS/ { swaps[kernel]++ } / LDG/ { loads[kernel]++ } /SEL/ { choices[kernel]++ }
    END { exit !(branches["orbits"] == 2 && barriers["swaps"] == 5 && jumps["swaps"] == 5 && swaps["swaps"] == 10 && loads["tile"] >= 5 && !choices["hits"]) }' text || { cat text; return 1; }
}

# Every row of the table but those that no model gives, on launches without textures.
case_metrics_of_caches_and_time_have_values() {
  timed
  profile --set full --csv f.csv timed.cu >out 2>err || { cat err; return 1; }
  grep -q '"n/a"' f.csv && { echo "    n/a:"; awk -F, 'NR == 1 { split($0, name, ",") } NR > 2 { for (k = 1; k <= NF; ++k) if ($k == "\"n/a\"") print name[k] }' f.csv; return 1; }
  local known name
  known=$(profile --query-metrics | grep -cE '^[CT] ')
  ((known > 150)) || return 1
  for name in ipc achieved_occupancy sm_efficiency gld_throughput gst_throughput dram_read_throughput dram_write_throughput l2_read_throughput shared_load_throughput \
    stall_sync stall_memory_dependency stall_exec_dependency eligible_warps_per_cycle l2_hit_rate global_hit_rate dram_read_bytes issue_slot_utilization; do
    profile --metrics $name --csv one.csv -k sums timed.cu >out 2>err && [[ $(values one.csv sums $name) =~ ^[0-9.]+$ ]] || { echo "    $name: $(values one.csv sums $name)"; return 1; }
  done
  # A launch finds in L2 what the launch before left there; all waits together are 100 %.
  profile --metrics dram_read_bytes,smsp__sass_inst_executed.sum --csv l2.csv timed.cu >out 2>err || return 1
  awk -F'","' 'NR == 3 { first = $5 } NR == 4 { second = $5 } END { exit !(second <= first && second < 1e6) }' l2.csv || { cat l2.csv; return 1; }
  profile --metrics stall_memory_dependency,stall_exec_dependency,stall_sync,stall_memory_throttle,stall_pipe_busy,stall_texture,stall_constant_memory_dependency,stall_inst_fetch,stall_not_selected,stall_other \
    --csv s.csv timed.cu >out 2>err || return 1
  awk -F'","' '{ gsub(/^"|"$/, "") } NR > 2 { sum = 0; for (k = 5; k <= NF; ++k) sum += $k; ++n; if (sum < 99.8 || sum > 100.2) { print; exit 1 } } END { exit n != 5 }' s.csv
}

case_what_was_filled_before_the_first_launch_is_in_l2() {
  cat >filled.cu <<'EOF'
__global__ void sum(const float4* x, float* out) {
  const float4 v = x[blockIdx.x * blockDim.x + threadIdx.x];
  if (v.x + v.y + v.z + v.w == 1) *out = v.x;
}
int main() {
  float4* x;
  cudaMalloc(&x, 8 << 20);
  cudaMemset(x, 0, 8 << 20);
  sum<<<(8 << 16) / 256, 256>>>(x, reinterpret_cast<float*>(x));
  return cudaDeviceSynchronize();
}
EOF
  profile --device h200 --metrics dram__bytes_read.sum --csv f.csv filled.cu >out 2>err || { cat err; return 1; }
  awk -F'","' 'NR == 3 { gsub(/"/, "", $5); exit !($5 < 4e5) }' f.csv || { cat f.csv; return 1; }
}

case_predictions_carry_intervals() {
  timed
  profile --json t.json timed.cu >out 2>err || { cat err; return 1; }
  grep -oE '"(gpu__time_duration.sum|dram__bytes_read.sum|sm__warps_active.avg.pct_of_peak_sustained_active|smsp__average_warps_issue_stalled_wait_per_issue_active.ratio)":\{"value":[0-9.e+-]+,"low":[0-9.e+-]+,"high":[0-9.e+-]+\}' t.json |
    sed -E 's/.*"value":([^,]*),"low":([^,]*),"high":([^}]*)}/\1 \2 \3/' | awk '{ ++n } $2 > $1 || $1 > $3 { print; bad = 1 } END { exit bad || n != 20 }' || { echo "    no intervals, or others"; return 1; }
  # Plain numbers stand where those of the exact metrics stand.
  [[ $(grep -oE '"gpu__time_duration.sum":[0-9.]+' t.json | wc -l) == 5 && $(grep -oE '"predicted":\{"ns":[0-9.]+,"low":[0-9.]+,"high":[0-9.]+,"cycles":[0-9.]+,"bound":"[A-Za-z0-9]+","percent":[0-9.]+,"bound_by":"' t.json | wc -l) == 5 ]]
}

case_the_text_begins_with_time() {
  timed
  profile timed.cu >out 2>err || { cat err; return 1; }
  grep -qE '^Times are predicted for this GPU at [0-9]+ MHz, not measured.*docs/timing.md' out && grep -qE '^  copy\(.*  +3  .* to .* %  [a-zA-Z0-9]+$' out || { head -20 out; return 1; }
  [[ $(grep -cE '^      [0-9.]+ (ns|µs|ms), [0-9.]+ to [0-9.]+, predicted$' out) == 5 && $(grep -c '^      bound by ' out) == 5 && $(grep -cE '^      warps wait +[0-9]+ % [a-z_]+ \(.*: timed.cu:[0-9]+ [0-9]+ %' out) == 5 ]] || { head -40 out; return 1; }
  # Few launches are seen at once; who asks for what is exact gets that alone.
  profile -k roots timed.cu >few 2>err && ! grep -q 'Launches' few && grep -q 'predicted' few && grep -q 'Metric' few || return 1
  for set in basic exact; do
    profile --set $set timed.cu >exact 2>err && ! grep -qE 'predicted|^    [CT] ' exact && grep -q 'F smsp__inst_executed.sum' exact || return 1
  done
  grep -q 'S launch__grid_size' exact || return 1
  profile --metrics inst_executed --json exact.json timed.cu >o 2>err && ! grep -q '"predicted"' exact.json
}

# What is counted, and what programs print, does not depend on whether times are predicted.
case_exact_metrics_are_the_same_with_predictions() {
  timed
  local exact=inst_executed,thread_inst_executed,gld_transactions,gst_transactions,shared_load_transactions,shared_ld_bank_conflict,branch_efficiency,atomic_transactions,flop_count_sp
  for source in timed.cu "$here/worked.cu"; do
    for engine in interpreter jit; do
      WARPBEAM_ENGINE=$engine profile --metrics $exact --csv without.csv $source >without 2>err && WARPBEAM_ENGINE=$engine profile --metrics $exact,gpu__time_duration.sum --csv with.csv $source >with 2>err || { cat err; return 1; }
      sed -E 's/,"[^"]*"$//' with.csv | cmp - without.csv && cmp with without || return 1
    done
  done
  "$warpbeam" run timed.cu >plain && profile --metrics duration --csv w.csv timed.cu >with && cmp plain with
}

case_predictions_do_not_depend_on_threads() {
  timed
  for source in timed.cu "$here/worked.cu"; do
    for threads in 1 2 4; do
      WARPBEAM_THREADS=$threads profile --json $threads.json $source >out || return 1
      sed -i 's/,"timeline":.*//' $threads.json
    done
    grep -q '"predicted"' 1.json && cmp 1.json 2.json && cmp 1.json 4.json || return 1
  done
}

case_waits_of_lines_add_up() {
  timed
  for page in source ptx; do
    profile --page $page --csv $page.csv timed.cu >out || return 1
    awk -F'","' '{ gsub(/^"|"$/, "") } NR == 1 && $0 !~ /stall cycles","stall %","most of it","Source/ { bad = 1 } NR > 1 { cycles[$1] += $11; share[$1] += $12 }
      END { for (k in share) { ++n; if (share[k] < 99 || share[k] > 101 || cycles[k] < 1) { print k, cycles[k], share[k]; bad = 1 } } exit bad || n != 5 }' $page.csv || return 1
  done
  profile --page source -k sums timed.cu >out && grep -qE 'timed.cu:11 .* [0-9.]+ +(barrier|short_scoreboard|wait|not_selected|math_pipe_throttle|long_scoreboard|branch_resolving|mio_throttle) ' out || { cat out; return 1; }
  profile --page source --csv exact.csv --metrics inst_executed timed.cu >out && grep -q '"n/a","n/a",""' exact.csv
}

# The H200 has 132 multiprocessors of 4 parts.
case_rollups_and_names_of_multiprocessors() {
  cat >rollups.cu <<'CU'
__global__ void k(float* p) { p[threadIdx.x] = p[threadIdx.x] * p[threadIdx.x + 256] + 1; __syncthreads(); }
__global__ void spills(float* p, int i) {
  float all[64];
  for (int j = 0; j < 64; ++j) all[j] = p[j];
  p[threadIdx.x] = all[(threadIdx.x + i) & 63];
}
int main() {
  float* p;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  k<<<528, 256>>>(p);
  spills<<<1, 32>>>(p, 1);
  return cudaDeviceSynchronize();
}
CU
  profile --metrics smsp__warps_launched.avg,sm__warps_launched.avg,sm__warps_launched.sum,unique_warps_launched,sm__sass_thread_inst_executed_op_ffma_pred_on.sum,ldst_executed,inst_misc,global_load_requests,local_load_requests,local_load_transactions_per_request,smsp__inst_executed_op_barrier.sum,l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum \
    --csv r.csv rollups.cu >out 2>err || { cat err; return 1; }
  is r.csv k smsp__warps_launched.avg 8 && is r.csv k sm__warps_launched.avg 32 && is r.csv k sm__warps_launched.sum 4224 && is r.csv k unique_warps_launched 4224 &&
    is r.csv k sm__sass_thread_inst_executed_op_ffma_pred_on.sum 135168 && is r.csv k ldst_executed 12672 &&
    is r.csv k l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum 1081344 &&
    is r.csv spills local_load_requests 1 && is r.csv spills local_load_transactions_per_request 32
}

# Instructions as ptxas makes them for sm_90: tiles of 8 rows of 16 bytes, read by LDSM from shared memory.
case_fragments_are_loaded_and_stored_as_ptxas_does_it() {
  profile --set full --csv w.csv "$here/matrices.cu" >out 2>err || { cat err; return 1; }
  sed -i -E 's/\(nvcuda::wmma::layout_t\)//; s/"void ([a-z_]+)<[^(]*\(/"\1(/' w.csv
  is w.csv product smsp__inst_executed_op_global_ld.sum "12 16 12" && is w.csv product l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum "12 16 12" &&
    is w.csv product l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum "96 96 96" && is w.csv product smsp__sass_data_bytes_mem_global_op_ld.sum "2048 2048 2048" &&
    is w.csv product smsp__inst_executed_op_global_st.sum "4 8 4" && is w.csv product l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum "32 32 32" &&
    is w.csv shared_product smsp__inst_executed_op_shared_ld.sum "1 1 1" && is w.csv shared_product smsp__inst_executed_op_ldsm.sum "2 2 2" &&
    is w.csv shared_product l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum "8 8 24" && is w.csv shared_product l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum "17 9 65" &&
    is w.csv shared_product l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum "8 0 56" && is w.csv shared_product smsp__inst_executed_op_shared_st.sum "4 8 4" &&
    is w.csv bytes smsp__inst_executed_op_global_ld.sum "4 16" && is w.csv bytes l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum "16 64"
}

# Pieces are as wide as the elements, or as the size is said to be a multiple of; 16 bytes go past L1.
case_copies_of_groups_are_asynchronous_since_8_0() {
  cat >copy.cu <<'CU'
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
template <class Size>
__global__ void k(const float* a, float* o, Size bytes) {
  __shared__ __align__(16) float s[132];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, a, bytes);
  cg::wait(block);
  o[threadIdx.x] = s[127 - threadIdx.x];
}
__global__ void quads(const float4* a, float4* o) {
  __shared__ float4 s[32];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, a, 512);
  cg::wait(block);
  if (threadIdx.x < 32) o[threadIdx.x] = s[31 - threadIdx.x];
}
int main() {
  float *a, *o;
  cudaMalloc(&a, 1024);
  cudaMalloc(&o, 512);
  cudaMemset(a, 0, 1024);
  k<<<1, 128>>>(a, o, 512);
  k<<<1, 128>>>(a + 2, o, 512);
  k<<<1, 128>>>(a, o, 518);
  k<<<1, 128>>>(a, o, cuda::aligned_size_t<16>(512));
  quads<<<1, 128>>>((float4*)a, (float4*)o);
  return cudaDeviceSynchronize();
}
CU
  local ldgsts=smsp__inst_executed_op_ldgsts.sum kept=l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum
  profile --metrics $ldgsts,$kept,gld_transactions,gld_requested_bytes --csv h.csv copy.cu >out 2>err && profile --device v100 --metrics $ldgsts,gld_transactions --csv v.csv copy.cu >out 2>err || return 1
  sed -i -E 's/"void ([a-z_]+)<[^(]*\(/"\1(/' h.csv v.csv
  # The third has two bytes left over.
  is h.csv k $ldgsts "4 4 5 1" && is h.csv k $kept "16 20 17 0" && is h.csv quads $ldgsts 1 && is h.csv quads $kept 0 &&
    is h.csv k gld_transactions "16 20 18 16" && is h.csv quads gld_transactions 16 && is h.csv k gld_requested_bytes "0 0 2 0" &&
    is v.csv k $ldgsts "0 0 0 0" && is v.csv k gld_transactions "16 20 17 16"
}

# As an H100 counts them: packed operations once, a half that becomes a float as an addition; a thread's array by words.
case_halves_parameters_and_local_words_count_as_on_an_h100() {
  cat >h.cu <<'CU'
#include <cuda_fp16.h>
struct Fields { float *x, *y; };
__global__ void halves(__half2 a, const __half2* x, __half2* y) { y[threadIdx.x] = __hfma2(a, x[threadIdx.x], y[threadIdx.x]); }
__global__ void widen(const __half* x, float* o) { o[threadIdx.x] = __half2float(x[threadIdx.x]); }
__global__ void fields(Fields f) { f.x[threadIdx.x] += f.y[threadIdx.x]; }
__global__ void picked(float4* p, int k) {
  float4 local[2] = {p[threadIdx.x], p[threadIdx.x + 32]};
  p[threadIdx.x] = local[k];
}
int main() {
  __half2* h;
  cudaMalloc(&h, 4096);
  cudaMemset(h, 0, 4096);
  Fields f{(float*)h, (float*)h + 64};
  halves<<<1, 32>>>(__half2half2(__half(2)), h, h + 64);
  widen<<<1, 32>>>((__half*)h, (float*)h + 64);
  fields<<<1, 32>>>(f);
  picked<<<1, 32>>>((float4*)h, 1);
  return cudaDeviceSynchronize();
}
CU
  local op=smsp__sass_thread_inst_executed_op engine
  for engine in interpreter jit; do
    WARPBEAM_ENGINE=$engine profile --metrics ${op}_hfma_pred_on.sum,${op}_hadd_pred_on.sum,flop_count_hp_fma,flop_count_hp,gld_transactions,global_load_requests,local_load_requests,local_load_transactions,local_store_requests \
      --csv h.csv h.cu >out 2>err || { cat err; return 1; }
    is h.csv halves ${op}_hfma_pred_on.sum 32 && is h.csv halves flop_count_hp_fma 64 && is h.csv halves flop_count_hp 128 && is h.csv halves gld_transactions 8 &&
      is h.csv widen ${op}_hadd_pred_on.sum 32 && is h.csv widen flop_count_hp 0 && is h.csv fields global_load_requests 2 && is h.csv fields gld_transactions 8 &&
      is h.csv picked local_load_requests 4 && is h.csv picked local_load_transactions 16 && is h.csv picked local_store_requests 8 || return 1
  done
}

# The vendor's assembler makes one access of neighbouring words that it knows to be aligned; counts as on an H100.
case_neighbouring_words_of_shared_memory_are_one_access() {
  cat >m.cu <<'CU'
template <class T>
__global__ void product(const T* a, const T* b, T* c) {
  __shared__ T as[16][16], bs[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  as[y][x] = a[y * 16 + x];
  bs[y][x] = b[y * 16 + x];
  __syncthreads();
  T sum = 0;
  for (int k = 0; k < 16; ++k) sum += as[y][k] * bs[k][x];
  c[y * 16 + x] = sum;
}
__global__ void pairs(const float* in, float* out) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  s[2 * t] = in[2 * t];
  s[2 * t + 1] = in[2 * t + 1];
  __syncthreads();
  out[t] = s[2 * (t ^ 32)] * s[2 * (t ^ 32) + 1];
}
__global__ void shifted(const float* in, float* out) {
  __shared__ float s[260];
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2] + s[threadIdx.x + 3];
}
__global__ void shorts(const short* in, short* out) {
  __shared__ short s[128][2];
  s[threadIdx.x][0] = in[threadIdx.x];
  s[threadIdx.x][1] = in[threadIdx.x + 128];
  __syncthreads();
  out[threadIdx.x] = s[127 - threadIdx.x][0] + s[127 - threadIdx.x][1];
}
__global__ void points(const float2* in, float2* out) {
  __shared__ float2 s[8];
  if (threadIdx.x < 8) s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  float2 sum = make_float2(0, 0);
  for (int k = 0; k < 8; ++k) sum.x += s[k].x, sum.y += s[k].y * sum.x;
  out[threadIdx.x] = sum;
}
int main() {
  void* p;
  cudaMalloc(&p, 1 << 14);
  cudaMemset(p, 0, 1 << 14);
  auto* f = (float*)p;
  auto* d = (double*)p;
  product<<<1, dim3(16, 16)>>>(f, f, f + 512);
  product<<<1, dim3(16, 16)>>>(d, d, d + 512);
  pairs<<<1, 256, 2048>>>(f, f + 1024);
  shifted<<<1, 256>>>(f, f + 1024);
  points<<<1, 32>>>((float2*)f, (float2*)f + 64);
  shorts<<<1, 128>>>((short*)p, (short*)p + 512);
  return cudaDeviceSynchronize();
}
CU
  local passes=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum conflicts=l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum engine
  for engine in interpreter jit; do
    WARPBEAM_ENGINE=$engine profile --metrics $passes,$conflicts,shared_store_transactions,inst_executed_shared_loads --csv m.csv m.cu >out 2>err || { cat err; return 1; }
    sed -i -E 's/"void ([a-z_]+)<[^(]*\(/"\1(/' m.csv
    is m.csv product $passes "192 384" && is m.csv product inst_executed_shared_loads "160 192" && is m.csv product $conflicts "0 0" &&
      is m.csv pairs $passes 16 && is m.csv pairs shared_store_transactions 16 && is m.csv pairs $conflicts 0 &&
      is m.csv shifted inst_executed_shared_loads 32 && is m.csv points inst_executed_shared_loads 8 &&
      is m.csv shorts shared_store_transactions 4 && is m.csv shorts $passes 8 || return 1
  done
}

# What an H100's counters said, whose memory lies as cudaMalloc gave it out: 512 bytes apart at least.
case_atomics_go_to_the_places_that_a_gpu_has() {
  cat >a.cu <<'CU'
#include <cuda_fp16.h>
#include <vector>
__global__ void tickets(int* o, const int* k) { o[threadIdx.x + 2048] = atomicAdd(&o[k[threadIdx.x] % 700], 2); }
__global__ void swapped(int* o, const int* k) { atomicExch(&o[k[threadIdx.x] & 511], 7); }
__global__ void greatest(unsigned long long* o, const int* k) { atomicMax(&o[k[threadIdx.x] & 255], (unsigned long long)k[threadIdx.x]); }
__global__ void sums(double* o, const int* k) { atomicAdd(&o[k[threadIdx.x] % 333], 1.5); }
__global__ void slots(unsigned* o, const int* k, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicCAS(&o[(k[i] * 2654435761u) & 1023], 0u, 0u);
}
__global__ void halves(__half2* o, const int* k, int n) { if (threadIdx.x < n) atomicAdd(&o[k[threadIdx.x] % 50], __half2()); }
char* make(size_t bytes) {
  char* p;
  cudaMalloc(&p, bytes);
  cudaMemset(p, 0, bytes);
  return p;
}
int main() {
  std::vector<int> keys(4096);
  unsigned state = 9;
  for (int& key : keys) state = state * 1664525u + 1013904223u, key = (state >> 8) % 100000;
  char *first = make(65792), *third;
  make(65792);
  third = make(65792);
  make(131328);
  char *e = make(131328), *k = make(16640), *o = make(65792);
  cudaMemcpy(k, keys.data(), 16384, cudaMemcpyHostToDevice);
  halves<<<1, 128>>>((__half2*)third, (int*)k, 100);
  slots<<<8, 128>>>((unsigned*)o, (int*)k, 1000);
  tickets<<<1, 512>>>((int*)o, (int*)k);
  swapped<<<1, 512>>>((int*)o, (int*)k);
  greatest<<<1, 512>>>((unsigned long long*)o, (int*)k);
  sums<<<1, 512>>>((double*)e, (int*)k);
  cudaFree(first);
  return cudaDeviceSynchronize();
}
CU
  local atom=l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum red=l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum engine
  for engine in interpreter jit; do
    WARPBEAM_ENGINE=$engine profile --metrics $atom,$red,global_atomic_requests,smsp__inst_executed_op_generic_atom.sum --csv a.csv a.cu >out 2>err || { cat err; return 1; }
    is a.csv halves $atom 45 && is a.csv slots $atom 913 && is a.csv slots global_atomic_requests 32 && is a.csv slots smsp__inst_executed_op_generic_atom.sum 32 && is a.csv tickets $atom 434 &&
      is a.csv swapped $atom 417 && is a.csv greatest $red 437 && is a.csv sums $red 457 || return 1
  done
}

# Four words in four sectors of a line take an H200 95 % of the time that one takes, eight in one sector 23 %.
case_atomics_of_a_line_wait_for_each_other() {
  cat >a.cu <<'CU'
__global__ void one(unsigned* o, const int* k, int none) { atomicAdd(&o[k[blockIdx.x * blockDim.x + threadIdx.x] & none], 1u); }
__global__ void sectors(unsigned* o, const int* k) { atomicAdd(&o[8 * (k[blockIdx.x * blockDim.x + threadIdx.x] & 3)], 1u); }
__global__ void sector(unsigned* o, const int* k) { atomicAdd(&o[k[blockIdx.x * blockDim.x + threadIdx.x] & 7], 1u); }
int main() {
  const int n = 1 << 17;
  int* h = new int[n];
  unsigned state = 1;
  for (int i = 0; i < n; ++i) state = state * 1664525u + 1013904223u, h[i] = state >> 20;
  unsigned* o;
  int* k;
  cudaMalloc(&o, 4096);
  cudaMalloc(&k, n * 4);
  cudaMemcpy(k, h, n * 4, cudaMemcpyHostToDevice);
  one<<<n / 256, 256>>>(o, k, 0);
  sectors<<<n / 256, 256>>>(o, k);
  sector<<<n / 256, 256>>>(o, k);
  return cudaDeviceSynchronize();
}
CU
  profile --device h200 --metrics gpu__time_duration.sum --csv a.csv a.cu >out 2>err || { cat err; return 1; }
  local one sectors sector
  one=$(values a.csv one gpu__time_duration.sum) sectors=$(values a.csv sectors gpu__time_duration.sum) sector=$(values a.csv sector gpu__time_duration.sum)
  awk -v a="$one" -v b="$sectors" -v c="$sector" 'BEGIN { exit !(b > 0.85 * a && b < 1.1 * a && c > 0.15 * a && c < 0.32 * a) }' ||
    { echo "    $one, $sectors, $sector ns"; return 1; }
}

# One lane does it for all where the vendor's assembler sees that lanes share the address: of shared memory as an H100 does it.
case_atomics_on_one_word_of_shared_memory_are_gathered() {
  cat >g.cu <<'CU'
#define KERNEL(name, T, what)                                                                        \
  __global__ void name(T* o, const int* k) {                                                          \
    __shared__ T n[64];                                                                               \
    n[threadIdx.x & 63] = 0;                                                                          \
    __syncthreads();                                                                                  \
    what;                                                                                             \
    __syncthreads();                                                                                  \
    o[threadIdx.x & 63] = n[threadIdx.x & 63];                                                        \
  }
KERNEL(sums, int, atomicAdd(&n[3], k[threadIdx.x]))
KERNEL(constants, int, atomicAdd(&n[3], 5))
KERNEL(some, int, if (k[threadIdx.x] & 1) atomicAdd(&n[3], k[threadIdx.x]))
KERNEL(ticket, int, o[64 + threadIdx.x] = atomicAdd(&n[3], 1))
KERNEL(greatest, int, atomicMax(&n[blockIdx.x], k[threadIdx.x]))
KERNEL(bits, unsigned, atomicOr(&n[3], 1u << (k[threadIdx.x] & 31)))
KERNEL(greatest_used, int, o[64 + threadIdx.x] = atomicMax(&n[3], k[threadIdx.x]))
KERNEL(wraps, unsigned, atomicInc(&n[3], 100u))
KERNEL(exchanged, int, atomicExch(&n[3], k[threadIdx.x]))
KERNEL(by_warps, int, atomicAdd(&n[threadIdx.x / 32], k[threadIdx.x]))
int main() {
  int *o, *k, all[128];
  for (int i = 0; i < 128; ++i) all[i] = i * 5;
  cudaMalloc(&o, 1024);
  cudaMalloc(&k, 512);
  cudaMemcpy(k, all, 512, cudaMemcpyHostToDevice);
  sums<<<1, 128>>>(o, k), constants<<<1, 128>>>(o, k), some<<<1, 128>>>(o, k), ticket<<<1, 128>>>(o, k), greatest<<<1, 128>>>(o, k);
  bits<<<1, 128>>>((unsigned*)o, k), greatest_used<<<1, 128>>>(o, k), wraps<<<1, 128>>>((unsigned*)o, k), exchanged<<<1, 128>>>(o, k), by_warps<<<1, 128>>>(o, k);
  return cudaDeviceSynchronize();
}
CU
  local passes=l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum conflicts=l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum engine kernel
  for engine in interpreter jit; do
    WARPBEAM_ENGINE=$engine profile --device h100 --metrics $passes,$conflicts,inst_executed_shared_atomics --csv g.csv g.cu >out 2>err || { cat err; return 1; }
    for kernel in sums constants some ticket greatest bits; do is g.csv $kernel $passes 4 && is g.csv $kernel $conflicts 0 || return 1; done
    for kernel in greatest_used wraps exchanged by_warps; do is g.csv $kernel $passes 128 && is g.csv $kernel inst_executed_shared_atomics 4 || return 1; done
  done
  profile --device v100 --metrics $passes --csv v.csv g.cu >out 2>err && is v.csv sums $passes 128 && is v.csv constants $passes 4
}

# As an H100 executes them; results that nobody uses make `red`, of vectors and of atomicInc too.
case_reductions_of_vectors_and_counters() {
  cat >r.cu <<'CU'
__global__ void pairs(float2* p) { atomicAdd(&p[threadIdx.x], make_float2(1, 2)); }
__global__ void pairs_used(float2* p) { p[threadIdx.x + 64] = atomicAdd(&p[threadIdx.x], make_float2(1, 2)); }
__global__ void around(unsigned* p) { atomicInc(&p[threadIdx.x], 9); atomicDec(&p[threadIdx.x + 64], 9); }
__global__ void around_used(unsigned* p) { p[threadIdx.x + 64] = atomicInc(&p[threadIdx.x], 9); }
int main() {
  void* p;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  pairs<<<1, 32>>>((float2*)p), pairs_used<<<1, 32>>>((float2*)p), around<<<1, 32>>>((unsigned*)p), around_used<<<1, 32>>>((unsigned*)p);
  return cudaDeviceSynchronize();
}
CU
  profile --device h100 --metrics global_reduction_requests,global_atomic_requests,shared_atomic_transactions --csv r.csv -arch=sm_90 r.cu >out 2>err || { cat err; return 1; }
  is r.csv pairs global_reduction_requests 1 && is r.csv pairs global_atomic_requests 0 && is r.csv pairs_used global_atomic_requests 1 &&
    is r.csv around global_reduction_requests 2 && is r.csv around global_atomic_requests 0 && is r.csv around shared_atomic_transactions 0 &&
    is r.csv around_used global_atomic_requests 1 && is r.csv around_used shared_atomic_transactions 0
}

# launch__occupancy_limit_shared_mem of an H100: THREADS BYTES:BLOCKS…, a kernel with so many bytes of dynamic shared memory.
case_shared_memory_limits_blocks_as_an_h100s_driver_splits_it() {
  cat >o.cu <<'CU'
__global__ void none(float* o) { if (!o) o[threadIdx.x] = 1; }
__global__ void k(float* o) { extern __shared__ float s[]; if (!o) s[threadIdx.x] = 1; }
int main() {
  float* o;
  cudaMalloc(&o, 4096);
  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10);
  for (int warps : {1, 8, 15, 16, 23, 24, 32}) none<<<1, 32 * warps>>>(o);
  for (int warps : {1, 3, 4, 7, 9, 16, 20, 24, 32})
    for (int bytes : {4, 1000, 2000, 4000, 7000, 10000, 20000, 40000, 60000}) k<<<1, 32 * warps, bytes>>>(o);
  return cudaDeviceSynchronize();
}
CU
  local limit=launch__occupancy_limit_shared_mem
  profile --device h100 --metrics $limit --csv o.csv o.cu >out 2>err || { cat err; return 1; }
  is o.csv none $limit "32 32 32 16 16 8 8" &&
    is o.csv k $limit "56 32 33 32 28 20 11 5 3 56 32 33 26 24 20 11 5 3 28 32 33 26 16 18 11 5 3 28 32 21 20 16 12 9 5 3 14 16 21 20 16 12 7 5 3 14 8 10 12 8 9 6 4 3 7 8 10 6 8 9 6 3 3 7 4 5 6 4 5 4 3 2 7 4 2 3 2 2 3 2 2"
}

# From constants and from a kernel's own arguments too: one store of 16 bytes for each part, as nvcc makes it.
case_structures_are_stored_whole_from_constants_and_arguments() {
  cat >s.cu <<'CU'
struct Row { float4 a; int b, c, d, e; };
__constant__ int4 quads[64];
__constant__ Row rows[3];
__global__ void chosen(int4* o, const int* k) { o[threadIdx.x] = quads[k[threadIdx.x] & 63]; }
__global__ void pick(Row* o) { o[threadIdx.x] = rows[threadIdx.x % 3]; }
__global__ void fill(Row* o, Row r) { o[threadIdx.x] = r; }
int main() {
  Row *o, r{{1, 2, 3, 4}, 5, 6, 7, 8}, back[32];
  int* k;
  cudaMalloc(&o, 4096);
  cudaMalloc(&k, 128);
  cudaMemset(k, 0, 128);
  cudaMemcpyToSymbol(rows, &r, sizeof r);
  chosen<<<1, 32>>>((int4*)o, k), pick<<<1, 32>>>(o), fill<<<1, 32>>>(o, r);
  cudaMemcpy(back, o, sizeof back, cudaMemcpyDeviceToHost);
  return cudaDeviceSynchronize() != cudaSuccess || back[31].a.w != 4 || back[31].e != 8;
}
CU
  profile --device h100 --metrics global_store_requests,gst_transactions --csv s.csv s.cu >out 2>err || { cat err; return 1; }
  is s.csv chosen global_store_requests 1 && is s.csv chosen gst_transactions 16 && is s.csv pick global_store_requests 2 && is s.csv pick gst_transactions 64 &&
    is s.csv fill global_store_requests 2 && is s.csv fill gst_transactions 64
}

# nvcc loads a byte where one is asked for, but for an index into words of shared memory; bytes as on an H100.
case_masked_words_are_loaded_as_nvcc_does() {
  cat >n.cu <<'CU'
__global__ void bins(const unsigned* k, int* o) {
  __shared__ int h[256];
  h[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&h[k[threadIdx.x] & 255], 1);
  __syncthreads();
  o[threadIdx.x] = h[threadIdx.x];
}
template <class T>
__global__ void thrown(const T* a, T* o, const unsigned* k) {
  __shared__ T s[256];
  s[k[threadIdx.x] & 255] = a[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x];
}
__global__ void low(const unsigned* k, int* o) { o[threadIdx.x] = k[threadIdx.x] & 255; }
__global__ void top(const unsigned* k, int* o) { o[threadIdx.x] = k[threadIdx.x] >> 24; }
int main() {
  unsigned* k;
  cudaMalloc(&k, 1 << 16);
  cudaMemset(k, 0, 1 << 16);
  auto* o = (int*)k + 1024;
  bins<<<1, 256>>>(k, o), thrown<<<1, 256>>>((char*)k, (char*)o, k), thrown<<<1, 256>>>((double*)k, (double*)o, k);
  low<<<1, 64>>>(k, o), top<<<1, 64>>>(k, o);
  return cudaDeviceSynchronize();
}
CU
  profile --device h100 --metrics gld_requested_bytes --csv n.csv n.cu >out 2>err || { cat err; return 1; }
  sed -i -E 's/"void ([a-z_]+)<[^(]*\(/"\1(/' n.csv
  is n.csv bins gld_requested_bytes 1024 && is n.csv thrown gld_requested_bytes "512 3072" && is n.csv low gld_requested_bytes 64 && is n.csv top gld_requested_bytes 64
}

# 24 passes on an H100: a warp whose lanes take both branches stores once.
case_short_branches_store_once() {
  cat >j.cu <<'CU'
__global__ void scans(int* out, const int* in, int n) {
  extern __shared__ int s[];
  const int t = threadIdx.x;
  int to = 0, from = 1;
  s[t] = t > 0 ? in[t - 1] : 0;
  __syncthreads();
  for (int d = 1; d < n; d *= 2) {
    to = 1 - to, from = 1 - to;
    if (t >= d) s[to * n + t] = s[from * n + t] + s[from * n + t - d];
    else s[to * n + t] = s[from * n + t];
    __syncthreads();
  }
  out[t] = s[to * n + t];
}
int main() {
  int* p;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  scans<<<1, 96, 768>>>(p, p + 512, 96);
  return cudaDeviceSynchronize();
}
CU
  profile --device h100 --metrics l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum --csv j.csv j.cu >out 2>err || { cat err; return 1; }
  is j.csv scans l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum 24
}

# Comments of examples say `//   METRIC of KERNEL: VALUES`.
case_examples_give_the_figures_their_comments_promise() {
  local file line metrics wrong=0 promises=0
  for file in $(grep -lE '^//   [a-z_]+ of [^:]+: [0-9]' "$root"/examples/*.cu); do
    metrics=$(sed -nE 's,^//   ([a-z_]+) of [^:]+: [0-9. ]+$,\1,p' "$file" | sort -u | paste -sd,)
    profile --metrics "$metrics" --csv e.csv "$file" >out 2>&1 || { cat out; return 1; }
    while IFS=$'\t' read -r metric kernel wanted; do
      promises=$((promises + 1))
      is e.csv "$kernel" "$metric" "$wanted" || wrong=1
    done < <(sed -nE 's,^//   ([a-z_]+) of ([^:]+): ([0-9. ]+)$,\1\t\2\t\3,p' "$file")
  done
  ((wrong == 0 && promises >= 20))
}

# edited STATEMENT: whole.json after it, of which r is the recording.
edited() { python3 -c 'import json, sys; r = json.load(open("whole.json")); exec(sys.argv[1]); json.dump(r, sys.stdout)' "$1"; }

# A report shows what the recording holds. Names in a recording from elsewhere open nothing, but in the folder that was given.
case_a_report_reads_no_other_files() {
  mkdir source && cp "$here/worked.cu" source && echo secret-of-mine >secret && profile --json whole.json source/worked.cu >out || return 1
  edited "del r['sources']; r['files'][0] = '$PWD/secret'" >crafted.json
  edited "del r['sources']; r['files'][0] = '$PWD/source/../secret'" >around.json
  edited "del r['sources']" >bare.json
  for file in crafted around; do
    "$warpbeam" report $file.json --html $file.html >out 2>&1 && "$warpbeam" report $file.json --sources source --html $file.html >out 2>&1 && ! grep -q secret-of-mine $file.html || return 1
  done
  "$warpbeam" report bare.json --html bare.html >out 2>&1 && grep -q 'holds no sources' out && ! grep -q 'cudaMalloc(' bare.html &&
    "$warpbeam" report bare.json --sources source --html full.html >out && grep -q 'cudaMalloc(' full.html &&
    "$warpbeam" report whole.json --html whole.html >out && grep -q 'cudaMalloc(' whole.html
}

# Recordings that are not as they should be are refused in a sentence, and what is unknown is let be.
case_damaged_recordings() {
  local change
  profile --json whole.json "$here/worked.cu" >out || return 1
  edited 'r["unknown"] = {"a": [[[[1]]]]}; r["launches"][0]["unknown"] = "x"' >more.json && "$warpbeam" report more.json >out || return 1
  for change in 'del r["launches"]' 'r["launches"][0]["grid"] = 3' 'r["launches"][0]["counts"][0][0] = 99' 'r["launches"][0]["lines"][0]["file"] = 9' 'r["functions"][0]["instructions"][0][1] = 99' \
    'r["sources"] = []' 'r["files"] = [3]' 'r["launches"][0]["metrics"]["x"] = "y"' 'r["device"] = None' 'r["launches"][0]["predicted"] = []' 'r["launches"][0]["counts"][0][0] = -1' 'r["count_fields"] = []'; do
    edited "$change" >damaged.json && ! "$warpbeam" report damaged.json >out 2>&1 && grep -q 'damaged.json is damaged: ' out || { echo "    $change"; cat out; return 1; }
  done
}

case_the_recording_does_not_depend_on_threads() {
  WARPBEAM_THREADS=1 profile --json one.json "$here/worked.cu" >out || return 1
  WARPBEAM_THREADS=3 profile --json three.json "$here/worked.cu" >out || return 1
  # Times are the host's.
  for file in one three; do sed -E 's/"(queued|began|ended)":[0-9]+//g' $file.json >$file.txt; done
  cmp one.txt three.txt
}

passed=0 failed=0 number=0
for name in $(declare -F | sed -n 's/^declare -f case_//p'); do
  [[ $name == *"$filter"* ]] || continue
  if [[ -n ${WARPBEAM_FAST:-} ]] && ((number++ % 3)); then continue; fi  # the fast tests take every third
  mkdir -p "$work/$name"
  if message=$(cd -- "$work/$name" && "case_$name" 2>&1); then
    passed=$((passed + 1))
    echo "ok   $name"
  else
    failed=$((failed + 1))
    echo "FAIL $name"
    printf '%s\n' "$message"
  fi
done
echo "$passed passed, $failed failed, 0 skipped"
((failed == 0))
