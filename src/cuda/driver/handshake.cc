// The answer is a keyed digest (RFC 2104's construction over RFC 1319's MD2) of the process, the time and the devices. The
// ZLUDA project has described it in public (dark_api/src/lib.rs); that it is these two is seen from its table.
#include "cuda/driver/handshake.h"

#include <cstring>
#include <string>

namespace warpbeam::cuda::driver {

namespace {

// RFC 1319's permutation, from the digits of pi.
constexpr unsigned char kPi[256] = {
    41,  46,  67,  201, 162, 216, 124, 1,   61,  54,  84,  161, 236, 240, 6,   19,  98,  167, 5,   243, 192, 199, 115, 140, 152, 147,
    43,  217, 188, 76,  130, 202, 30,  155, 87,  60,  253, 212, 224, 22,  103, 66,  111, 24,  138, 23,  229, 18,  190, 78,  196, 214,
    218, 158, 222, 73,  160, 251, 245, 142, 187, 47,  238, 122, 169, 104, 121, 145, 21,  178, 7,   63,  148, 194, 16,  137, 11,  34,
    95,  33,  128, 127, 93,  154, 90,  144, 50,  39,  53,  62,  204, 231, 191, 247, 151, 3,   255, 25,  48,  179, 72,  165, 181, 209,
    215, 94,  146, 42,  172, 86,  170, 198, 79,  184, 56,  210, 150, 164, 125, 182, 118, 252, 107, 226, 156, 116, 4,   241, 69,  157,
    112, 89,  100, 113, 135, 32,  134, 91,  207, 101, 230, 45,  168, 2,   27,  96,  37,  173, 174, 176, 185, 246, 28,  70,  97,  105,
    52,  64,  126, 15,  85,  71,  163, 35,  221, 81,  175, 58,  195, 92,  249, 206, 186, 197, 234, 38,  44,  83,  13,  110, 133, 40,
    132, 9,   211, 223, 205, 244, 65,  129, 77,  82,  106, 220, 55,  200, 108, 193, 171, 250, 36,  225, 123, 8,   12,  189, 177, 74,
    120, 136, 149, 139, 227, 99,  232, 109, 233, 203, 213, 254, 59,  0,   29,  57,  242, 239, 183, 14,  102, 88,  208, 228, 166, 119,
    114, 248, 235, 117, 75,  10,  49,  68,  80,  180, 143, 237, 31,  26,  219, 153, 141, 51,  159, 17,  131, 20};

class Md2 {
 public:
  void add(std::string_view bytes) {
    for (char byte : bytes) add(static_cast<unsigned char>(byte));
  }
  std::array<unsigned char, 16> finish() {
    const auto padding = static_cast<unsigned char>(16 - filled_);
    for (int i = 0; i < padding; ++i) add(padding);
    unsigned char checksum[16];
    std::memcpy(checksum, checksum_, sizeof checksum);
    for (unsigned char byte : checksum) add(byte);
    std::array<unsigned char, 16> digest;
    std::memcpy(digest.data(), state_, digest.size());
    return digest;
  }

 private:
  void add(unsigned char byte) {
    state_[16 + filled_] = byte;
    state_[32 + filled_] = state_[filled_] ^ byte;
    last_ = checksum_[filled_] ^= kPi[byte ^ last_];
    if (++filled_ < 16) return;
    filled_ = 0;
    unsigned char t = 0;
    for (unsigned round = 0; round < 18; ++round) {
      for (unsigned char& place : state_) t = place ^= kPi[t];
      t = static_cast<unsigned char>(t + round);
    }
  }
  unsigned char state_[48] = {}, checksum_[16] = {}, last_ = 0;
  size_t filled_ = 0;
};

template <class Object>
std::string_view bytes_of(const Object& object) {
  return {reinterpret_cast<const char*>(&object), sizeof object};
}

constexpr unsigned char kKey[16] = {0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52, 0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f};

std::string key_with(unsigned char pad) {
  std::string key;
  for (unsigned char byte : kKey) key += static_cast<char>(byte ^ pad);
  return key;
}

}  // namespace

std::array<unsigned char, 16> md2(std::initializer_list<std::string_view> parts) {
  Md2 digest;
  for (std::string_view part : parts) digest.add(part);
  return digest.finish();
}

std::array<uint64_t, 2> handshake_answer(const HandshakeFacts& facts, std::span<const HandshakeDevice> devices) {
  // Runtimes whose version ends so take an answer that does not change.
  if (facts.runtime_version % 10 == 0) return {0x3341181c03cb675c, 0x8ed383aa1f4cd1e8};
  if (facts.runtime_version % 10 == 1) return {0x1841181c03cb675c, 0x8ed383aa1f4cd1e8};
  const std::string_view of_devices(reinterpret_cast<const char*>(devices.data()), devices.size_bytes());
  const auto inner = md2({key_with(0x36), bytes_of(facts), of_devices});
  const auto outer = md2({key_with(0x5c), bytes_of(inner)});
  std::array<uint64_t, 2> answer;
  std::memcpy(answer.data(), outer.data(), outer.size());
  return answer;
}

}  // namespace warpbeam::cuda::driver
