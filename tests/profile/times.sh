# shellcheck shell=bash
# Times that are predicted for a launch, and what belongs to them.

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

# A kernel is over when what it launched is, as ncu has it.
case_what_a_kernel_launches_counts_as_its_time() {
  cat >nested.cu <<'CU'
__global__ void child(float* p) { p[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void parent(float* p, int children) {
  if (threadIdx.x < children) child<<<64, 256>>>(p);
}
int main() {
  float* p;
  cudaMalloc(&p, 64 * 256 * 4);
  parent<<<1, 32>>>(p, 0);
  parent<<<1, 32>>>(p, 16);
  return cudaDeviceSynchronize();
}
CU
  profile --device h200 --metrics gpu__time_duration.sum --csv t.csv nested.cu >out 2>err || { cat err; return 1; }
  awk -F'","' '{ gsub(/^"|"$/, "") } /parent/ { t[++n] = $5 } /child/ { children++ } END { exit n != 2 || children != 16 || t[2] < 10 * t[1] || t[2] < 30000 }' t.csv || { cat t.csv; return 1; }
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
