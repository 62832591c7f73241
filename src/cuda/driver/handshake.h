// The runtime in a program asks the driver for 16 bytes when it starts and goes on only where they are what it expects.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace warpbeam::cuda::driver {

// What the answer is made of, as it lies in memory.
struct HandshakeFacts {
  uint32_t driver_version;
  uint32_t runtime_version;
  uint32_t process;
  uint32_t thread;
  const void* runtime_table;    // the tables' addresses, and that of the function which answers
  const void* handshake_table;
  const void* handshake_function;
  uint64_t seconds;  // the time that the runtime gave
};
static_assert(sizeof(HandshakeFacts) == 48);

struct HandshakeDevice {
  unsigned char uuid[16];
  int32_t pci_domain;
  int32_t pci_bus;
  int32_t pci_device;
};
static_assert(sizeof(HandshakeDevice) == 28);

std::array<uint64_t, 2> handshake_answer(const HandshakeFacts& facts, std::span<const HandshakeDevice> devices);

// RFC 1319.
std::array<unsigned char, 16> md2(std::initializer_list<std::string_view> parts);

}  // namespace warpbeam::cuda::driver
