// Order and overlap of operations on devices of several generations; no test looks at a time by itself.
#include "timing/device/device_model.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "model/link.h"
#include "timing/rates.h"

namespace warpbeam::timing::device {
namespace {

constexpr double kLong = 1e6;  // nanoseconds: much more than what lies between operations

class Machine {
 public:
  explicit Machine(const std::string& device, int connections = kUsualConnections)
      : model(*model::find_device(device), connections, [this](const Operation& o, const Times& t) { times[o.id] = t; }) {}

  uint64_t kernel(uint64_t stream, double share = 0.1, double nanoseconds = kLong, std::vector<uint64_t> after = {}) {
    Operation o;
    o.kind = Kind::Kernel;
    o.at_once = 1000;
    o.blocks = static_cast<uint64_t>(share * 1000);
    o.nanoseconds = nanoseconds;
    return submit(o, stream, std::move(after));
  }
  uint64_t copy(uint64_t stream, Way way, double nanoseconds = kLong) {
    Operation o;
    o.kind = Kind::Copy;
    o.way = way;
    o.nanoseconds = nanoseconds;
    return submit(o, stream, {});
  }
  uint64_t mark(uint64_t stream, Kind kind, std::vector<uint64_t> after = {}) {
    Operation o;
    o.kind = kind;
    return submit(o, stream, std::move(after));
  }
  uint64_t submit(Operation o, uint64_t stream, std::vector<uint64_t> after) {
    o.id = ++last_id;
    o.stream = stream;
    o.priority = priority;
    o.submitted = host += 10;
    o.after = std::move(after);
    if (uint64_t& before = in_stream[stream]) o.after.push_back(before);
    in_stream[stream] = o.id;
    model.submit(std::move(o));
    return last_id;
  }
  void run() {
    for (uint64_t id = 1; id <= last_id; ++id) EXPECT_TRUE(model.finish(id).has_value()) << id;
  }
  bool overlap(uint64_t a, uint64_t b) const {
    return times.at(a).begin < times.at(b).end - kLong / 2 && times.at(b).begin < times.at(a).end - kLong / 2;
  }
  bool follows(uint64_t a, uint64_t b) const { return times.at(b).begin >= times.at(a).end; }

