// Runs PTX files as their own first lines say, and compares what is left in memory with what these expect:
//
//   // What the case shows.
//   // run: <<<2, 64, 1024>>>(out: u32[128], in: f32[3] = 1 0x7fc00000 nan, n: s64 = -5)
//   // expect: out = 0 3 .. 9*60 0*4
//   // expect: out[3] = 9
//   // expect: CUDA_ERROR_ILLEGAL_ADDRESS "what the report says" "and this"
//   // check: race_raw uninitialized_read        what the checker finds, sorted; nothing where the line is missing
//   // skip: CONFIGURATION why
//
// The kernel has the file's name. Memory that has no values begins with 0x5a bytes, a scalar is a parameter by value. Of values, `v*n` is n of v, `a b ..`
// goes on with that step to the end or up to what follows, and hexadecimal numbers are bits of a float. Each `run` goes with the `expect` lines behind it.
// A text that cannot be loaded is expected with the error and the place.
//
//   runner CONFIGURATION FILE…        prints a line for each: ok, skip or FAIL and why
#include <cuda.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Text = std::string;
using Bytes = std::vector<unsigned char>;

[[noreturn]] void fail(const Text& why) { throw std::runtime_error(why); }

struct Type {
  char kind;  // u, s, b or f
  size_t bytes;
};

Type type_named(const Text& name) {
  const int bits = name.size() > 1 ? std::atoi(name.c_str() + 1) : 0;
  if (!std::strchr("usbf", name[0]) || (bits != 8 && bits != 16 && bits != 32 && bits != 64) || (name[0] == 'f' && bits < 32)) fail("'" + name + "' is not a type");
  return {name[0], static_cast<size_t>(bits) / 8};
}

uint64_t bits_of(Type type, const Text& word) {
  uint64_t bits = 0;
  char* end = nullptr;
  if (type.kind != 'f' || word.starts_with("0x")) {
    bits = word[0] == '-' ? static_cast<uint64_t>(std::strtoll(word.c_str(), &end, 0)) : std::strtoull(word.c_str(), &end, 0);
  } else if (type.bytes == 4) {
    const float f = std::strtof(word.c_str(), &end);
    std::memcpy(&bits, &f, 4);
  } else {
    const double d = std::strtod(word.c_str(), &end);
    std::memcpy(&bits, &d, 8);
  }
  if (word.empty() || *end) fail("'" + word + "' is not a value");
  return bits;
}

// "0 3 .. 9*60" as one word for each element. "nan" stays a word: any will do.
std::vector<Text> elements(Type type, std::istream& words, size_t most) {
  std::vector<Text> out;
  Text word;
  std::vector<Text> all;
  while (words >> word) all.push_back(word);
  for (size_t k = 0; k < all.size(); ++k) {
    const size_t star = all[k].find('*');
    if (all[k] == "..") {
      if (out.size() < 2 || type.kind == 'f') fail("'..' goes on with the step of two integers");
      size_t behind = 0;  // elements that follow
      for (size_t j = k + 1; j < all.size(); ++j) behind += all[j].find('*') == Text::npos ? 1 : std::stoul(all[j].substr(all[j].find('*') + 1));
      const uint64_t step = bits_of(type, out.back()) - bits_of(type, out[out.size() - 2]);
      while (out.size() + behind < most) out.push_back(std::to_string(static_cast<int64_t>(bits_of(type, out.back()) + step)));
    } else if (star != Text::npos) {
      out.insert(out.end(), std::stoul(all[k].substr(star + 1)), all[k].substr(0, star));
    } else {
      out.push_back(all[k]);
    }
  }
  if (out.size() > most) fail("more values than there are elements");
  return out;
}

struct Argument {
  Text name;
  Type type{'u', 4};
  size_t count = 0;  // 0: by value
  Bytes bytes;
  CUdeviceptr memory = 0;
};

struct Expectation {
  Text name;
  size_t first = 0;
  Text values;
};

struct Run {
  Text launch;
  unsigned shape[3] = {1, 32, 0};
  std::vector<Argument> arguments;
  std::vector<Expectation> memory;
  Text error;  // CUDA_ERROR_…
  std::vector<Text> said;
};

