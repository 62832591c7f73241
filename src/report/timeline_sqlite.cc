// The tables of Nsight Systems' SQLite export, as far as a timeline has what they hold. SQLite's library is looked for only
// when somebody wants them.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include "report/timeline.h"
#include "report/timeline_use.h"

namespace warpbeam::report {

namespace {

constexpr const char* kTables = R"(
CREATE TABLE StringIds(id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL,end INTEGER NOT NULL,deviceId INTEGER NOT NULL,contextId INTEGER NOT NULL,greenContextId INTEGER,streamId INTEGER NOT NULL,correlationId INTEGER,globalPid INTEGER,demangledName INTEGER NOT NULL,shortName INTEGER NOT NULL,mangledName INTEGER,launchType INTEGER,cacheConfig INTEGER,registersPerThread INTEGER NOT NULL,gridX INTEGER,gridY INTEGER,gridZ INTEGER,blockX INTEGER,blockY INTEGER,blockZ INTEGER,staticSharedMemory INTEGER,dynamicSharedMemory INTEGER,localMemoryPerThread INTEGER,localMemoryTotal INTEGER,gridId INTEGER,sharedMemoryExecuted INTEGER,graphNodeId INTEGER,sharedMemoryLimitConfig INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER,end INTEGER,eventClass INTEGER,globalTid INTEGER,correlationId INTEGER,nameId INTEGER,returnValue INTEGER,callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER,end INTEGER,deviceId INTEGER,contextId INTEGER,greenContextId INTEGER,streamId INTEGER,correlationId INTEGER,globalPid INTEGER,bytes INTEGER,copyKind INTEGER,deprecatedSrcId INTEGER,srcKind INTEGER,dstKind INTEGER,srcDeviceId INTEGER,srcContextId INTEGER,dstDeviceId INTEGER,dstContextId INTEGER,migrationCause INTEGER,graphNodeId INTEGER,virtualAddress INTEGER,copyCount INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER,end INTEGER,deviceId INTEGER,contextId INTEGER,greenContextId INTEGER,streamId INTEGER,correlationId INTEGER,globalPid INTEGER,value INTEGER,bytes INTEGER,graphNodeId INTEGER,memKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INTEGER,end INTEGER,deviceId INTEGER,contextId INTEGER,greenContextId INTEGER,streamId INTEGER,correlationId INTEGER,globalPid INTEGER,syncType INTEGER,eventId INTEGER,eventSyncId INTEGER);
CREATE TABLE NVTX_EVENTS(start INTEGER,end INTEGER,eventType INTEGER,rangeId INTEGER,category INTEGER,color INTEGER,text TEXT,globalTid INTEGER,endGlobalTid INTEGER,textId INTEGER,domainId INTEGER);
CREATE TABLE TARGET_INFO_GPU(id INTEGER,name TEXT,busLocation TEXT,uuid TEXT,computeMajor INTEGER,computeMinor INTEGER,smCount INTEGER,totalMemory INTEGER,memoryBandwidth INTEGER,chipName TEXT);
CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INTEGER,cudaId INTEGER,pid INTEGER,uuid TEXT,numMultiprocessors INTEGER);
CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER,utcTime TEXT,localTime TEXT,systemClockNs INTEGER);
CREATE TABLE GPU_METRICS(timestamp INTEGER,typeId INTEGER,metricId INTEGER,value INTEGER);
CREATE TABLE TARGET_INFO_GPU_METRICS(typeId INTEGER,sourceId INTEGER,typeName TEXT,metricId INTEGER,metricName TEXT);
CREATE TABLE META_DATA_EXPORT(name TEXT,value TEXT);
CREATE TABLE META_DATA_CAPTURE(name TEXT,value TEXT);
CREATE TABLE ENUM_CUDA_MEMCPY_OPER(id INTEGER,name TEXT,label TEXT);
CREATE TABLE ENUM_CUDA_MEM_KIND(id INTEGER,name TEXT,label TEXT);
CREATE TABLE ENUM_CUPTI_SYNC_TYPE(id INTEGER,name TEXT,label TEXT);
CREATE TABLE DIAGNOSTIC_EVENT(timestamp INTEGER,timestampType INTEGER,source INTEGER,severity INTEGER,text TEXT,globalPid INTEGER);
CREATE TABLE PROCESSES(globalPid INTEGER,pid INTEGER,name TEXT);
CREATE TABLE ThreadNames(nameId INTEGER,priority INTEGER,globalTid INTEGER);
INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION','3.25.0');
INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES(1,'CUDA_MEMCPY_KIND_HTOD','Host-to-Device'),(2,'CUDA_MEMCPY_KIND_DTOH','Device-to-Host'),(8,'CUDA_MEMCPY_KIND_DTOD','Device-to-Device'),(9,'CUDA_MEMCPY_KIND_HTOH','Host-to-Host'),(10,'CUDA_MEMCPY_KIND_PTOP','Peer-to-Peer');
INSERT INTO ENUM_CUPTI_SYNC_TYPE VALUES(1,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE','Event sync'),(3,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE','Stream sync'),(4,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE','Context sync');
INSERT INTO ENUM_CUDA_MEM_KIND VALUES(0,'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE','Pageable'),(1,'CUDA_MEMOPR_MEMORY_KIND_PINNED','Pinned'),(2,'CUDA_MEMOPR_MEMORY_KIND_DEVICE','Device');
)";

