// nvidia-smi for the devices that programs see here: the table, -L, --query-gpu and -q, from our management library.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/nvml/smi/fields.h"

namespace {

using namespace warpbeam::smi;
using Devices = std::vector<nvmlDevice_t>;

constexpr std::string_view kHelp = R"(nvidia-smi of Warpbeam: the GPUs that programs see here, which are software

    nvidia-smi [OPTION...]

    (none)                       a table of all devices
    -L, --list-gpus              one line for each
    -q, --query                  what is known of each
    --query-gpu=FIELD[,FIELD...] those fields; --help-query-gpu lists them
    --query-compute-apps=...     the header alone: no process of others is known
    --format=csv[,noheader][,nounits]   needed with --query-...
    -i, --id=ID[,ID...]          only these: numbers, UUIDs or bus numbers
    -f, --filename=FILE          write there
    -h, --help                   this text
    --version                    versions
)";

[[noreturn]] void fail(const std::string& text) {
  fmt::print("{}\n", text);
  exit(2);
}

std::vector<std::string> split(std::string_view words) {
  std::vector<std::string> out;
  while (true) {
    const size_t comma = words.find(',');
    std::string_view word = words.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    out.emplace_back(word);
    if (comma == words.npos) return out;
    words.remove_prefix(comma + 1);
  }
}

Devices all_devices() {
  unsigned count = 0;
  nvmlDeviceGetCount_v2(&count);
  Devices devices(count);
  for (unsigned k = 0; k < count; ++k) nvmlDeviceGetHandleByIndex_v2(k, &devices[k]);
  return devices;
}

nvmlDevice_t device_named(const std::string& id) {
  nvmlDevice_t device = nullptr;
  const bool number = !id.empty() && id.find_first_not_of("0123456789") == id.npos;
  if (number ? nvmlDeviceGetHandleByIndex_v2(static_cast<unsigned>(std::strtoul(id.c_str(), nullptr, 10)), &device) == NVML_SUCCESS
             : nvmlDeviceGetHandleByUUID(id.c_str(), &device) == NVML_SUCCESS ||
                   nvmlDeviceGetHandleByPciBusId_v2(id.c_str(), &device) == NVML_SUCCESS)
    return device;
  fmt::print("No devices were found\n");
  exit(6);
}

struct Format {
  bool header = true, units = true;
};

Format read_format(const std::string& words) {
  Format format;
  if (words.empty()) fail("\"--format=\" switch is missing. Please run 'nvidia-smi --help' for help.");
  bool csv = false;
  for (const std::string& word : split(words)) {
    if (word == "csv") csv = true;
    else if (word == "noheader") format.header = false;
    else if (word == "nounits") format.units = false;
    else fail(fmt::format("\"{}\" is not a recognized format", word));
  }
  if (!csv) fail("\"--format=\" switch is missing. Please run 'nvidia-smi --help' for help.");
  return format;
}

void print_fields(const Devices& devices, const std::string& names, const Format& format) {
  std::vector<const Field*> asked;
  std::string line;
  for (const std::string& name : split(names)) {
    const Field* field = find_field(name);
    if (!field) fail(fmt::format("Field \"{}\" is not a valid field to query.\n", name));
    asked.push_back(field);
    line += (line.empty() ? "" : ", ") + name + (format.units && !field->unit.empty() ? fmt::format(" [{}]", field->unit) : "");
  }
  if (format.header) fmt::print("{}\n", line);
  for (nvmlDevice_t device : devices) {
    line.clear();
    for (const Field* field : asked) {
      if (!line.empty() || field != asked.front()) line += ", ";
      const std::string value = field->value(device);
      line += value;
      if (format.units && !field->unit.empty() && value != kNone) line += fmt::format(" {}", field->unit);
    }
    fmt::print("{}\n", line);
  }
}

void print_list(const Devices& devices) {
  for (nvmlDevice_t device : devices) fmt::print("GPU {}: {} (UUID: {})\n", index_of(device), name_of(device), uuid_of(device));
}

std::string date() {
  char text[64];
  const time_t seconds = time(nullptr);
  tm parts{};
  strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", localtime_r(&seconds, &parts));
  return text;
}

