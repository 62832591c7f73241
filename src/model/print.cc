#include "model/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

#include "model/fields.h"

namespace warpbeam::model {
namespace {

std::string mhz(int khz) { return fmt::format("{:.0f}", khz / 1000.0); }

std::string size_text(uint64_t bytes) {
  if (bytes == 0) return "-";
  if (bytes >= 1u << 30) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1u << 30));
  if (bytes % (1u << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  return fmt::format("{} KiB", bytes >> 10);
}

std::string count_text(const std::optional<int>& count) { return count ? fmt::to_string(*count) : "?"; }

struct Column {
  const char* title;
  std::string (*text)(const Device&);
};

const Column kColumns[] = {
    {"key", [](const Device& d) { return d.key; }},
    {"name", [](const Device& d) { return d.name; }},
    {"cc", [](const Device& d) { return fmt::format("{}.{}", d.major, d.minor); }},
    {"SMs", [](const Device& d) { return fmt::to_string(d.sm_count); }},
    {"SM MHz", [](const Device& d) { return mhz(d.clock_khz); }},
    {"memory", [](const Device& d) { return size_text(d.memory_bytes); }},
    {"GB/s", [](const Device& d) { return fmt::format("{:.0f}", d.memory_bytes_per_second() / 1e9); }},
    {"L2", [](const Device& d) { return size_text(d.l2_bytes); }},
    {"shared/SM", [](const Device& d) { return size_text(d.shared_per_sm); }},
    {"copy engines", [](const Device& d) { return count_text(d.copy_engines); }},
    {"GFLOP/s", [](const Device& d) { return fmt::format("{:.0f}", d.peak_fp32_flops() / 1e9); }},
};

// For the page: what a table of compute capabilities shows.
const char* const kCapabilityFields[] = {"max_threads_per_sm", "max_blocks_per_sm",   "regs_per_sm",
                                         "regs_per_block",     "max_regs_per_thread", "reg_alloc_unit",
                                         "reg_alloc_scope",    "shared_per_sm",       "shared_per_block_optin",
                                         "shared_alloc_unit",  "bank_rule",           "global_rule",
                                         "fp32_per_sm",        "fp64_per_sm",         "hardware_queues"};

const Field& field_named(std::string_view key) {
  auto all = fields();
  return *std::find_if(all.begin(), all.end(), [&](const Field& f) { return f.key == key; });
}

std::string markdown_row(const std::vector<std::string>& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

}  // namespace

void print_devices(std::ostream& out, bool verbose) {
  if (verbose) {
    for (const Device& device : all_devices()) {
      print_device(out, device);
      out << '\n';
    }
    return;
  }
  std::vector<size_t> widths;
  for (const Column& column : kColumns) {
    size_t width = std::string_view(column.title).size();
    for (const Device& device : all_devices()) width = std::max(width, column.text(device).size());
    widths.push_back(width);
  }
  auto line = [&](auto cell) {
    std::string text;
    for (size_t i = 0; i < std::size(kColumns); ++i) {
      bool words = i < 2;
      text += words ? fmt::format("{:<{}}  ", cell(i), widths[i]) : fmt::format("{:>{}}  ", cell(i), widths[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << '\n';
  };
  line([](size_t i) { return std::string(kColumns[i].title); });
  for (const Device& device : all_devices()) line([&](size_t i) { return kColumns[i].text(device); });
}

void print_device(std::ostream& out, const Device& device) {
  out << fmt::format("{}: {}, compute capability {}.{}\n", device.key, device.name, device.major, device.minor);
  std::string_view group;
  for (const Field& field : fields()) {
    if (field.group != group) {
      group = field.group;
      out << "  " << group << '\n';
    }
    out << fmt::format("    {:<50} {}\n", field.meaning, format_field(field, device));
  }
  if (device.sources.empty()) return;
  out << "  sources\n";
  for (const std::string& source : device.sources) out << "    " << source << '\n';
}

std::string devices_page() {
  std::string page =
      "# Devices\n\n"
      "Written from `src/model/devices/*.json` and `src/model/compute_capabilities.json` by\n"
      "`cmake --build build/release --target devices_page`. `?` is a value nobody confirmed, `-` is none.\n\n"
      "Choose one with its key, its name (with or without \"NVIDIA\", \"Tesla\", \"GeForce\") or its architecture\n"
      "(`sm_70`, `7.0`), which stands for the device marked *. The default is `" +
      default_device().key + "`.\n\n";

  std::vector<std::string> cells;
  for (const Column& column : kColumns) cells.push_back(column.title);
  page += markdown_row(cells);
  page += markdown_row(std::vector<std::string>(cells.size(), "---"));
  for (const Device& device : all_devices()) {
    cells.clear();
    for (const Column& column : kColumns) cells.push_back(column.text(device));
    if (find_device(fmt::format("sm_{}", device.cc())) == &device) cells[2] += " *";
    page += markdown_row(cells);
  }

  page += "\n## Compute capabilities\n\n";
  cells = {"cc"};
  for (const char* key : kCapabilityFields) cells.push_back(std::string(field_named(key).key));
  page += markdown_row(cells);
  page += markdown_row(std::vector<std::string>(cells.size(), "---"));
  for (const Device& row : all_compute_capabilities()) {
    cells = {fmt::format("{}.{}", row.major, row.minor)};
    for (const char* key : kCapabilityFields) cells.push_back(format_field(field_named(key), row));
    page += markdown_row(cells);
  }

  page += "\n## What a row can say\n\n";
  page += markdown_row({"key", "meaning", "group", "default device"});
  page += markdown_row({"---", "---", "---", "---"});
  for (const Field& field : fields())
    page += markdown_row(
        {fmt::format("`{}`", field.key), std::string(field.meaning), std::string(field.group), format_field(field, default_device())});

  page += "\n## Where the values come from\n\n";
  for (const Device& device : all_devices()) page += fmt::format("* **{}**: {}.\n", device.key, fmt::join(device.sources, "; "));
  return page;
}

}  // namespace warpbeam::model