  std::map<uint64_t, Times> times;
  std::map<uint64_t, uint64_t> in_stream;
  uint64_t last_id = 0;
  double host = 0;
  int priority = 0;
  DeviceModel model;
};

constexpr int kStreams = 4, kKernels = 4;

// Streams of kernels that depend on each other, issued one stream after the other.
std::vector<std::vector<uint64_t>> depth_first(Machine& m, int streams = kStreams) {
  std::vector<std::vector<uint64_t>> ids(static_cast<size_t>(streams));
  for (size_t s = 0; s < ids.size(); ++s)
    for (int k = 0; k < kKernels; ++k) ids[s].push_back(m.kernel(s + 1));
  m.run();
  return ids;
}

std::vector<std::vector<uint64_t>> breadth_first(Machine& m) {
  std::vector<std::vector<uint64_t>> ids(kStreams);
  for (int k = 0; k < kKernels; ++k)
    for (size_t s = 0; s < ids.size(); ++s) ids[s].push_back(m.kernel(s + 1));
  m.run();
  return ids;
}

TEST(DeviceModel, FermiDepthFirstOverlapsOnlyWhereStreamsMeet) {
  for (const char* device : {"c2050", "m2090"}) {
    Machine m(device);
    auto ids = depth_first(m);
    for (size_t s = 0; s + 1 < ids.size(); ++s) {
      EXPECT_TRUE(m.overlap(ids[s].back(), ids[s + 1].front())) << device;
      EXPECT_TRUE(m.follows(ids[s][kKernels - 2], ids[s + 1].front())) << device;
    }
    EXPECT_TRUE(m.follows(ids[0].back(), ids[2].front())) << device;
  }
}

TEST(DeviceModel, FermiBreadthFirstOverlapsAllStreams) {
  Machine m("m2090");
  auto ids = breadth_first(m);
  for (int k = 0; k < kKernels; ++k)
    for (size_t s = 1; s < ids.size(); ++s) EXPECT_TRUE(m.overlap(ids[0][k], ids[s][k]));
}

TEST(DeviceModel, HyperQOverlapsAllStreamsInEitherOrder) {
  for (const char* device : {"k40", "h100", "h200"})
    for (auto issue : {depth_first, +[](Machine& m, int) { return breadth_first(m); }}) {
      Machine m(device);
      auto ids = issue(m, kStreams);
      for (int k = 0; k < kKernels; ++k)
        for (size_t s = 1; s < ids.size(); ++s) EXPECT_TRUE(m.overlap(ids[0][k], ids[s][k])) << device;
    }
}

TEST(DeviceModel, StreamsThatShareAConnectionWaitForEachOther) {
  Machine m("k40", 4);
  auto ids = depth_first(m, 8);
  EXPECT_TRUE(m.overlap(ids[0].front(), ids[3].front()));
  EXPECT_TRUE(m.follows(ids[0][kKernels - 2], ids[4].front()));
  EXPECT_EQ(m.times.at(ids[4].front()).waited, Waited::Queue);
  Machine wide("k40", 32);
  ids = depth_first(wide, 8);
  EXPECT_TRUE(wide.overlap(ids[0].front(), ids[7].front()));
}

TEST(DeviceModel, OneKernelAtATimeBeforeFermi) {
  for (const char* device : {"8800gtx", "gtx280"}) {
    Machine m(device);
    const uint64_t a = m.kernel(1), b = m.kernel(2);
    m.run();
    EXPECT_TRUE(m.follows(a, b)) << device;
  }
}

TEST(DeviceModel, CopiesNeedAnEngineToOverlap) {
  {
    Machine none("8800gtx");
    const uint64_t kernel = none.kernel(1), copy = none.copy(2, Way::ToDevice);
    none.run();
    EXPECT_TRUE(none.follows(kernel, copy));
  }
  {
    Machine one("gtx680");
    const uint64_t kernel = one.kernel(1), there = one.copy(2, Way::ToDevice), back = one.copy(3, Way::ToHost);
    one.run();
    EXPECT_TRUE(one.overlap(kernel, there));
    EXPECT_TRUE(one.follows(there, back));
    EXPECT_EQ(one.times.at(back).waited, Waited::Engine);
  }
  for (const char* device : {"c2050", "k40", "h100"}) {
    Machine two(device);
    const uint64_t there = two.copy(2, Way::ToDevice), back = two.copy(3, Way::ToHost), again = two.copy(4, Way::ToDevice);
    two.run();
    EXPECT_TRUE(two.overlap(there, back)) << device;
    EXPECT_TRUE(two.follows(there, again)) << device;
  }
}

// Chunks of copy, kernel, copy. On Fermi a stream's copy back stands in no kernel's way, as it has a queue of its own.
TEST(DeviceModel, ACopyEngineTakesWhatAStreamHasBeforeItGoesOn) {
  Machine m("h200");
  std::vector<uint64_t> first, second;
  for (int k = 0; k < 5; ++k) {
    first.push_back(m.copy(1, Way::ToDevice));
    second.push_back(m.copy(2, Way::ToDevice));
  }
  m.run();
  EXPECT_TRUE(m.follows(first[1], second[0]));
  EXPECT_TRUE(m.follows(second[0], first[4]));  // it does not stay for ever
}

TEST(DeviceModel, ChunksOverlapCopiesWithKernels) {
  for (const char* device : {"c2050", "k40", "h200"}) {
    Machine m(device);
    std::vector<std::array<uint64_t, 3>> chunks;
    for (uint64_t s = 1; s <= 4; ++s) chunks.push_back({m.copy(s, Way::ToDevice), m.kernel(s, 1), m.copy(s, Way::ToHost)});
    m.run();
    for (size_t c = 0; c + 1 < chunks.size(); ++c) {
      EXPECT_TRUE(m.overlap(chunks[c][1], chunks[c + 1][0])) << device;
      EXPECT_TRUE(m.follows(chunks[c][0], chunks[c][1])) << device;
      EXPECT_TRUE(m.follows(chunks[c][1], chunks[c][2])) << device;
    }
    EXPECT_TRUE(m.overlap(chunks[0][2], chunks[1][1])) << device;
  }
}

TEST(DeviceModel, LargeKernelsTakeTurnsAndTheNextBeginsInTheLastWave) {
  Machine m("h100");
  const uint64_t large = m.kernel(1, 2.5), other = m.kernel(2, 1);
  m.run();
  EXPECT_LT(m.times[other].begin, m.times[large].end);
  EXPECT_GT(m.times[other].begin, m.times[large].begin + kLong / 2);
  EXPECT_EQ(m.times[other].waited, Waited::Multiprocessors);
}

TEST(DeviceModel, WhatWaitedForRoomHasBeenLaunchedMeanwhile) {
  Machine m("h100");
  const uint64_t first = m.kernel(1, 1), second = m.kernel(2, 1);
  m.run();
  EXPECT_LT(m.times[second].end - m.times[second].begin, m.times[first].end - m.times[first].begin);
}

TEST(DeviceModel, KernelsOfAGraphTakeALeastTime) {
  Machine m("h100");
  Operation o;
  o.kind = Kind::Kernel;
  o.in_graph = true;
  o.at_once = 1000;
  o.nanoseconds = 10;
  const uint64_t first = m.submit(o, 1, {}), second = m.submit(o, 1, {});
  m.run();
  EXPECT_GE(m.times[second].end - m.times[first].begin, o.nanoseconds);
  EXPECT_GT(m.times[second].end - m.times[second].begin, 0);
}

// What a kernel takes by itself before it does anything is another number on each card; what is left of it in a graph is not.
TEST(DeviceModel, AKernelOfAGraphThatDoesNothingTakesAsLongOnAllCards) {
  for (const char* device : {"h100", "h200"}) {
    Machine m(device);
    const model::Device& card = *model::find_device(device);
    Operation o;
    o.kind = Kind::Kernel;
    o.in_graph = true;
    o.at_once = 1000;
    o.nanoseconds = rates_of(card).launch_ns;
    m.submit(o, 1, {});
    const uint64_t second = m.submit(o, 1, {});
    m.run();
    EXPECT_NEAR(m.times[second].end - m.times[second].begin, model::link_of(card).ready_launch, 1) << device;
  }
}

TEST(DeviceModel, ItSaysWhichQueueAndEngine) {
  Machine m("h100");
  const uint64_t kernel = m.kernel(1), other = m.kernel(2), up = m.copy(1, Way::ToDevice), down = m.copy(2, Way::ToHost);
  m.run();
  EXPECT_NE(m.times[kernel].queue, m.times[other].queue);
  EXPECT_EQ(m.times[up].queue, -1) << "since Hyper-Q copies come through queues of their own";
  EXPECT_EQ(m.times[kernel].engine, -1);
  EXPECT_NE(m.times[up].engine, m.times[down].engine);
}

TEST(DeviceModel, SmallKernelsShareTheDevice) {
  Machine m("h100", 32);
  std::vector<uint64_t> ids;
  for (uint64_t s = 1; s <= 16; ++s) ids.push_back(m.kernel(s, 1.0 / 8));
  m.run();
  EXPECT_TRUE(m.overlap(ids[0], ids[7]));
  EXPECT_TRUE(m.follows(ids[0], ids[8]));
}

TEST(DeviceModel, MemoryIsShared) {
  const auto with = [](double share) {
    Machine m("h100");
    for (uint64_t s = 1; s <= 2; ++s) {
      Operation o;
      o.kind = Kind::Kernel;
      o.at_once = 100, o.blocks = 50, o.nanoseconds = kLong, o.memory_share = share;
      m.submit(o, s, {});
    }
    m.run();
    return m.times[2].end;
  };
  EXPECT_LT(with(0.3), 1.2 * kLong);
  EXPECT_GT(with(0.9), 1.6 * kLong);
}

TEST(DeviceModel, TheUrgentComeFirst) {
  Machine m("h100");
  m.kernel(1, 1);
  const uint64_t plain = m.kernel(2, 1);
  m.priority = -5;
  const uint64_t urgent = m.kernel(3, 1);
  m.run();
  EXPECT_LT(m.times[urgent].end, m.times[plain].begin + kLong / 2);
}

// Blocks that run come to their end: of a kernel of many waves some soon do, of one that has only one wave all do at its end.
TEST(DeviceModel, TheUrgentWaitForBlocksThatRun) {
  for (const double waves : {1.0, 20.0}) {
    Machine m("h100");
    const uint64_t plain = m.kernel(1, waves);
    m.model.advance(kLong / 3);
    m.host = kLong / 3;
    m.priority = -5;
    const uint64_t urgent = m.kernel(2, 0.5, kLong / 10);
    m.run();
    if (waves == 1) EXPECT_TRUE(m.follows(plain, urgent));
    else EXPECT_LT(m.times[urgent].end, kLong / 2);
  }
}

// All of a wave's blocks are over at one time: what is urgent comes between two waves, and what remains of the other kernel after it.
TEST(DeviceModel, TheUrgentComeBetweenWaves) {
  Machine m("h100");
  const uint64_t plain = m.kernel(1, 2);
  m.model.advance(kLong / 10);
  m.host = kLong / 10;
  m.priority = -5;
  const uint64_t urgent = m.kernel(2, 1, kLong / 2);
  m.run();
  EXPECT_NEAR(m.times[urgent].begin, kLong / 2, kLong / 50);
  EXPECT_GT(m.times[plain].end, 1.4 * kLong);
}

TEST(DeviceModel, HostFunctionsInARowDoNotWakeTheirThreadEachTime) {
  Machine m("h100");
  for (int k = 0; k < 20; ++k) m.mark(1, Kind::HostFunction);
  m.run();
  const double each = (m.times[20].end - m.times[1].end) / 19;
  EXPECT_GT(each, 0);
  EXPECT_LT(each, model::link_of(*model::find_device("h100")).host_function);
}

TEST(DeviceModel, WhatTheProcessorHandsOverNeedsNoCopyEngine) {
  Machine m("h100");
  const uint64_t large = m.copy(1, Way::ToDevice);
  Operation o;
  o.kind = Kind::Copy;
  o.nanoseconds = kLong / 100;
  o.by_hand = true;
  const uint64_t small = m.submit(o, 2, {}), behind = m.submit(o, 1, {});
  m.run();
  EXPECT_LT(m.times[small].end, kLong / 10);
  EXPECT_TRUE(m.follows(large, behind)) << "in a stream one comes after the other";
}

TEST(DeviceModel, WaitsForEventsOfOtherStreams) {
  for (const char* device : {"m2090", "k40", "h200"}) {
    Machine m(device);
    const uint64_t first = m.kernel(1), event = m.mark(1, Kind::Record);
    m.mark(2, Kind::Mark, {event});
    const uint64_t second = m.kernel(2), third = m.kernel(1);
    m.run();
    EXPECT_TRUE(m.follows(first, second)) << device;
    EXPECT_TRUE(m.overlap(second, third)) << device;
  }
}

TEST(DeviceModel, DurationsMayComeLater) {
  Machine m("h100");
  const uint64_t kernel = m.kernel(1, 1, kUnknown), after = m.kernel(1), beside = m.copy(2, Way::ToDevice);
  EXPECT_EQ(m.model.finish(after), std::nullopt);
  EXPECT_TRUE(m.model.is_done(beside));
  m.model.set_duration(kernel, kLong);
  m.run();
  EXPECT_TRUE(m.follows(kernel, after));
}

TEST(DeviceModel, WhatIsAskedForAgainIsTheSame) {
  std::map<uint64_t, Times> first;
  for (int round = 0; round < 2; ++round) {
    Machine m("k40");
    depth_first(m, 6);
    if (round == 0) first = m.times;
    else
      for (const auto& [id, t] : m.times) EXPECT_EQ(t.end, first[id].end);
  }
}

// Looking at the clock in between changes nothing.
TEST(DeviceModel, StepsDoNotMatter) {
  Machine whole("h100"), steps("h100");
  for (Machine* m : {&whole, &steps})
    for (uint64_t s = 1; s <= 5; ++s)
      for (int k = 0; k < 3; ++k) {
        m->copy(s, Way::ToDevice);
        m->kernel(s, 0.7);
      }
  for (int k = 1; k < 1000; ++k) steps.model.advance(k * kLong / 50);
  whole.run();
  steps.run();
  for (const auto& [id, t] : whole.times) EXPECT_NEAR(t.end, steps.times[id].end, 1) << id;
}

// Two contexts take turns: while another process wants the multiprocessors, a kernel goes half as fast.
TEST(DeviceModel, OtherProcessesHaveTheirPart) {
  Machine alone("h200"), beside("h200");
  beside.model.share_with({{{0, kLong}}, {}, {}});
  const uint64_t a = alone.kernel(1), b = beside.kernel(1), up = beside.copy(2, Way::ToDevice), down = alone.copy(2, Way::ToDevice);
  alone.run(), beside.run();
  const auto took = [](const Machine& on, uint64_t id) { return on.times.at(id).end - on.times.at(id).begin; };
  EXPECT_GT(took(beside, b), took(alone, a) + kLong / 3);
  EXPECT_LT(took(beside, b), 2 * took(alone, a));
  EXPECT_EQ(took(beside, up), took(alone, down)) << "nobody else uses the link";
}

}  // namespace
}  // namespace warpbeam::timing::device