// As wide and as divided as programs that read it expect.
void print_table(const Devices& devices) {
  constexpr std::string_view kLine = "+-----------------------------------------+------------------------+----------------------+\n";
  const std::string whole = fmt::format("+{:-<89}+\n", "");
  fmt::print("{}       (virtual devices of Warpbeam)\n{}", date(), whole);
  fmt::print("| NVIDIA-SMI {:<22} Driver Version: {:<14} CUDA Version: {:<8} |\n", driver_version(), driver_version(), cuda_version());
  fmt::print("{}| {:<39} | {:<22} | {:<20} |\n| {:<39} | {:>22} | {:<20} |\n| {:<39} | {:<22} | {:>20} |\n", kLine,
             "GPU  Name                 Persistence-M", "Bus-Id          Disp.A", "Volatile Uncorr. ECC",
             "Fan  Temp   Perf          Pwr:Usage/Cap", "Memory-Usage", "GPU-Util  Compute M.", "", "", "MIG M.");
  fmt::print("|=========================================+========================+======================|\n");
  for (nvmlDevice_t device : devices) {
    const nvmlMemory_t memory = memory_of(device);
    const std::string ecc = ecc_mode(device);
    fmt::print("| {:>3}  {:<26.26} {:>7} | {:>18} {:>3} | {:>20} |\n", index_of(device), name_of(device), "Off", bus_of(device), "Off",
               ecc.empty()        ? "N/A"
               : ecc == "Enabled" ? "0"
                                  : "Off");
    fmt::print("| {:<39} | {:>22} | {:>8} {:>11} |\n", "N/A   N/A    N/A             N/A /  N/A",
               fmt::format("{}MiB / {}MiB", memory.used >> 20, memory.total >> 20), "N/A",
               compute_mode(device) == "Exclusive_Process" ? "E. Process" : compute_mode(device));
    fmt::print("| {:<39} | {:<22} | {:>20} |\n{}", "", "", "N/A", kLine);
  }
  fmt::print("{:91}\n{}| {:<87} |\n| {:<87} |\n| {:<87} |\n|{:=<89}|\n|  {:<86} |\n{}", "", whole,
             "Processes:", " GPU   GI   CI              PID   Type   Process name                        GPU Memory",
             "       ID   ID                                                               Usage", "", "No running processes found", whole);
}

void print_log(const Devices& devices) {
  const auto row = [](int depth, std::string_view name, const std::string& value) {
    fmt::print("{:{}}{:<{}}: {}\n", "", depth * 4, name, 51 - depth * 4, value.empty() || value == kNone ? "N/A" : value);
  };
  fmt::print("\n==============NVSMI LOG==============\n\n");
  row(0, "Timestamp", date());
  row(0, "Driver Version", driver_version());
  row(0, "CUDA Version", cuda_version());
  fmt::print("\n");
  row(0, "Attached GPUs", std::to_string(all_devices().size()));
  for (nvmlDevice_t device : devices) {
    const nvmlMemory_t memory = memory_of(device);
    const auto clocks = [&](std::string_view title) {
      fmt::print("    {}\n", title);
      const auto megahertz = [&](nvmlClockType_t type) {
        const std::string number = clock_of(device, type);
        return number.empty() ? number : number + " MHz";
      };
      row(2, "Graphics", megahertz(NVML_CLOCK_GRAPHICS));
      row(2, "SM", megahertz(NVML_CLOCK_SM));
      row(2, "Memory", megahertz(NVML_CLOCK_MEM));
    };
    fmt::print("GPU {}\n", bus_of(device));
    row(1, "Product Name", name_of(device));
    row(1, "Product Architecture", architecture_name(device));
    row(1, "Virtualization Mode", "software (Warpbeam)");
    row(1, "GPU UUID", uuid_of(device));
    row(1, "Minor Number", std::to_string(index_of(device)));
    fmt::print("    PCI\n");
    for (const auto& [name, field] : {std::pair{"Bus", "pci.bus"},
                                      {"Device", "pci.device"},
                                      {"Domain", "pci.domain"},
                                      {"Device Id", "pci.device_id"},
                                      {"Bus Id", "pci.bus_id"}})
      row(2, name, find_field(field)->value(device));
    row(1, "Fan Speed", "");
    row(1, "Performance State", "");
    fmt::print("    FB Memory Usage\n");
    row(2, "Total", fmt::format("{} MiB", memory.total >> 20));
    row(2, "Used", fmt::format("{} MiB", memory.used >> 20));
    row(2, "Free", fmt::format("{} MiB", memory.free >> 20));
    row(1, "Compute Mode", compute_mode(device));
    fmt::print("    ECC Mode\n");
    row(2, "Current", ecc_mode(device));
    row(2, "Pending", ecc_mode(device));
    clocks("Clocks");
    clocks("Max Clocks");
    row(1, "Processes", "None");
  }
  fmt::print("\n");
}