std::string quoted(const std::string& text) {
  std::string all = "'";
  for (char c : text) all += c == '\'' ? std::string("''") : std::string(1, c);
  return all + "'";
}

constexpr int64_t kSamples = 1000, kShortest = 1000;  // of a device's use; nanoseconds

std::string metrics_of(const std::vector<Json>& timelines, int device) {
  int64_t begin = INT64_MAX, end = 0;
  for (const Json& t : timelines)
    for (const Json& o : t["operations"])
      if (o["device"] == device) begin = std::min(begin, o["begin"].get<int64_t>()), end = std::max(end, o["end"].get<int64_t>());
  if (end <= begin) return "";
  const int64_t each = std::max(kShortest, (end - begin + kSamples - 1) / kSamples);
  const auto count = static_cast<size_t>((end - begin + each - 1) / each);
  std::string text;
  int metric = 0;
  for (const Use& use : use_of(timelines, device)) {
    text +=
        fmt::format("INSERT INTO TARGET_INFO_GPU_METRICS VALUES({},0,'Warpbeam',{},{});\n", device, metric, quoted(std::string(use.name)));
    int64_t at = begin;
    for (int value : sampled(use, begin, each, count))
      text += fmt::format("INSERT INTO GPU_METRICS VALUES({},{},{},{});\n", at += each, device, metric, value);
    ++metric;
  }
  return text;
}

// The four functions of SQLite that are needed.
class Database {
 public:
  Result<bool> open(const std::string& path) {
    library_ = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library_) return Error{1, "a file for SQLite needs its library: install libsqlite3-0"};
    open_ = reinterpret_cast<int (*)(const char*, void**)>(dlsym(library_, "sqlite3_open"));
    close_ = reinterpret_cast<int (*)(void*)>(dlsym(library_, "sqlite3_close"));
    exec_ = reinterpret_cast<int (*)(void*, const char*, void*, void*, char**)>(dlsym(library_, "sqlite3_exec"));
    message_ = reinterpret_cast<const char* (*)(void*)>(dlsym(library_, "sqlite3_errmsg"));
    if (open_ && close_ && exec_ && message_ && open_(path.c_str(), &database_) == 0) return true;
    return Error{1, fmt::format("{} could not be written", path)};
  }
  ~Database() {
    if (database_) close_(database_);
  }
  Result<bool> run(const std::string& text) {
    if (exec_(database_, text.c_str(), nullptr, nullptr, nullptr) == 0) return true;
    return Error{1, fmt::format("SQLite: {}", message_(database_))};
  }

 private:
  void* library_ = nullptr;
  void* database_ = nullptr;
  int (*open_)(const char*, void**) = nullptr;
  int (*close_)(void*) = nullptr;
  int (*exec_)(void*, const char*, void*, void*, char**) = nullptr;
  const char* (*message_)(void*) = nullptr;
};

std::string short_name(const std::string& name) {
  std::string text = name.substr(0, name.find_first_of("(<"));
  if (const size_t space = text.rfind(' '); space != text.npos) text.erase(0, space + 1);
  return text.substr(text.rfind(':') == text.npos ? 0 : text.rfind(':') + 1);
}

int memory_kind(const std::string& place) { return place == "Pageable" ? 0 : place == "Pinned" ? 1 : 2; }

