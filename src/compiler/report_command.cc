// `warpbeam report`: the page of a recording, or of two to compare.
#include <fmt/format.h>

#include <ostream>

#include "compiler/commands.h"
#include "report/html.h"

namespace warpbeam::compiler {
namespace {

constexpr std::string_view kHelp = R"(Usage: warpbeam report FILE.json [OTHER.json] [--html FILE] [--sources FOLDER]

Makes the HTML report of a recording that `warpbeam profile --json` wrote; with a second recording, to compare them.

  --html FILE       where to; default: the first file's name with .html. - is standard output
  --sources FOLDER  for recordings that do not hold their sources: these, where they lie in the folder
)";

}  // namespace

int report_command(const Arguments& arguments) {
  auto fail = [](const std::string& message) {
    fmt::print(stderr, "warpbeam report: {}\n", message);
    return 1;
  };
  Arguments files;
  std::string html, folder;
  for (size_t at = 0; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (word == "-h" || word == "--help") {
      fmt::print("{}", kHelp);
      return 0;
    }
    if (word == "--html" && at + 1 < arguments.size()) html = arguments[++at];
    else if (word.starts_with("--html=")) html = word.substr(7);
    else if (word == "--sources" && at + 1 < arguments.size()) folder = arguments[++at];
    else if (word.starts_with("--sources=")) folder = word.substr(10);
    else if (word.starts_with("-") && word != "-") return fail(fmt::format("unknown option '{}'", word));
    else files.push_back(word);
  }
  if (files.empty() || files.size() > 2) return fail("one recording is needed, or two (`warpbeam report --help`)");
  std::vector<report::Json> recordings;
  for (const std::string& file : files) {
    auto recording = report::read_recording(file);
    if (!recording) return fail(recording.error().message);
    if (!recording->contains("sources")) {
      if (folder.empty()) fmt::print(stderr, "warpbeam report: {} holds no sources; --sources FOLDER shows those that lie there\n", file);
      report::embed_sources_under(*recording, folder);
    }
    recordings.push_back(std::move(*recording));
  }
  if (html.empty()) html = (files[0].ends_with(".json") ? files[0].substr(0, files[0].size() - 5) : files[0]) + ".html";
  auto done = write_to(
      html, [&](std::ostream& out) { report::write_html(out, recordings[0], recordings.size() > 1 ? recordings[1] : report::Json()); });
  if (!done) return fail(done.error().message);
  if (html != "-") fmt::print("{}\n", html);
  return 0;
}

}  // namespace warpbeam::compiler
