// Sparse systems in one call, orders and permutations of sparse matrices.
#include "libraries/cusolver/band.h"

namespace warpbeam::cusolver {

Pattern load_pattern(Memory* memory, int rows, int columns, int entries, int base, const int* first, const int* column) {
  Pattern out{rows, columns, std::vector<int>(static_cast<size_t>(rows) + 1), std::vector<int>(static_cast<size_t>(entries))};
  reads(memory, first, int64_t{rows} + 1);
  reads(memory, column, entries);
  for (int r = 0; r <= rows; ++r) {
    out.first[r] = first[r] - base;
    if (out.first[r] < (r ? out.first[r - 1] : 0) || out.first[r] > entries)
      throw std::out_of_range("the row pointers of a sparse matrix do not ascend to its number of entries");
  }
  for (int e = 0; e < entries; ++e) {
    out.column[e] = column[e] - base;
    if (out.column[e] < 0 || out.column[e] >= columns) throw std::out_of_range("a column of a sparse matrix is outside of it");
  }
  return out;
}

namespace {

// Who is connected with whom, whichever of the two entries is there.
std::vector<std::vector<int>> neighbours_of(const Pattern& a) {
  std::vector<std::vector<int>> out(static_cast<size_t>(a.rows));
  for (int row = 0; row < a.rows; ++row)
    for (int e = a.first[row]; e < a.first[row + 1]; ++e)
      if (a.column[e] != row) out[row].push_back(a.column[e]), out[a.column[e]].push_back(row);
  for (auto& list : out) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return out;
}

// Appends what is reached from `start`, level by level, thin rows first. Gives the row that was reached last.
int append_levels(const std::vector<std::vector<int>>& neighbours, int start, std::vector<char>& seen, std::vector<int>& order) {
  size_t next = order.size();
  order.push_back(start), seen[start] = 1;
  while (next < order.size()) {
    const size_t begin = order.size();
    for (int other : neighbours[order[next++]])
      if (!seen[other]) seen[other] = 1, order.push_back(other);
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin), order.end(),
              [&](int a, int b) { return neighbours[a].size() < neighbours[b].size(); });
  }
  return order.back();
}

}  // namespace

std::vector<int> narrow_order(const Pattern& a) {
  const auto neighbours = neighbours_of(a);
  std::vector<char> seen(static_cast<size_t>(a.rows));
  std::vector<int> order, trial;
  for (int row = 0; row < a.rows; ++row) {
    if (seen[row]) continue;
    // The far end of a far end is a good place to begin.
    int start = row;
    for (int round = 0; round < 2; ++round) {
      trial.clear();
      start = append_levels(neighbours, start, seen, trial);
      for (int reached : trial) seen[reached] = 0;
    }
    append_levels(neighbours, start, seen, order);
  }
  std::ranges::reverse(order);
  return order;
}