int copy_kind(const std::string& from, const std::string& to) {
  const bool there = memory_kind(to) == 2, here = memory_kind(from) == 2;
  if (from == "Peer" || to == "Peer") return 10;
  return here && there ? 8 : there ? 1 : here ? 2 : 9;
}

std::string range_text(const Json& word) {
  const std::string text = word.get<std::string>();
  return text.substr(text.starts_with(':'));
}

// Nsight Systems' names of calls of the runtime have the version in which they came to be as they are.
std::string call_name(const std::string& name) {
  static const std::map<std::string_view, int> kLater = {{"cudaLaunchKernel", 7000},
                                                         {"cudaLaunchKernelExC", 11060},
                                                         {"cudaLaunchCooperativeKernel", 9000},
                                                         {"cudaLaunchHostFunc", 10000},
                                                         {"cudaStreamAddCallback", 5000},
                                                         {"cudaGraphLaunch", 10000},
                                                         {"cudaGraphInstantiate", 12000},
                                                         {"cudaGraphCreate", 10000},
                                                         {"cudaGraphDestroy", 10000},
                                                         {"cudaGraphExecDestroy", 10000},
                                                         {"cudaStreamBeginCapture", 10000},
                                                         {"cudaStreamEndCapture", 10000},
                                                         {"cudaMallocManaged", 6000},
                                                         {"cudaMallocAsync", 11020},
                                                         {"cudaFreeAsync", 11020},
                                                         {"cudaMemPrefetchAsync", 8000},
                                                         {"cudaMemAdvise", 8000},
                                                         {"cudaHostRegister", 4000},
                                                         {"cudaHostUnregister", 4000},
                                                         {"cudaMemcpyPeer", 4000},
                                                         {"cudaMemcpyPeerAsync", 4000},
                                                         {"cudaPointerGetAttributes", 4000},
                                                         {"cudaStreamCreateWithFlags", 5000},
                                                         {"cudaStreamCreateWithPriority", 5050},
                                                         {"cudaEventRecordWithFlags", 11010},
                                                         {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", 6000}};
  if (!name.starts_with("cuda")) return name;
  const auto later = kLater.find(name);
  return fmt::format("{}_v{}", name, later == kLater.end() ? 3020 : later->second);
}

// 0: it waits for nothing.
int wait_kind(const std::string& name) {
  if (!name.ends_with("Synchronize")) return 0;
  return name.find("Event") != name.npos ? 1 : name.find("Stream") != name.npos ? 3 : 4;
}

class Strings {
 public:
  int64_t id(const std::string& text) {
    const auto [it, fresh] = ids_.try_emplace(text, static_cast<int64_t>(ids_.size()));
    if (fresh) rows += fmt::format("INSERT INTO StringIds VALUES({},{});\n", it->second, quoted(text));
    return it->second;
  }
  std::string rows;

 private:
  std::map<std::string, int64_t> ids_;
};

}  // namespace

Result<bool> write_sqlite(const std::string& path, const std::vector<Json>& timelines) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  Database database;
  if (auto opened = database.open(path); !opened) return opened;
  if (auto made = database.run(kTables); !made) return made;
  Strings strings;
  std::string text = "BEGIN;\n";
  const auto word = [](const Json& t, const Json& o, const char* key) {
    return o.contains(key) ? t["words"].at(o[key].get<size_t>()).get<std::string>() : std::string();
  };
  constexpr int64_t kMachine = int64_t{1} << 48;
  const Json& device = timelines.front()["device"];
  std::map<int, std::set<int64_t>> devices;  // and whose they are
  for (const Json& t : timelines) {
    const int64_t process = t["process"].get<int64_t>(), pid = kMachine | (process & 0xffffff) << 24;
    text += fmt::format("INSERT INTO PROCESSES VALUES({},{},{});\n", pid, process,
                        quoted(t.contains("rank") ? process_name(t) : t["program"].get<std::string>()));
    std::map<int64_t, bool> threads;
    for (const Json& c : t["calls"]) {
      const int64_t thread = pid | (c[1].get<int64_t>() & 0xffffff);
      if (threads.try_emplace(thread, true).second)
        text += fmt::format("INSERT INTO ThreadNames VALUES({},0,{});\n", strings.id("thread"), thread);
      const std::string name = t["words"].at(c[0].get<size_t>()).get<std::string>();
      const int64_t begin = c[3].get<int64_t>(), end = c[4].get<int64_t>(), id = c[2].get<int64_t>();
      text += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES({},{},0,{},{},{},0,NULL);\n", begin, end, thread, id,
                          strings.id(call_name(name)));
      if (const int kind = wait_kind(name))
        text += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES({},{},0,1,NULL,-1,{},{},{},NULL,NULL);\n", begin, end,
                            id, pid, kind);
    }
    for (const Json& r : t["ranges"])
      text +=
          fmt::format("INSERT INTO NVTX_EVENTS VALUES({},{},59,NULL,NULL,NULL,{},{},NULL,NULL,0);\n", r[2].get<int64_t>(),
                      r[3].get<int64_t>(), quoted(range_text(t["words"].at(r[0].get<size_t>()))), pid | (r[1].get<int64_t>() & 0xffffff));
    for (const Json& o : t["operations"]) {
      const std::string kind = o["kind"].get<std::string>();
      const int number = o["device"].get<int>();
      devices[number].insert(process);
      const std::string place = fmt::format("{},{},{},1,NULL,{},{},{}", o["begin"].get<int64_t>(), o["end"].get<int64_t>(), number,
                                            o["stream"].get<int64_t>(), o["call"].get<int64_t>(), pid);
      const std::string node = o.contains("graph") ? fmt::to_string(o["id"].get<int64_t>()) : "NULL";
      if (kind == "kernel" || kind == "library") {
        const std::string name = word(t, o, "name");
        const auto three = [&](const char* key) {
          return o.contains(key) ? fmt::format("{},{},{}", o[key][0].get<int64_t>(), o[key][1].get<int64_t>(), o[key][2].get<int64_t>())
                                 : std::string("1,1,1");
        };
        text += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({},{},{},NULL,0,0,{},{},{},{},{},0,0,{},0,{},NULL);\n", place,
                            strings.id(name), strings.id(short_name(name)), o.value("registers", int64_t{0}), three("grid"), three("block"),
                            o.value("static_shared", int64_t{0}), o.value("dynamic_shared", int64_t{0}), o["id"].get<int64_t>(), node);
      } else if (kind == "copy") {
        const std::string from = word(t, o, "from"), to = word(t, o, "to");
        const auto device_of = [&](const char* key) { return o.contains(key) ? fmt::format("{},1", o[key].get<int>()) : "NULL,NULL"; };
        text += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES({},{},{},NULL,{},{},{},{},NULL,{},NULL,1);\n", place,
                            o.value("bytes", int64_t{0}), copy_kind(from, to), memory_kind(from), memory_kind(to), device_of("from_device"),
                            device_of("to_device"), node);
      } else if (kind == "fill") {
        text += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES({},0,{},{},2);\n", place, o.value("bytes", int64_t{0}), node);
      }
    }
    const auto tell = [&](const std::string& what) {
      text += fmt::format("INSERT INTO DIAGNOSTIC_EVENT VALUES(0,0,0,2,{},{});\n", quoted(what), pid);
    };
    if (const std::string end = t.value("cut_short", ""); !end.empty())
      tell(fmt::format("The program ended by {}; what is shown is up to there.", end));
    if (const auto count = t["left_out"].get<uint64_t>()) tell(fmt::format("{} calls and operations are left out.", count));
    // So that the text does not grow with the program.
    if (auto done = database.run(text); !done) return done;
    text.clear();
  }
  text += fmt::format("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES({},NULL,NULL,0);\n", timelines.front()["written"].get<int64_t>());
  for (const auto& [number, processes] : devices) {
    text += fmt::format("INSERT INTO TARGET_INFO_GPU VALUES({},{},NULL,NULL,{},{},{},{},{},{});\n", number,
                        quoted(device["name"].get<std::string>()), device["major"].get<int>(), device["minor"].get<int>(),
                        device["multiprocessors"].get<int>(), device["memory_bytes"].get<int64_t>(),
                        static_cast<int64_t>(device["memory_bytes_per_second"].get<double>()), quoted(device["chip"].get<std::string>()));
    text += metrics_of(timelines, number);
    for (int64_t process : processes)
      text += fmt::format("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES({},{},{},NULL,{});\n", number, number, process,
                          device["multiprocessors"].get<int>());
  }
  if (auto done = database.run(text); !done) return done;
  return database.run(strings.rows + "COMMIT;\n");
}

}  // namespace warpbeam::report
