// User objects: what a program wants to live as long as the graphs that use it.
#include "cuda/edge.h"
#include "cuda/graphs/graph.h"

namespace warpbeam::cuda {

void retain(UserObject& object, int64_t count) { object.count += count; }

void release(UserObject& object, int64_t count) {
  if ((object.count -= count) > 0) return;
  // As a host function: it may not call the runtime.
  ThreadState& thread = this_thread();
  const bool before = std::exchange(thread.in_host_function, true);
  object.destroy(object.pointer);
  thread.in_host_function = before;
  graphs().objects.remove(&object);
}

namespace {

template <class Body>
cudaError_t with_object(cudaUserObject_t handle, unsigned count, Body&& body) {
  return edge([&]() -> cudaError_t {
    UserObjectRef object = graphs().objects.find(handle);
    if (!object || count == 0 || count > INT32_MAX) return cudaErrorInvalidValue;
    return body(object);
  });
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaUserObjectCreate(cudaUserObject_t* handle, void* pointer, cudaHostFn_t destroy, unsigned int count, unsigned int flags) {
  return edge([&] {
    // The one flag must be given: nothing waits for the destructor.
    if (!handle || !destroy || count == 0 || count > INT32_MAX || flags != cudaUserObjectNoDestructorSync) return cudaErrorInvalidValue;
    auto object = std::make_shared<UserObject>();
    object->pointer = pointer;
    object->destroy = destroy;
    object->count = count;
    *handle = object->handle();
    graphs().objects.add(std::move(object));
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t handle, unsigned int count) {
  return with_object(handle, count, [&](const UserObjectRef& object) {
    retain(*object, count);
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t handle, unsigned int count) {
  return with_object(handle, count, [&](const UserObjectRef& object) {
    if (object->count < count) return cudaErrorInvalidValue;
    release(*object, count);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t handle, cudaUserObject_t object_handle, unsigned int count, unsigned int flags) {
  return with_object(object_handle, count, [&](const UserObjectRef& object) {
    if (flags & ~unsigned{cudaGraphUserObjectMove}) return cudaErrorInvalidValue;
    std::lock_guard lock(graphs().mutex);
    GraphRef graph = graphs().graphs.find(handle);
    if (!graph) return cudaErrorInvalidValue;
    if (!(flags & cudaGraphUserObjectMove)) retain(*object, count);  // or else the caller's references become the graph's
    graph->objects[object] += count;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t handle, cudaUserObject_t object_handle, unsigned int count) {
  return with_object(object_handle, count, [&](const UserObjectRef& object) {
    {
      std::lock_guard lock(graphs().mutex);
      GraphRef graph = graphs().graphs.find(handle);
      if (!graph) return cudaErrorInvalidValue;
      auto held = graph->objects.find(object);
      if (held == graph->objects.end() || held->second < count) return cudaErrorInvalidValue;
      if ((held->second -= count) == 0) graph->objects.erase(held);
    }
    release(*object, count);
    return cudaSuccess;
  });
}

}  // extern "C"