Argument argument_of(const Text& text) {  // "in: f32[3] = 1 2 3"
  const size_t colon = text.find(':'), equals = text.find('=');
  if (colon == Text::npos) fail("'" + text + "' has no type");
  Argument a;
  std::istringstream(text.substr(0, colon)) >> a.name;
  Text type = text.substr(colon + 1, equals == Text::npos ? Text::npos : equals - colon - 1);
  type.erase(0, type.find_first_not_of(' '));
  type.erase(type.find_last_not_of(' ') + 1);
  if (const size_t open = type.find('['); open != Text::npos) {
    a.count = std::stoul(type.substr(open + 1));
    type.erase(open);
  }
  a.type = type_named(type);
  a.bytes.assign(a.type.bytes * std::max<size_t>(a.count, 1), 0x5a);
  if (equals != Text::npos) {
    std::istringstream words(text.substr(equals + 1));
    const auto values = elements(a.type, words, std::max<size_t>(a.count, 1));
    for (size_t k = 0; k < values.size(); ++k) {
      const uint64_t bits = bits_of(a.type, values[k]);
      std::memcpy(&a.bytes[k * a.type.bytes], &bits, a.type.bytes);
    }
  } else if (!a.count) {
    fail("'" + a.name + "' needs a value");
  }
  return a;
}

Run run_of(const Text& text) {  // "<<<2, 64>>>(…)"
  Run run;
  run.launch = text;
  size_t open = text.find('(');
  if (const size_t shape = text.find("<<<"); shape != Text::npos) {
    if (std::sscanf(text.c_str() + shape, "<<<%u, %u, %u>>>", &run.shape[0], &run.shape[1], &run.shape[2]) < 2) fail("'" + text + "' is no launch");
  }
  if (open == Text::npos || text.find_last_of(')') == Text::npos) return run;
  std::istringstream list(text.substr(open + 1, text.find_last_of(')') - open - 1));
  Text argument;
  while (std::getline(list, argument, ',')) run.arguments.push_back(argument_of(argument));
  return run;
}

struct Case {
  Text name, text;
  std::vector<Run> runs;
  Text skipped;
  bool told = true;  // by an error and by what is left in memory; the checker's findings are looked at elsewhere
};

Case read(const Text& path, const Text& configuration) {
  std::ifstream file(path);
  if (!file) fail("cannot be read");
  Case c;
  c.text = {std::istreambuf_iterator<char>(file), {}};
  c.name = path.substr(path.rfind('/') + 1);
  c.name.erase(c.name.rfind('.'));
  std::istringstream lines(c.text);
  for (Text line; std::getline(lines, line) && line.starts_with("//");) {
    std::istringstream words(line);
    Text slashes, key;
    words >> slashes >> key;
    Text rest;
    std::getline(words >> std::ws, rest);
    if (key == "run:") {
      c.runs.push_back(run_of(rest));
    } else if (key == "expect:") {
      if (c.runs.empty()) c.runs.emplace_back();
      Run& run = c.runs.back();
      if (rest.starts_with("CUDA_ERROR")) {
        run.error = rest.substr(0, rest.find(' '));
        for (size_t at = rest.find('"'); at != Text::npos;) {
          const size_t end = rest.find('"', at + 1);
          run.said.push_back(rest.substr(at + 1, end - at - 1));
          at = end == Text::npos ? end : rest.find('"', end + 1);
        }
      } else {
        const size_t equals = rest.find('='), open = rest.find('[');
        if (equals == Text::npos) fail("'" + rest + "' expects nothing");
        Expectation e;
        e.name = rest.substr(0, rest.find_first_of(" [="));
        if (open < equals) e.first = std::stoul(rest.substr(open + 1));
        e.values = rest.substr(equals + 1);
        run.memory.push_back(e);
      }
    } else if (key == "check:") {
      c.told = !configuration.starts_with("check");
    } else if (key == "skip:" && rest.substr(0, rest.find(' ')) == configuration) {
      c.skipped = rest.substr(rest.find(' ') + 1);
    }
  }
  if (c.runs.empty()) fail("has no line '// run:'");
  return c;
}

Text name_of(CUresult result) {
  const char* name = "no error that has a name";
  cuGetErrorName(result, &name);
  return name;
}
void need(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) fail(Text(what) + ": " + name_of(result));
}

// The standard error of what happens meanwhile.
class Heard {
 public:
  Heard() : file_(std::tmpfile()), before_(dup(2)) { dup2(fileno(file_), 2); }
  ~Heard() {
    dup2(before_, 2);
    close(before_);
    std::fclose(file_);
  }
  Text text() {
    Text all(static_cast<size_t>(std::max<long>(lseek(fileno(file_), 0, SEEK_END), 0)), ' ');
    if (pread(fileno(file_), all.data(), all.size(), 0) < 0) fail("the standard error cannot be read");
    return all;
  }

 private:
  FILE* file_;
  int before_;
};

