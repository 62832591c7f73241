// The plugin that clang loads: which pass runs at which moment of the optimiser's. A pass says itself where it comes from.
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>

#include "lowering/checker/facts.h"
#include "lowering/checker/inlined_calls.h"
#include "lowering/checker/kept_places.h"
#include "lowering/checker/local_margins.h"
#include "lowering/checker/outside_arrays.h"
#include "lowering/checker/own_places.h"
#include "lowering/checker/unset_variables.h"
#include "lowering/language/builtin_math.h"
#include "lowering/language/constant_stores.h"
#include "lowering/language/host_variables.h"
#include "lowering/language/known_spaces.h"
#include "lowering/language/long_functions.h"
#include "lowering/language/missing_functions.h"
#include "lowering/language/unaligned_vectors.h"
#include "lowering/language/wide_conversions.h"
#include "lowering/optimiser/array_clears.h"
#include "lowering/optimiser/array_unrolling.h"
#include "lowering/optimiser/call_chains.h"
#include "lowering/optimiser/exchange_order.h"
#include "lowering/optimiser/index_loads.h"
#include "lowering/optimiser/joined_conditions.h"
#include "lowering/optimiser/joined_halves.h"
#include "lowering/optimiser/joined_indices.h"
#include "lowering/optimiser/joined_stores.h"
#include "lowering/optimiser/kept_calls.h"
#include "lowering/optimiser/known_powers.h"
#include "lowering/optimiser/loop_lengths.h"
#include "lowering/optimiser/masked_places.h"
#include "lowering/optimiser/narrow_conversions.h"
#include "lowering/optimiser/plain_assembly.h"
#include "lowering/optimiser/reloads.h"
#include "lowering/optimiser/ring_places.h"
#include "lowering/optimiser/split_copies.h"
#include "lowering/optimiser/unroll_counts.h"
#include "lowering/optimiser/unsigned_counters.h"
#include "lowering/optimiser/warp_size.h"
#include "lowering/optimiser/whole_loads.h"
#include "lowering/optimiser/whole_program.h"
#include "lowering/optimiser/wide_indices.h"
#include "lowering/optimiser/written_parameters.h"

namespace warpbeam::lowering {
namespace {

void add_passes(llvm::PassBuilder& builder) {
  if (is_for_host()) {
    builder.registerPipelineStartEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel level) {
      if (level != llvm::OptimizationLevel::O0) passes.addPass(LeaveLongFunctions());
    });
    return;
  }
  // A function's loads stay on its own lines: the first of these would put them into its callers before it is inlined there. The
  // second makes of a table of strings distances from the table to them, which PTX has no words for. And nvcc's optimiser does not
  // know how many threads a block can have (`for (int i = threadIdx.x; i < 1024; i += 256)` takes four turns at most).
  if (llvm::PassInstrumentationCallbacks* passes = builder.getPassInstrumentationCallbacks()) {
    passes->registerShouldRunOptionalPassCallback([](llvm::StringRef name, llvm::Any) {
      return name != "ArgumentPromotionPass" && name != "RelLookupTableConverterPass" && !(is_for_times() && name == "NVVMIntrRangePass");
    });
    if (is_for_checker()) keep_places(*passes);
  }
  builder.registerPipelineStartEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel level) {
    passes.addPass(KnowWarpSize());
    passes.addPass(CallMathLibrary());
    passes.addPass(WriteFacts());
    passes.addPass(NameFunctions());
    passes.addPass(KeepHostVariables());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(TellConstantStores()));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(WidenConversions()));
    if (level == llvm::OptimizationLevel::O0) return;
    passes.addPass(WatchUnsetVariables());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(FreePlainAssembly()));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(MarkUnwrapping()));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(HideDivisors()));
    passes.addPass(WholeProgram());
    passes.addPass(FreeShortFunctions());
    passes.addPass(KeepCalls());
    if (level != llvm::OptimizationLevel::O0) passes.addPass(JoinCallChains());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(SplitCopies()));
    passes.addPass(ForgetTypes());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(ShowOutsideArrays()));
  });
  // Variables are values by now and calls inlined, and nothing has moved between accesses yet.
  builder.registerPeepholeEPCallback([](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
    passes.addPass(ShowDivisors());
    passes.addPass(CopyWrittenParameters());
    passes.addPass(KeepExchangeOrder());
    passes.addPass(KeepReloads());
    passes.addPass(ShowOutsideArrays());
    passes.addPass(FoldKnownSpaces());
    passes.addPass(CountFirst());
    passes.addPass(JoinConditions());
  });
  builder.registerLateLoopOptimizationsEPCallback([](llvm::LoopPassManager& passes, llvm::OptimizationLevel) {
    passes.addPass(UnrollOverArrays());
    passes.addPass(KeepUnknownLengths());
    passes.addPass(ChooseUnrollCounts());
  });
  builder.registerVectorizerStartEPCallback([](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(ChooseUnrollCounts(true)));
  });
  // Behind the passes that take vectors apart.
  builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel level) {
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(SplitUnalignedVectors()));
    if (level != llvm::OptimizationLevel::O0) passes.addPass(llvm::createModuleToFunctionPassAdaptor(ShowBarriers()));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(ShowDivisors(true)));
    if (level != llvm::OptimizationLevel::O0) passes.addPass(llvm::createModuleToFunctionPassAdaptor(ForgetUnwrittenCopies()));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(PlainConversions()));
    if (level != llvm::OptimizationLevel::O0) passes.addPass(llvm::createModuleToFunctionPassAdaptor(ClearArrays()));
    if (level != llvm::OptimizationLevel::O0) passes.addPass(llvm::createModuleToFunctionPassAdaptor(JoinStores()));
    if (level != llvm::OptimizationLevel::O0) passes.addPass(llvm::createModuleToFunctionPassAdaptor(WholeLoads()));
    if (level != llvm::OptimizationLevel::O0) passes.addPass(llvm::createModuleToFunctionPassAdaptor(JoinHalves()));
    if (level != llvm::OptimizationLevel::O0) passes.addPass(llvm::createModuleToFunctionPassAdaptor(KeepIndexLoads()));
    if (level != llvm::OptimizationLevel::O0) passes.addPass(llvm::createModuleToFunctionPassAdaptor(KeepRingPlaces()));
    if (level != llvm::OptimizationLevel::O0) passes.addPass(llvm::createModuleToFunctionPassAdaptor(JoinIndices()));
    if (level != llvm::OptimizationLevel::O0) passes.addPass(llvm::createModuleToFunctionPassAdaptor(WidenIndices()));
    if (level != llvm::OptimizationLevel::O0) passes.addPass(llvm::createModuleToFunctionPassAdaptor(KeepUnsignedCounters()));
    if (level != llvm::OptimizationLevel::O0) passes.addPass(llvm::createModuleToFunctionPassAdaptor(MaskPlaces()));
    passes.addPass(ShowUnsetVariables());
    if (level != llvm::OptimizationLevel::O0) passes.addPass(llvm::createModuleToFunctionPassAdaptor(LocalMargins()));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(GuessPlaces()));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(OwnPlaces()));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(ConvertWideIntegers()));
    passes.addPass(NumberCalls());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(TellConstantStores()));
    passes.addPass(TellMissingFunctions());
  });
}

}  // namespace
}  // namespace warpbeam::lowering

extern "C" __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "warpbeam-lowering", LLVM_VERSION_STRING, warpbeam::lowering::add_passes};
}
