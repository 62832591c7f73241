// The timeline's page: one document with its script, style and data inside.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "report/page.h"
#include "report/timeline.h"

namespace warpbeam::report {

namespace {

constexpr const char* kKinds[] = {"kernel", "copy",          "fill",     "record",
                                  "wait",   "host function", "internal", "library"};  // as the script has them

int64_t whole(const Json& row, const char* key) { return row.contains(key) ? row[key].get<int64_t>() : 0; }

// An operation as a row of numbers, those at the end left out while they are zero; the script has the columns' names.
Json row_of(const Json& o, Json& waits) {
  const auto kind = std::ranges::find(kKinds, o["kind"].get<std::string>());
  auto wait = std::ranges::find(waits, o["waited"]);
  if (wait == waits.end()) waits.push_back(o["waited"]), wait = waits.end() - 1;
  Json row = {whole(o, "id"),
              kind - std::begin(kKinds),
              whole(o, "name"),
              whole(o, "device"),
              whole(o, "stream"),
              whole(o, "call"),
              whole(o, "begin"),
              whole(o, "end"),
              wait - waits.begin(),
              whole(o, "behind"),
              whole(o, "bytes"),
              whole(o, "from"),
              whole(o, "to"),
              o.value("queue", -1),
              o.value("engine", -1),
              static_cast<int64_t>(o.value("share", 0.0) * 1000 + 0.5),
              whole(o, "memory_read"),
              whole(o, "memory_written"),
              o.contains("graph") ? 1 : 0};
  for (const char* three : {"grid", "block"})
    for (size_t k = 0; k < 3; ++k) row.push_back(o.contains(three) ? o[three][k].get<int64_t>() : 0);
  for (const char* key : {"registers", "static_shared", "dynamic_shared", "link_read", "link_written", "migrated", "populated", "parent"})
    row.push_back(whole(o, key));
  while (row.back() == 0) row.erase(row.size() - 1);
  return row;
}

Json first(const Json& rows, size_t most) {
  return rows.size() <= most ? rows : Json(std::vector<Json>(rows.begin(), rows.begin() + static_cast<long>(most)));
}

Json data_of(const std::vector<Json>& timelines, size_t room) {
  Json all = Json::array();
  for (const Json& t : timelines) {
    Json part = {{"program", process_name(t)},
                 {"process", t["process"]},
                 {"device", t["device"]},
                 {"words", t["words"]},
                 {"calls", first(t["calls"], 2 * room)},
                 {"ranges", first(t["ranges"], room)},
                 {"memory", first(t["memory"], room)}};
    Json waits = Json::array(), operations = Json::array();
    uint64_t left_out = t["left_out"].get<uint64_t>();
    for (const Json& o : t["operations"])
      if (room == 0) ++left_out;
      else operations.push_back(row_of(o, waits)), --room;
    part["left_out"] = left_out;
    part["waits"] = std::move(waits);
    part["operations"] = std::move(operations);
    all.push_back(std::move(part));
  }
  return all;
}

// JSON inside a script element: no "</script>" and no "<!--" may stand in it.
std::string safe(std::string text) {
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos; at += 6) text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace

void write_timeline_page(std::ostream& out, const std::vector<Json>& timelines, size_t most_operations) {
  std::string_view page = kTimelinePage;
  for (size_t at; (at = page.find('@')) != page.npos;) {
    out << page.substr(0, at);
    page.remove_prefix(at);
    if (page.starts_with("@STYLE@")) out << kStyle << kTimelineStyle;
    if (page.starts_with("@SCRIPT@")) out << kTimelineScript;
    if (page.starts_with("@RECORDING@"))
      out << safe(data_of(timelines, most_operations).dump(-1, ' ', false, Json::error_handler_t::replace));
    page.remove_prefix(page.find('@', 1) + 1);
  }
  out << page;
}

}  // namespace warpbeam::report
