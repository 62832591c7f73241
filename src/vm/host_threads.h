// Whether the host could still change memory that it shares with a device: not while each of its threads waits for one.
#pragma once

namespace warpbeam::vm {

// The name by which the fast engine's thread is known: its library shares no code with this one.
inline constexpr const char* kCompilingThread = "warpbeam-jit";

// While one lives, its thread is one of the runtime's own, which change nothing but what they were asked to.
class OwnThread {
 public:
  OwnThread();
  ~OwnThread();
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;
};

// While one lives, its thread, if it is the program's, waits for a device.
class AwaitsDevice {
 public:
  AwaitsDevice();
  ~AwaitsDevice();
  AwaitsDevice(const AwaitsDevice&) = delete;
  AwaitsDevice& operator=(const AwaitsDevice&) = delete;

 private:
  bool counts_;
};

// Is there a thread of the program that does not wait? Reads /proc: ask rarely.
bool host_may_act();

}  // namespace warpbeam::vm
