// What a device is asked to do, and when it did it. Times are nanoseconds on the program's clock.
#pragma once
#include <cstdint>
#include <vector>

namespace warpbeam::timing::device {

enum class Kind : uint8_t {
  Kernel,
  Memory,        // a copy or fill within the device: it uses its memory only
  Copy,          // over the link
  Record,        // of an event: the moment after what it follows
  Mark,          // a wait, or what takes no time
  HostFunction,
};

enum class Way : uint8_t { ToDevice, ToHost, Peer };

inline constexpr double kUnknown = -1;

struct Operation {
  uint64_t id = 0;            // not given twice; 0 is none
  Kind kind = Kind::Mark;
  uint64_t stream = 0;
  int priority = 0;           // the least is the most urgent
  double submitted = 0;       // when the device has heard of it
  std::vector<uint64_t> after;
  bool in_graph = false;
  double nanoseconds = 0;     // that it takes with the device to itself; kUnknown: not known yet
  // Kernel
  uint64_t blocks = 1;
  uint64_t at_once = 1;       // blocks that the whole device holds
  double memory_share = 0;    // of the memory's speed that it uses with the device to itself; Memory too
  // Copy
  Way way = Way::ToDevice;
  bool by_hand = false;       // the processor hands it over: no copy engine has to do with it
  bool in_commands = false;   // its bytes are among the commands: to what it stands between it is one more of them
};

// Why something did not begin earlier.
enum class Waited : uint8_t {
  Host,             // it was asked for only then
  Stream,           // for what is before it in its stream
  OtherStream,      // for an event, the default stream, or an edge of a graph
  Queue,            // it could have begun, but shares its hardware queue with what could not: a false dependency
  Engine,           // for the copy engine
  Multiprocessors,  // other kernels filled them
  Front,            // the device begins one kernel after the other
};

struct Times {
  double begin = kUnknown, end = kUnknown;
  Waited waited = Waited::Host;
  uint64_t behind = 0;  // the operation that it waited for, if it was one
  int queue = -1;       // hardware queue that it came through; copy engine that it took
  int engine = -1;
};

}  // namespace warpbeam::timing::device
