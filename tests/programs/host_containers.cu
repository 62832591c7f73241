// The host's containers and algorithms with types that only the host can handle, beside a kernel: the device pass reads them too.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

struct Named {  // neither its moves nor its swap exist on the device
  std::string name;
  int rank = 0;
  std::unique_ptr<int> owned;
  Named(std::string n, int r) : name(std::move(n)), rank(r), owned(new int(r)) {}
  Named(Named&& other) : name(std::move(other.name)), rank(other.rank), owned(std::move(other.owned)) {}
  Named& operator=(Named&& other) {
    name = std::move(other.name), rank = other.rank, owned = std::move(other.owned);
    return *this;
  }
  bool operator<(const Named& other) const { return name < other.name; }
};
static int swaps = 0;
struct Swapped {
  std::string text;
};
void swap(Swapped& a, Swapped& b) {
  ++swaps;
  a.text.swap(b.text);
}

__global__ void twice(int* items, int n) {
  if (threadIdx.x < n) items[threadIdx.x] *= 2;
}

int main() {
  int wrong = 0;
  auto expect = [&](bool right, const char* what) {
    if (!right) wrong = std::printf("wrong: %s\n", what);
  };
  std::vector<std::string> words{"pear", "fig", "apple", "quince", "date"};
  std::sort(words.begin(), words.end());
  expect(words.front() == "apple" && words.back() == "quince", "sort of strings");
  std::stable_sort(words.begin(), words.end(), [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  expect(words.front() == "fig", "stable_sort of strings");
  std::reverse(words.begin(), words.end());
  std::rotate(words.begin(), words.begin() + 1, words.end());
  std::nth_element(words.begin(), words.begin() + 2, words.end());
  std::shuffle(words.begin(), words.end(), std::mt19937(1));
  std::next_permutation(words.begin(), words.end());
  words.erase(std::remove(words.begin(), words.end(), "fig"), words.end());
  expect(words.size() == 4 && std::accumulate(words.begin(), words.end(), std::string()).size() == 19, "strings that move about");

  std::vector<Named> named;
  for (int i = 0; i < 20; ++i) named.emplace_back("n" + std::to_string(i * 7 % 20), i);
  std::sort(named.begin(), named.end());
  std::make_heap(named.begin(), named.end());
  std::sort_heap(named.begin(), named.end());
  std::partition(named.begin(), named.end(), [](const Named& n) { return n.rank % 2; });
  std::swap(named[0], named[1]);
  expect(named.size() == 20 && *named[0].owned == named[0].rank, "objects of the host");

  std::vector<Swapped> texts{{"a"}, {"b"}, {"c"}};
  std::reverse(texts.begin(), texts.end());
  std::iter_swap(texts.begin(), texts.begin() + 1);
  expect(swaps == 2 && texts[0].text == "b", "a swap of the program's");

  std::priority_queue<std::pair<double, std::string>> queue;
  queue.push({2, "two"});
  queue.push({3, "three"});
  queue.pop();
  std::deque<std::tuple<std::string, int>> rows{{"x", 2}, {"w", 1}};
  std::sort(rows.begin(), rows.end());
  std::tuple<std::string, int> row;
  row = rows.front();
  std::pair<std::string, std::vector<int>> pair, other{"p", {1, 2}};
  pair = other;
  pair.swap(other);
  std::map<std::string, std::unique_ptr<int>> owned;
  owned["k"] = std::make_unique<int>(4);
  std::list<std::string> list(words.begin(), words.end());
  list.sort();
  std::vector<std::function<int()>> calls(3, [&] { return *owned["k"]; });
  std::swap(calls[0], calls[1]);
  expect(queue.top().second == "two" && std::get<1>(row) == 1 && calls[0]() == 4 && other.second.size() == 2, "containers");
  try {
    (void)words.at(10);
    expect(false, "at");
  } catch (const std::out_of_range&) {
  }

  int* items;
  cudaMallocManaged(&items, 4 * sizeof(int));
  std::iota(items, items + 4, 1);
  twice<<<1, 32>>>(items, 4);
  expect(cudaDeviceSynchronize() == cudaSuccess && items[3] == 8, "the kernel");
  std::puts(wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
