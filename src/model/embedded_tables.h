// The JSON tables as text, written at build time by embed_tables.cmake.
#pragma once
#include <span>
#include <string_view>

namespace warpbeam::model {

struct EmbeddedTable {
  std::string_view key;  // the file's name without ".json"
  std::string_view text;
};

extern const std::string_view kCapabilityTable;
extern const std::string_view kLinkTable;  // link.h
extern const std::span<const EmbeddedTable> kDeviceTables;
extern const std::span<const EmbeddedTable> kTimingTables;  // timing.h

}  // namespace warpbeam::model
