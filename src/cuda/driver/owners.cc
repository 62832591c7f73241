#include "cuda/driver/owners.h"

#include "cuda/driver/module.h"
#include "cuda/graphs/graph.h"
#include "cuda/streams/ops.h"

namespace warpbeam::cuda::driver {

// The objects of a context go with it; what outlives it (a graph, the text of a module) may still name it.
Context* alive(Context* context) {
  Context* found = nullptr;
  if (context) for_each_context([&](Context& known) { found = &known == context && known.active() ? context : found; });
  return found;
}

Context* owner_of(CUstream handle) {
  const StreamRef stream = process().streams.find(handle);
  return stream ? alive(&stream->context) : nullptr;
}

Context* owner_of(CUfunction handle) {
  const KernelSymbol* symbol = symbol_of(handle);
  return symbol && symbol->image ? alive(symbol->image->only_in) : nullptr;
}

Context* owner_of(CUmodule handle) {
  const Image* image = Registry::instance().image(handle);
  return image ? alive(image->only_in) : nullptr;
}

Context* owner_of(CUarray handle) {
  const ArrayRef array = find_array(reinterpret_cast<cudaArray_const_t>(handle));
  return array ? alive(&array->context) : nullptr;
}

Context* owner_of(CUmipmappedArray handle) {
  const MipmappedArrayRef array = find_mipmapped_array(reinterpret_cast<cudaMipmappedArray_const_t>(handle));
  return array ? alive(&array->context) : nullptr;
}

Context* owner_of(CUgraph handle) {
  const auto graph = graphs().graphs.find(handle);
  return graph ? alive(&graph->context) : nullptr;
}

Context* owner_of(CUgraphNode handle) {
  const auto node = graphs().nodes.find(handle);
  return node && node->graph ? alive(&node->graph->context) : nullptr;
}

Context* owner_of(CUgraphExec handle) {
  const auto exec = graphs().instances.find(handle);
  return exec && exec->graph ? alive(&exec->graph->context) : nullptr;
}

Context* owner_of_memory(const void* memory) {
  const auto place = locate(memory);
  return place ? alive(place->owner) : nullptr;
}

}  // namespace warpbeam::cuda::driver
