// Measures what a model of a GPU's time needs and writes it as JSON: {"name": {"value", "unit", "spread"}, …}.
//   microbench [-o FILE] [--quick] [section …]
// Each section runs in a child process; this one never touches CUDA, so that children may.
#include "harness.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

namespace micro {

static std::FILE* part = nullptr;
static bool is_quick = false;

bool quick() { return is_quick; }

const cudaDeviceProp& device() {
  static cudaDeviceProp properties = [] {
    cudaDeviceProp p;
    MICRO_CHECK(cudaGetDeviceProperties(&p, 0));
    return p;
  }();
  return properties;
}

void report(const std::string& name, std::vector<double> samples, const char* unit) {
  for (double s : samples)
    if (!std::isfinite(s)) return;  // no number is better than one that is none
  std::sort(samples.begin(), samples.end());
  const size_t n = samples.size();
  const double median = n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
  const double range = samples[n - 1 - n / 10] - samples[n / 10];
  const double spread = median != 0 ? range / std::fabs(median) : 0;
  std::fprintf(part, "\"%s\": {\"value\": %.6g, \"unit\": \"%s\", \"spread\": %.3g}\n", name.c_str(), median, unit, spread);
  std::fflush(part);
}

static void facts() {
  const cudaDeviceProp& p = device();
  int driver = 0, runtime = 0;
  MICRO_CHECK(cudaDriverGetVersion(&driver));
  MICRO_CHECK(cudaRuntimeGetVersion(&runtime));
  report("device.sms", p.multiProcessorCount, "");
  report("device.l2", p.l2CacheSize / 1048576.0, "MiB");
  report("device.memory", p.totalGlobalMem / 1073741824.0, "GiB");
  report("device.memory_bus", p.memoryBusWidth, "bit");
  report("device.copy_engines", p.asyncEngineCount, "");
  report("device.cuda_driver", driver, "");
  report("device.cuda_runtime", runtime, "");
  std::fprintf(part, "\"device.name\": {\"value\": \"%s\", \"unit\": \"\", \"spread\": 0}\n", p.name);
  if (std::FILE* smi = popen("nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null", "r")) {
    char version[64] = "";
    if (std::fgets(version, sizeof version, smi)) {
      version[std::strcspn(version, "\n")] = 0;
      std::fprintf(part, "\"device.driver\": {\"value\": \"%s\", \"unit\": \"\", \"spread\": 0}\n", version);
    }
    pclose(smi);
  }
  const std::pair<const char*, cudaDeviceAttr> rates[] = {{"device.clock_max", cudaDevAttrClockRate},
                                                          {"device.memory_clock", cudaDevAttrMemoryClockRate}};
  for (const auto& [name, attribute] : rates) {
    int khz = 0;
    if (cudaDeviceGetAttribute(&khz, attribute, 0) == cudaSuccess) report(name, khz / 1e3, "MHz");
  }
}

struct Section {
  const char* name;
  void (*run)();
};

static const Section kSections[] = {
    {"facts", facts},
    {"clocks", clocks},
    {"turns", loop_turns},
    {"registers", registers_and_ways},
    {"queues", queues},
    {"integer", integer_pipes},
    {"float", float_pipes},
    {"other", other_pipes},
    {"warpgroup", warpgroup_pipes},
    {"shared", shared_memory},
    {"l1", first_level},
    {"l2", second_level},
    {"flight", in_flight},
    {"dram", dram},
    {"atomics", atomics},
    {"launches", launches},
    {"icache", instruction_cache},
    {"children", device_launches},
    {"calls", device_calls},
    {"residue", residue},
    {"copies", copies},
    {"host", host_calls},
};

static int run_section(const Section& section, const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(240);  // a section that hangs must not take the others' time
    part = std::fopen(path.c_str(), "a");
    if (!part) std::exit(1);
    section.run();
    std::fclose(part);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

static void merge(const std::string& parts, const std::string& out) {
  std::FILE* in = std::fopen(parts.c_str(), "r");
  std::FILE* file = std::fopen(out.c_str(), "w");
  if (!in || !file) std::exit(1);
  std::fputs("{\n", file);
  char line[1024];
  const char* before = "";
  while (std::fgets(line, sizeof line, in)) {
    line[std::strcspn(line, "\n")] = 0;
    std::fprintf(file, "%s%s", before, line);
    before = ",\n";
  }
  std::fputs("\n}\n", file);
  std::fclose(file);
  std::fclose(in);
}

}  // namespace micro

int main(int argc, char** argv) {
  std::string out = "microbench.json";
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-o" && i + 1 < argc) out = argv[++i];
    else if (word == "--quick") micro::is_quick = true;
    else wanted.push_back(word);
  }
  const std::string parts = out + ".parts";
  std::remove(parts.c_str());
  int failures = 0;
  for (const micro::Section& section : micro::kSections) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), section.name) == wanted.end()) continue;
    const double us = micro::host_us([&] {
      if (const int status = micro::run_section(section, parts)) {
        std::fprintf(stderr, "section %s failed (status %d)\n", section.name, status);
        ++failures;
      }
    });
    std::fprintf(stderr, "%-10s %6.1f s\n", section.name, us / 1e6);
  }
  micro::merge(parts, out);
  std::remove(parts.c_str());
  return failures != 0;
}