namespace {

cusolverStatus_t narrow_order(Call& call, int n, int entries, cusparseMatDescr_t descr, const int* first, const int* column, int* order) {
  const int base = base_of(call, descr, n, entries);
  call.require(order || n == 0);
  const std::vector<int> found = narrow_order(load_pattern(nullptr, n, n, entries, base, first, column));
  std::copy(found.begin(), found.end(), order);
  return CUSOLVER_STATUS_SUCCESS;
}

// Rows end where `ends` says: some formats leave room between rows.
cusolverStatus_t is_symmetric(Call& call, int m, int entries, cusparseMatDescr_t descr, const int* first, const int* ends,
                              const int* column, int* answer) {
  const int base = base_of(call, descr, m, entries);
  call.require(answer && (m == 0 || (first && ends && column)));
  std::vector<std::pair<int, int>> there, mirrored;
  for (int row = 0; row < m; ++row)
    for (int e = first[row] - base; e < ends[row] - base; ++e) {
      call.require(e >= 0 && e < entries);
      there.emplace_back(row, column[e] - base), mirrored.emplace_back(column[e] - base, row);
    }
  std::ranges::sort(there), std::ranges::sort(mirrored);
  *answer = there == mirrored;
  return CUSOLVER_STATUS_SUCCESS;
}

// B = A(p, q), in place; `map` says where the entries went.
cusolverStatus_t permute(Call& call, int m, int n, int entries, cusparseMatDescr_t descr, int* first, int* column, const int* p,
                         const int* q, int* map) {
  const int base = base_of(call, descr, m, entries);
  call.require(n >= 0 && p && q && map);
  const Pattern a = load_pattern(nullptr, m, n, entries, base, first, column);
  std::vector<int> place(static_cast<size_t>(n), -1);
  for (int j = 0; j < n; ++j) {
    call.require(q[j] >= 0 && q[j] < n);
    place[q[j]] = j;
  }
  for (int j = 0; j < n; ++j) call.require(place[j] >= 0);
  std::vector<int> new_map;
  for (int i = 0; i < m; ++i) {
    call.require(p[i] >= 0 && p[i] < m);
    std::vector<std::pair<int, int>> row;
    for (int e = a.first[p[i]]; e < a.first[p[i] + 1]; ++e) row.emplace_back(place[a.column[e]], e);
    std::ranges::sort(row);
    first[i] = static_cast<int>(new_map.size()) + base;
    for (const auto& [to, from] : row) {
      column[new_map.size()] = to + base;
      new_map.push_back(map[from]);
    }
  }
  first[m] = static_cast<int>(new_map.size()) + base;
  std::copy(new_map.begin(), new_map.end(), map);
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T, class R>
cusolverStatus_t solve_once(Call& call, int n, int entries, cusparseMatDescr_t descr, const T* value, const int* first, const int* column,
                            const T* b, R tolerance, int reorder, T* x, int* singularity, Method method, Place place) {
  const int base = base_of(call, descr, n, entries);
  call.require(singularity && reorder >= 0 && reorder <= 3 && !(tolerance < 0));
  auto found = std::make_shared<int>(-1);
  const cusolverStatus_t status = run_at(call, place, static_cast<size_t>(entries) * 64, [=](Memory* memory) {
    const BandFactor<Value<T>> factor(load(memory, n, entries, base, value, first, column), Value<T>{}, method);
    reads(memory, b, n), writes(memory, x, n);
    *found = factor.zero_pivot(tolerance);
    factor.solve(values(b), values(x));
  });
  if (status != CUSOLVER_STATUS_SUCCESS) return status;
  if (place == Place::device)
    if (const cusolverStatus_t waited = call.wait(); waited != CUSOLVER_STATUS_SUCCESS) return waited;
  *singularity = *found;
  return CUSOLVER_STATUS_SUCCESS;
}

// The inverse power method around mu0.
template <class V, class R>
void find_near(const Csr<V>& a, V mu0, const V* x0, int rounds, R tolerance, V* mu, V* x) {
  const int n = a.rows;
  const BandFactor<V> factor(a, mu0, Method::lu);
  std::vector<V> now(x0, x0 + n), next(static_cast<size_t>(n)), product(static_cast<size_t>(n));
  const auto normalise = [](std::vector<V>& v) {
    R sum = 0;
    for (const V& value : v) sum += std::norm(value);
    const R length = std::sqrt(sum);
    if (length > 0)
      for (V& value : v) value /= length;
  };
  normalise(now);
  V found = mu0;
  for (int round = 0; round < std::max(1, rounds); ++round) {
    next = now;
    factor.solve(now.data(), next.data());
    normalise(next), now = next;
    found = V{};
    R off = 0;
    for (int row = 0; row < n; ++row) {
      product[row] = V{};
      for (int e = a.first[row]; e < a.first[row + 1]; ++e) product[row] += a.value[e] * now[a.column[e]];
      found += conjugate_if(true, now[row]) * product[row];
    }
    for (int row = 0; row < n; ++row) off += std::norm(product[row] - found * now[row]);
    if (std::sqrt(off) < tolerance) break;
  }
  *mu = found;
  std::copy(now.begin(), now.end(), x);
}

template <class T, class R>
cusolverStatus_t near_eigenvalue(Call& call, int n, int entries, cusparseMatDescr_t descr, const T* value, const int* first,
                                 const int* column, T mu0, const T* x0, int rounds, R tolerance, T* mu, T* x, Place place) {
  const int base = base_of(call, descr, n, entries);
  call.require(mu && x0 && x);
  return run_at(call, place, static_cast<size_t>(entries) * 64, [=](Memory* memory) {
    const auto a = load(memory, n, entries, base, value, first, column);
    reads(memory, x0, n), writes(memory, x, n), writes(memory, mu, 1);
    find_near(a, *values(&mu0), values(x0), rounds, tolerance, values(mu), values(x));
  });
}

template <class T>
cusolverStatus_t solve_batch(Call& call, int m, int n, int entries, cusparseMatDescr_t descr, const T* value, const int* first,
                             const int* column, const T* b, T* x, int count, csrqrInfo_t info) {
  const int base = base_of(call, descr, m, entries);
  call.require(info && count >= 0);
  call.support(m == n);
  return call.submit(static_cast<size_t>(entries) * 64 * static_cast<size_t>(count), [=](Memory& memory) {
    for (int64_t k = 0; k < count; ++k) {
      const BandFactor<Value<T>> factor(load(&memory, n, entries, base, value + k * entries, first, column), Value<T>{}, Method::lu);
      reads(&memory, b + k * n, n), writes(&memory, x + k * n, n);
      factor.solve(values(b) + k * n, values(x) + k * n);
    }
  });
}

}  // namespace
}  // namespace warpbeam::cusolver

using namespace warpbeam::cusolver;

#define WB_CUSOLVER(name, parameters, ...) WB_DEFINE_CUSOLVER(cusolver##name, parameters, __VA_ARGS__)
#include "warpbeam/cusolver/sparse.inc"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))
WB_EXPORT cusolverStatus_t cusolverSpCreate(cusolverSpHandle_t* handle) {
  if (!handle) return CUSOLVER_STATUS_INVALID_VALUE;
  *handle = reinterpret_cast<cusolverSpHandle_t>(make_handle());
  return *handle ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_NOT_INITIALIZED;
}
WB_EXPORT cusolverStatus_t cusolverSpDestroy(cusolverSpHandle_t handle) {
  return destroy_handle(handle) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_NOT_INITIALIZED;
}
