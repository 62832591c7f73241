#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <sstream>
#include <string_view>

#include "report/page.h"
#include "report/timeline.h"

namespace warpbeam::report {
namespace {

constexpr size_t kMostBytes = 2800 << 10;  // of data in a page
constexpr size_t kMostOperations = 3000;  // of a timeline in it

std::string text_of(const Json& recording) { return recording.dump(-1, ' ', false, Json::error_handler_t::replace); }

// JSON inside a script element: no "</script>" and no "<!--" may stand in it.
std::string safe(std::string text) {
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos; at += 6) text.replace(at, 1, "\\u003c");
  return text;
}

// What a metric's interval is told for: everything of "predicted" that has a value.
void leave_out_intervals(Json& launch) {
  if (!launch.contains("predicted")) return;
  Json& predicted = launch["predicted"];
  for (auto it = predicted.begin(); it != predicted.end();)
    if (it->is_object()) it = predicted.erase(it);
    else ++it;
}

// Leaves out what can be done without, from the last launches on, until the rest is short enough to open at once.
Json shortened(const Json& whole, size_t most) {
  size_t bytes = text_of(whole).size();
  if (bytes <= most) return whole;
  Json part = whole;
  for (const char* what : {"stalls", "counts", "intervals", "paths", "accesses", "lines"}) {
    for (size_t k = part["launches"].size(); k-- > 1 && bytes > most;) {
      Json& launch = part["launches"][k];
      if (std::string_view(what) == "intervals" && launch.contains("predicted")) {
        bytes -= text_of(launch["predicted"]).size();
        leave_out_intervals(launch);
        bytes += text_of(launch["predicted"]).size();
        continue;
      }
      if (!launch.contains(what)) continue;
      bytes -= text_of(launch[what]).size();
      launch[what] = Json::array();
    }
    if (bytes <= most) break;
  }
  while (bytes > most && part["timeline"].size() > 200) {
    for (size_t k = part["timeline"].size() / 2; k > 0; --k) part["timeline"].erase(part["timeline"].size() - 1);
    bytes = text_of(part).size();
  }
  while (bytes > most && part["launches"].size() > 1) {
    const size_t launches = part["launches"].size();
    const size_t kept =
        std::clamp<size_t>(static_cast<size_t>(static_cast<double>(launches * most) / static_cast<double>(bytes)), 1, launches - 1);
    while (part["launches"].size() > kept) part["launches"].erase(part["launches"].size() - 1);
    bytes = text_of(part).size();
  }
  part["shortened"] =
      fmt::format("The recording was too long for one page: details of later launches are left out ({} of {} launches are here).",
                  part["launches"].size(), whole["launches"].size());
  return part;
}

}  // namespace

namespace {

// A page within the page.
std::string page_of(const std::vector<Json>& timelines) {
  if (timelines.empty()) return "null";
  std::ostringstream page;
  write_timeline_page(page, timelines, kMostOperations);
  return safe(text_of(page.str()));
}

}  // namespace

void write_html(std::ostream& out, const Json& recording, const Json& second, const std::vector<Json>& timelines) {
  const std::string timeline = page_of(timelines);
  const size_t all = kMostBytes - std::min(timeline.size(), kMostBytes / 2), most = second.is_null() ? all : all / 2;
  std::string_view page = kPage;
  while (!page.empty()) {
    const size_t at = page.find('@');
    out << page.substr(0, at);
    if (at == page.npos) return;
    page.remove_prefix(at);
    auto place = [&](std::string_view name, auto&& fill) {
      if (!page.starts_with(name)) return false;
      page.remove_prefix(name.size());
      fill();
      return true;
    };
    if (place("@STYLE@", [&] { out << kStyle; }) || place("@SCRIPT@", [&] { out << kRules << kScript; }) ||
        place("@RECORDING@", [&] { out << safe(text_of(shortened(recording, most))); }) || place("@TIMELINE@", [&] { out << timeline; }) ||
        place("@SECOND@", [&] { out << (second.is_null() ? "null" : safe(text_of(shortened(second, most)))); }))
      continue;
    out << '@';
    page.remove_prefix(1);
  }
}

}  // namespace warpbeam::report