void compare(const Run& run, const Expectation& e) {
  for (const Argument& a : run.arguments) {
    if (a.name != e.name || !a.count) continue;
    std::istringstream words(e.values);
    const auto values = elements(a.type, words, a.count - std::min(e.first, a.count));
    for (size_t k = 0; k < values.size(); ++k) {
      uint64_t got = 0;
      const size_t at = (e.first + k) * a.type.bytes;
      std::memcpy(&got, &a.bytes[at], a.type.bytes);
      if (values[k] == "nan") {
        double d = 0;
        float f = 0;
        std::memcpy(&f, &got, 4);
        std::memcpy(&d, &got, 8);
        if (a.type.bytes == 4 ? std::isnan(f) : std::isnan(d)) continue;
      } else {
        const uint64_t wanted = bits_of(a.type, values[k]);
        if (std::memcmp(&wanted, &got, a.type.bytes) == 0) continue;
      }
      std::ostringstream why;
      why << e.name << '[' << e.first + k << "] is " << got << std::hex << " (0x" << got << ") instead of " << values[k];
      fail(why.str());
    }
    return;
  }
  fail("there is no memory '" + e.name + "'");
}

void launch(CUmodule module, const Text& kernel, Run& run, bool told) {
  CUfunction function;
  need(cuModuleGetFunction(&function, module, kernel.c_str()), "looking for the kernel");
  std::vector<void*> parameters;
  for (Argument& a : run.arguments) {
    if (a.count) {
      need(cuMemAlloc(&a.memory, a.bytes.size()), "allocating");
      need(cuMemcpyHtoD(a.memory, a.bytes.data(), a.bytes.size()), "copying");
    }
    parameters.push_back(a.count ? static_cast<void*>(&a.memory) : a.bytes.data());
  }
  CUresult result;
  Text text;
  {
    Heard heard;
    result = cuLaunchKernel(function, run.shape[0], 1, 1, run.shape[1], 1, 1, run.shape[2], nullptr, parameters.data(), nullptr);
    if (result == CUDA_SUCCESS) result = cuCtxSynchronize();
    text = heard.text();
  }
  if (!told) return;
  if (name_of(result) != (run.error.empty() ? "CUDA_SUCCESS" : run.error)) fail(run.launch + ": " + name_of(result) + (text.empty() ? "" : ": " + text.substr(0, text.find('\n'))));
  for (const Text& said : run.said)
    if (text.find(said) == Text::npos) fail("'" + said + "' is not said, but: " + text);
  if (result != CUDA_SUCCESS) return;
  for (Argument& a : run.arguments) {
    if (a.count) need(cuMemcpyDtoH(a.bytes.data(), a.memory, a.bytes.size()), "copying");
    if (a.count) need(cuMemFree(a.memory), "freeing");
  }
  for (const Expectation& e : run.memory) compare(run, e);
}

void try_case(Case& c) {
  CUdevice device;
  CUcontext context;
  need(cuDeviceGet(&device, 0), "looking for the device");
  need(cuDevicePrimaryCtxRetain(&context, device), "making a context");
  need(cuCtxSetCurrent(context), "making a context current");
  char log[4096] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module;
  const CUresult loaded = cuModuleLoadDataEx(&module, c.text.c_str(), 2, options, values);
  if (loaded != CUDA_SUCCESS) {
    if (name_of(loaded) != c.runs[0].error) fail("loading: " + name_of(loaded) + ": " + log);
    for (const Text& said : c.runs[0].said)
      if (!std::strstr(log, said.c_str())) fail("'" + said + "' is not said, but: " + log);
    return;
  }
  for (Run& run : c.runs) launch(module, c.name, run, c.told);
}

}  // namespace

int main(int count, char** words) {
  if (count < 3 || cuInit(0) != CUDA_SUCCESS) return 2;
  const Text configuration = words[1];
  bool good = true;
  for (int k = 2; k < count; ++k) {
    Text name = words[k];
    name = name.substr(name.rfind('/') + 1);
    try {
      Case c = read(words[k], configuration);
      if (c.skipped.empty()) try_case(c);
      std::cout << (c.skipped.empty() ? "ok " : "skip ") << name << (c.skipped.empty() ? "" : ": " + c.skipped) << std::endl;
    } catch (const std::exception& e) {
      std::cout << "FAIL " << name << " [" << configuration << "]: " << e.what() << std::endl;
      good = false;
    }
    CUdevice device;
    if (cuDeviceGet(&device, 0) == CUDA_SUCCESS) cuDevicePrimaryCtxReset(device);  // the next one begins anew
  }
  return good ? 0 : 1;
}
