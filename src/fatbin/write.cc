#include "fatbin/write.h"

#include "fatbin/format.h"

namespace warpbeam::fatbin {

namespace {

template <class T>
void append_bytes(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::string write(const std::vector<Text>& texts) {
  std::string body;
  for (const auto& text : texts) {
    EntryHeader header{};
    header.kind = kPtx;
    header.version = 0x0101;
    header.header_size = sizeof header;
    header.size = (text.ptx.size() + 1 + 7) / 8 * 8;
    // The PTX version stands here in the vendor's containers.
    header.ptx_major = 8;
    header.ptx_minor = 5;
    header.cc = text.cc;
    header.flags = k64Bit | kLinux;
    append_bytes(body, header);
    body += text.ptx;
    body.append(header.size - text.ptx.size(), '\0');
  }
  std::string bytes;
  append_bytes(bytes, ContainerHeader{kMagic, 1, sizeof(ContainerHeader), body.size()});
  return bytes + body;
}

}  // namespace warpbeam::fatbin
