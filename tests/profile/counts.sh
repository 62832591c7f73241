# shellcheck shell=bash
# What is counted, and of which launches.

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
