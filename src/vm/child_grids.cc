#include "vm/child_grids.h"

#include <algorithm>
#include <utility>

#include "vm/grid.h"

namespace warpbeam::vm {
namespace {

thread_local LaunchedFrom asked_for;  // of the grid that an observer is asked for

constexpr size_t kMostAtOnce = 128;  // grids of one depth; what devices hold

void begin(const DeviceTaskRef& task);

// The task is done: what waits for it may begin, its block may go on, its grid may be finished.
void complete(const DeviceTaskRef& task, LaunchResult&& result) {
  const std::shared_ptr<Grid> parent = std::move(task->parent);
  const std::shared_ptr<BlockChildren> block = std::move(task->block);  // the block's streams keep the task
  if (result.trap.kind != TrapKind::None) fail(*parent, std::move(result.trap), block ? block->linear : 0);
  std::vector<DeviceTaskRef> ready;
  std::unique_ptr<Block> wake;
  {
    ChildGrids& child_grids = *parent->child_grids;
    std::lock_guard lock(child_grids.mutex);
    task->printed = std::move(result.printed);
    task->done = true;
    for (DeviceTaskRef& next : task->dependents)
      if (--next->waits == 0) ready.push_back(std::move(next));
    child_grids.unblocked += ready.size();
    --child_grids.unblocked;
    task->dependents.clear();
    if (task->is_grid && task->begun) {
      const size_t depth = parent->launch.depth + 1;
      --child_grids.running[depth];
      if (!child_grids.line[depth].empty()) {
        ready.push_back(std::move(child_grids.line[depth].front()));
        child_grids.line[depth].pop_front();
      }
    }
    --parent->children;
    if (block && --block->outstanding == 0)
      if (auto parked = std::exchange(block->parked, nullptr)) wake = std::move(parked->block);
  }
  for (const DeviceTaskRef& next : ready) begin(next);
  if (wake) give_back_block(parent, std::move(wake));
  else if (settle(*parent)) finish(*parent);
}

void begin_one(const DeviceTaskRef& task) {
  if (task->parent->failed) return complete(task, {});
  if (!task->is_grid) {
    if (task->work) task->work();
    return complete(task, {});
  }
  const std::shared_ptr<Grid> parent = task->parent;
  {
    ChildGrids& child_grids = *parent->child_grids;
    const size_t depth = parent->launch.depth + 1;
    std::lock_guard lock(child_grids.mutex);
    if (child_grids.running[depth] == kMostAtOnce) return child_grids.line[depth].push_back(task);
    ++child_grids.running[depth];
    task->begun = true;
    --child_grids.pending;
  }
  if (parent->launch.observer) {
    asked_for = task->from;
    task->launch.observer = parent->launch.observer->child(task->launch);
  }
  Machine::instance().start(std::move(task->launch), [task](LaunchResult&& r) { complete(task, std::move(r)); }, parent.get());
}

// A task that is done at once comes back here for those behind it; a list instead of recursion keeps long chains flat.
void begin(const DeviceTaskRef& task) {
  static thread_local std::vector<DeviceTaskRef>* waiting = nullptr;
  if (waiting) return waiting->push_back(task);
  std::vector<DeviceTaskRef> list{task};
  waiting = &list;
  for (size_t k = 0; k < list.size(); ++k) begin_one(DeviceTaskRef(list[k]));
  waiting = nullptr;
}

void forget_done(std::vector<DeviceTaskRef>& tasks) {
  std::erase_if(tasks, [](const DeviceTaskRef& t) { return t->done; });
}

}  // namespace

const LaunchedFrom& launched_from() { return asked_for; }

ChildGrids::~ChildGrids() {
  for (uint64_t chunk : chunks) memory->free(chunk);
}

BlockChildren& children_of(Block& block) {
  if (!block.children) {
    block.children = std::make_shared<BlockChildren>();
    block.children->linear = block.linear;
    block.children->last_error.resize(block.threads);
    block.children->configured.resize(block.threads);
    block.children->launches.resize(block.threads);
  }
  return *block.children;
}

bool submit(Block& block, DeviceTaskRef task, StreamKind kind, DeviceStream* stream, uint64_t most_pending) {
  BlockChildren& mine = children_of(block);
  auto grid = static_cast<Grid*>(block.grid)->shared_from_this();
  ChildGrids& child_grids = *grid->child_grids;
  {
    std::lock_guard lock(child_grids.mutex);
    if (task->is_grid && child_grids.pending >= most_pending) return false;
    task->parent = grid;
    if (task->is_grid) ++child_grids.pending;
    task->from = {grid->launch.grid_id, block.linear, mine.numbered++, -1, mine.joined, kind == StreamKind::Tail};
    if (stream && task->is_grid) task->from.behind = std::exchange(stream->last_grid, task->from.number);
    if (kind == StreamKind::Tail) {
      grid->tail.push_back(std::move(task));
      return true;
    }
    task->block = block.children;
    if (stream) {
      forget_done(stream->ahead);
      task->waits = static_cast<unsigned>(stream->ahead.size());
      for (const DeviceTaskRef& before : stream->ahead) before->dependents.push_back(task);
      stream->ahead.assign(1, task);
    }
    ++mine.outstanding;
    ++grid->children;
    mine.launched.push_back(task);
    if (task->waits) return true;
    ++child_grids.unblocked;
  }
  mine.fresh.push_back(std::move(task));
  return true;
}

void begin_fresh(Block& block) {
  for (auto& peer : block.peers) begin_fresh(*peer);
  if (!block.children) return;
  const std::vector<DeviceTaskRef> fresh = std::exchange(block.children->fresh, {});
  for (const DeviceTaskRef& task : fresh) begin(task);
}

void keep_fresh(Block& block) {
  for (auto& peer : block.peers) keep_fresh(*peer);
  if (!block.children || block.children->fresh.empty()) return;
  std::lock_guard lock(block.grid->mutex);
  for (DeviceTaskRef& task : block.children->fresh) block.grid->kept.push_back(std::move(task));
  block.children->fresh.clear();
}

void begin_kept(Grid& grid) {
  std::vector<DeviceTaskRef> kept;
  {
    std::lock_guard lock(grid.mutex);
    const bool can_start = grid.has_fresh() && grid.begun - grid.ended < grid.resident_limit;
    if (grid.running || (can_start && !grid.failed)) return;
    kept.swap(grid.kept);
  }
  for (const DeviceTaskRef& task : kept) begin(task);
}

void wait_for_children(Warp& w, const Insn& i) {
  children_of(*w.block);
  w.wait_for_children(i);
}

bool release_if_children_done(Block& block) {
  BlockChildren& mine = *block.children;
  {
    std::lock_guard lock(block.grid->child_grids->mutex);
    if (mine.outstanding) return false;
    for (const DeviceTaskRef& task : mine.launched) block.printed += task->printed;
    mine.launched.clear();
    mine.joined = mine.numbered;
  }
  for (auto& w : block.warps)
    for (Group& g : w->groups)
      if (g.state == GroupState::AtChildren) g.state = GroupState::Ready;
  block.waits_for_children = false;
  return true;
}

std::unique_ptr<Block> park(Grid& grid, std::unique_ptr<Block> block) {
  std::lock_guard lock(grid.child_grids->mutex);
  for (const Block* member : block->members)
    if (member->waits_for_children && member->children->outstanding == 0) return block;
  ++grid.parked;
  auto parked = std::make_shared<ParkedBlock>();
  for (const Block* member : block->members)
    if (member->waits_for_children) member->children->parked = parked;
  parked->block = std::move(block);
  return nullptr;
}

bool settle(Grid& grid) {
  if (!grid.child_grids) return true;
  DeviceTaskRef next;
  {
    std::lock_guard lock(grid.child_grids->mutex);
    if (grid.settled || grid.ended != grid.total_blocks || grid.children) return false;
    if (grid.tail.empty()) return grid.settled = true;
    next = grid.tail.front();
    grid.tail.pop_front();
    grid.tail_begun.push_back(next);
    ++grid.children;
    ++grid.child_grids->unblocked;
  }
  begin(next);
  return false;
}

std::string children_output(Grid& grid) {
  std::string text;
  if (!grid.child_grids) return text;
  std::lock_guard lock(grid.child_grids->mutex);
  std::ranges::sort(grid.had_children, {}, [](const auto& c) { return c->linear; });
  for (const auto& block : grid.had_children)
    for (const DeviceTaskRef& task : block->launched) text += task->printed;
  for (const DeviceTaskRef& task : grid.tail_begun) text += task->printed;
  grid.had_children.clear();
  grid.tail_begun.clear();
  return text;
}

const Kernel* kernel_at(const Launch& launch, uint64_t address) {
  if (address < kCodeWindow || address % 16) return nullptr;
  const Program::Image& image = launch.program->image();
  const uint64_t n = (address - kCodeWindow) / 16;
  return n == 0 || n > image.functions.size() ? nullptr : image.functions[n - 1]->kernel;
}

}  // namespace warpbeam::vm
