#include "formats.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "compiler/options.h"
#include "fatbin/contents.h"
#include "fatbin/format.h"
#include "fatbin/linked.h"
#include "fatbin/unpack.h"
#include "fatbin/write.h"
#include "report/check_report.h"
#include "report/details.h"
#include "report/html.h"
#include "report/recording.h"
#include "report/select.h"
#include "report/source.h"

namespace warpbeam::fuzz {
namespace {

// A file that holds the bytes; one for the process.
std::string file_of(std::string_view bytes) {
  static const std::string name = [] {
    const char* folder = std::getenv("TEST_TMPDIR");
    return std::string(folder ? folder : "/tmp") + "/warpbeam-fuzz-" + std::to_string(getpid());
  }();
  std::ofstream(name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return name;
}

bool read_fat_binary(std::string_view bytes) {
  auto all = fatbin::read_section(bytes);
  if (!all) return false;
  bool taken = true;
  for (const auto& contents : *all) {
    (void)fatbin::best_ptx(contents, 90);
    for (const auto& ptx : contents.ptx) taken = bool(fatbin::text_of(ptx)) && taken;
  }
  return taken;
}

// A container of one compressed entry, with the bytes of the compression alone free.
std::string container_of(uint64_t flags, std::string_view packed, uint64_t unpacked) {
  fatbin::EntryHeader entry{};
  entry.kind = fatbin::kPtx;
  entry.header_size = sizeof entry;
  entry.size = entry.compressed_size = static_cast<uint32_t>(packed.size());
  entry.cc = 70;
  entry.flags = flags;
  entry.uncompressed_size = unpacked;
  const fatbin::ContainerHeader head{fatbin::kMagic, 1, sizeof head, sizeof entry + packed.size()};
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + std::string(reinterpret_cast<const char*>(&entry), sizeof entry) +
         std::string(packed);
}

// Eleven characters, and a match of 20 that overlaps what it writes.
const std::string kLz4 = std::string("\xb1") + "hello world" + std::string("\x0b\x00", 2) + "\x50" + "tail.";
// Of "hello, hello, hello, hello, hello world".
const std::string kZstd("\x28\xb5\x2f\xfd\x20\x27\x9d\x00\x00\x68\x68\x65\x6c\x6c\x6f\x2c\x20\x20\x77\x6f\x72\x6c\x64\x01\x00\xb2\x8b\x11",
                        28);

std::vector<std::string> fat_binaries() {
  return {fatbin::write({{70, ".version 8.5\n.target sm_70\n"}, {90, ".version 8.5\n"}}), container_of(fatbin::kLz4, kLz4, 21),
          container_of(fatbin::kZstd, kZstd, 39)};
}

bool read_linked(std::string_view bytes) {
  if (bytes.size() < 8 || !fatbin::is_linked(bytes.data()) || !fatbin::linked_fits(bytes)) return false;
  size_t characters = 0;
  for (const std::string& text : fatbin::unpack_linked(bytes.data())) characters += text.size();
  if (characters > bytes.size()) std::abort();
  return true;
}

std::vector<std::string> linked() { return {fatbin::pack_linked({".version 8.5\n", "", "two"}), fatbin::pack_linked({})}; }

bool read_recording(std::string_view bytes) {
  auto recording = report::read_recording(file_of(bytes));
  if (!recording) return false;
  if (!recording->contains("sources")) report::embed_sources_under(*recording, "");
  std::ostringstream out;
  std::vector<std::string> unknown;
  auto columns = report::select_metrics((*recording)["metrics"], "", "full", unknown);
  if (columns) report::print_details(out, *recording, *columns), report::print_csv(out, *recording, *columns);
  for (const auto listing : {report::Listing::Source, report::Listing::Ptx})
    report::print_source(out, *recording, listing), report::print_source_csv(out, *recording, listing);
  report::write_html(out, *recording, report::Json());
  return true;
}

std::vector<std::string> recordings() {
  return {
      R"json({"format":"warpbeam profile","version":1,"basis":"b","device":{"name":"H","major":9,"minor":0,"multiprocessors":132,"clock_mhz":1830.0,"max_warps":64,"partitions":4},
"files":["/a.cu"],"sources":["int a;\n"],"functions":[{"name":"k","symbol":"k","instructions":[[3,0,1,"ret"],[4,-1,0,"exit"]]}],
"metrics":[{"name":"a.sum","nvprof":"a","unit":"inst","class":"F","set":"basic","reason":""},{"name":"t","nvprof":"","unit":"ns","class":"T","set":"full"}],
"count_fields":["function","instruction","executed"],
"launches":[{"id":0,"kernel":"k","grid":[1,1,1],"block":[32,1,1],"registers_from":"estimate","occupancy":{"resident_blocks":1,"resident_warps":1,"limited_by":["blocks"]},
"metrics":{"a.sum":4,"t":2.5},"predicted":{"ns":3000.0,"low":2.0,"high":4.0,"bound":"l","bound_by":"latency","t":{"low":1,"high":2},"stalls":[{"name":"wait","about":"w","percent":50,"lines":[{"file":0,"line":1,"percent":9}]}]},
"lines":[{"file":0,"line":1,"executed":1,"stalls":{"wait":3}},{"file":-1,"line":0,"executed":1}],"counts":[[0,0,1],[0,1,1]],"stalls":[[0,0,{"wait":2}]],"accesses":[[0,1]],"paths":[{"block":0,"warp":0,"steps":[[0,0,1,1]]}]}],
"timeline":[{"operation":0}]})json"};
}

bool read_findings(std::string_view bytes) {
  report::CheckReport report;
  if (!report.read(file_of(bytes))) return false;
  report.fold();
  (void)report.text(), (void)report.json();
  return true;
}

std::vector<std::string> findings() {
  return {
      R"json({"notes":{"leaks":"none"},"frees":["a.cu:3"],"findings":[{"check":"race","kind":"race_raw","title":"t","kernel":"k<3>(int*)","mend":"m","severity":"warning","count":2,
"locations":["a.cu:3","a.cu:4"],"callers":["a.cu:9"],"lines":[{"text":"one had no value yet","stack":["a(b+0x1) [0x2]"]}],"facts":{"accesses":"r a.cu:3","variable":"v[0]","between":"warps"}},
{"check":"init","kind":"uninitialized_read","title":"u","kernel":"k","locations":["a.cu:3"],"facts":{"variable":"v"}}]})json"};
}