// The value of an option: "--id=0" or "--id 0", "-i 0" or "-i=0".
bool takes(const std::vector<std::string>& words, size_t& at, std::string_view brief, std::string_view full, std::string& value) {
  const std::string_view word = words[at];
  for (const std::string_view name : {brief, full}) {
    if (name.empty() || !word.starts_with(name)) continue;
    if (word == name) {
      if (at + 1 == words.size()) fail(fmt::format("Option \"{}\" needs a value. Please run 'nvidia-smi -h' for help.", word));
      value = words[++at];
      return true;
    }
    if (word[name.size()] == '=') {
      value = word.substr(name.size() + 1);
      return true;
    }
  }
  return false;
}

}  // namespace

int main(int count, char** given) {
  unsetenv("CUDA_VISIBLE_DEVICES");  // it is for programs; the tool shows all that there are
  const std::vector<std::string> words(given + 1, given + count);
  bool list = false, log = false;
  std::string query, apps, format, ids, file;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "-h" || word == "--help") {
      fmt::print("{}", kHelp);
      return 0;
    }
    if (word == "--help-query-gpu") {
      for (const Field& field : fields())
        fmt::print("\"{}\"{}{}\n", field.name, field.also.empty() ? "" : fmt::format(" or \"{}\"", field.also),
                   field.unit.empty() ? "" : fmt::format(", in {}", field.unit));
      return 0;
    }
    if (word == "-L" || word == "--list-gpus") list = true;
    else if (word == "-q" || word == "--query") log = true;
    else if (word == "--version") {
      nvmlInit_v2();
      fmt::print("NVIDIA-SMI version  : {0}\nNVML version        : {1}\nDRIVER version      : {0}\nCUDA Version        : {2}\n",
                 driver_version(), driver_version().substr(0, driver_version().rfind('.')), cuda_version());
      return 0;
    } else if (!takes(words, at, "", "--query-gpu", query) && !takes(words, at, "", "--query-compute-apps", apps) &&
               !takes(words, at, "", "--format", format) && !takes(words, at, "-i", "--id", ids) &&
               !takes(words, at, "-f", "--filename", file)) {
      fmt::print("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n");
      return 1;
    }
  }
  if (nvmlInit_v2() != NVML_SUCCESS) fail("Failed to initialize NVML");
  Devices devices = all_devices();
  if (!ids.empty()) {
    devices.clear();
    for (const std::string& id : split(ids)) devices.push_back(device_named(id));
  }
  if (devices.empty()) {
    fmt::print("No devices were found\n");
    return 6;
  }
  if (!file.empty() && !std::freopen(file.c_str(), "w", stdout)) {
    fmt::print(stderr, "nvidia-smi: cannot write {}\n", file);
    return 2;
  }
  if (!query.empty()) print_fields(devices, query, read_format(format));
  else if (!apps.empty()) {
    const Format how = read_format(format);
    std::string line;
    for (const std::string& name : split(apps))
      line += (line.empty() ? "" : ", ") + name + (how.units && name.starts_with("used_") ? " [MiB]" : "");
    if (how.header) fmt::print("{}\n", line);
  } else if (list) print_list(devices);
  else if (log) print_log(devices);
  else print_table(devices);
  return std::fflush(stdout) ? 2 : 0;
}