bool read_suppressions(std::string_view bytes) {
  report::CheckReport report;
  report::CheckFinding f;
  f.check = "race", f.kind = "race_raw", f.kernel = "void reduce<512u>(int *, int *)", f.title = std::string(200, 'a'),
  f.locations = {"src/a.cu:12", "b.cu:3"};
  report.findings = {f, f};
  return bool(report::suppress(report, file_of(bytes)));
}

std::vector<std::string> suppressions() {
  return {"# known\nkind=race_raw kernel=red*uce file=a.cu line=12\ncheck=init variable=v*\n", "title=*a*a*a*b\n"};
}

bool read_options_file(std::string_view bytes) {
  std::string own(bytes);
  // Only itself is there to name; what else a mutation names is not to be read.
  for (size_t at = 0; (at = own.find_first_of("/@", at)) != own.npos; ++at)
    if (own[at] == '/' || !std::string_view(own).substr(at + 1).starts_with("SELF")) own[at] = '_';
  const std::string self = file_of("") + ".options";
  for (size_t at = 0; (at = own.find("@SELF", at)) != own.npos; at += self.size()) own.replace(at, 5, "@" + self);
  std::ofstream(self) << own;
  const bool taken = bool(compiler::parse_options({"-optf", self, "a.cu"}, 90));
  unlink(self.c_str());
  return taken;
}

std::vector<std::string> options_files() {
  return {"-arch=sm_70 -O3 -std=c++17 -Xcompiler -Wall,-O2 'a b.cu' -DX=\\\"3\\\"",
          "--gpu-architecture compute_80 --gpu-code sm_80,compute_80",
          "-gencode arch=compute_70,code=[sm_70,compute_70] --ptxas-options=-v",
          "@SELF -Xptxas -v,-O3 -Xlinker --as-needed --maxrregcount 32 -x cu -c -o out"};
}

}  // namespace

const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      {"fat_binary", read_fat_binary, fat_binaries, {"\x50\xed\x55\xba", "\xff\xff\xff\xff", "\x40\x00\x00\x00"}},
      {"linked_code", read_linked, linked, {"WBLINKED", "\xff\xff\xff\xff\xff\xff\xff\xff"}},
      {"recording",
       read_recording,
       recordings,
       {"-1", "18446744073709551615", "1e999", "null", "[]", "{}", "\"\"", "[[[[[[[[",
        "\"sources\":", "\"files\":", "\"counts\":", "\"stalls\":"}},
      {"findings", read_findings, findings, {"-1", "null", "[]", "{}", "\"\"", "[[[[[[[[", "\"facts\":", "\"lines\":", "\"count\":"}},
      {"suppressions", read_suppressions, suppressions, {"*", "****************", "kind=", "title=", "file=", "line=", "=", "#"}},
      {"options_file",
       read_options_file,
       options_files,
       {"@SELF", "-Xptxas", "-gencode", "arch=", "code=", "'", "\"", "\\", ",", "=", "-optf", "-arch", "sm_", "--"}},
  };
  return all;
}

}  // namespace warpbeam::fuzz
