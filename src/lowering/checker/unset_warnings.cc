// For the checker: the compiler's warnings of variables that are read before they have a value, whether anybody has asked for
// them or not. Those that nobody has asked for are no errors under -Werror, and are seen under -w.
#include "lowering/checker/unset_warnings.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/SmallVector.h>

#include <cctype>
#include <memory>
#include <vector>

#include "lowering/checker/facts.h"

namespace warpbeam::lowering {
namespace {

using namespace clang;

bool is_of_sometimes(unsigned id) { return DiagnosticIDs::getWarningOptionForDiag(id) == "sometimes-uninitialized"; }
bool is_of_unset(unsigned id) { return is_of_sometimes(id) || DiagnosticIDs::getWarningOptionForDiag(id) == "uninitialized"; }

// Is that place in an argument of a shuffle? `int i; if (leader) i = atomicAdd(…); i = __shfl_sync(mask, i, 0);` is how
// books write it: what lanes give of which nobody reads may have no value, and what is read the checker follows itself.
bool given_to_shuffle(SourceLocation at, const SourceManager& sources) {
  const auto [file, offset] = sources.getDecomposedLoc(sources.getFileLoc(at));
  const llvm::StringRef before = sources.getBufferData(file).take_front(offset), line = before.substr(before.rfind('\n') + 1);
  int closed = 0;
  for (size_t k = line.size(); k-- > 0;) {
    if (line[k] == ')') ++closed;
    if (line[k] != '(' || closed-- > 0) continue;
    closed = 0;
    size_t name = k;
    while (name > 0 && (std::isalnum(static_cast<unsigned char>(line[name - 1])) || line[name - 1] == '_')) --name;
    if (line.slice(name, k).contains("shfl")) return true;
  }
  return false;
}

class Warnings : public DiagnosticConsumer {
 public:
  Warnings(DiagnosticsEngine& engine, llvm::DenseSet<unsigned> unasked)
      : unasked_(std::move(unasked)), owned_(engine.takeClient()), others_(owned_ ? *owned_ : *engine.getClient()) {}

  void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic& d) override {
    if (level == DiagnosticsEngine::Note) {
      // The notes that follow a warning may take it back.
      if (last_is_doubtful_ && d.getID() == diag::note_uninit_var_use && d.hasSourceManager() &&
          given_to_shuffle(d.getLocation(), d.getSourceManager())) {
        take_last_fact_back();
        last_is_doubtful_ = false;
      }
    } else {
      last_is_doubtful_ = false;
      passed_on_ = level != DiagnosticsEngine::Warning || !unasked_.contains(d.getID());
      if (is_of_unset(d.getID())) note(d);
    }
    if (!passed_on_) return;
    DiagnosticConsumer::HandleDiagnostic(level, d);
    others_.HandleDiagnostic(level, d);
  }
  bool IncludeInDiagnosticCounts() const override { return passed_on_ && others_.IncludeInDiagnosticCounts(); }
  void BeginSourceFile(const LangOptions& language, const Preprocessor* preprocessor) override {
    others_.BeginSourceFile(language, preprocessor);
  }
  void EndSourceFile() override { others_.EndSourceFile(); }
  void finish() override { others_.finish(); }
  void clear() override {
    DiagnosticConsumer::clear();
    others_.clear();
  }

 private:
  void note(const Diagnostic& d) {
    llvm::SmallString<128> text;
    d.FormatDiagnostic(text);
    const auto [before, rest] = text.str().split('\'');
    if (!d.hasSourceManager() || !rest.contains('\'')) return;
    const SourceManager& sources = d.getSourceManager();
    const PresumedLoc place = sources.getPresumedLoc(sources.getFileLoc(d.getLocation()));
    if (place.isInvalid()) return;
    last_is_doubtful_ = is_of_sometimes(d.getID());
    add_fact(llvm::Twine("!uninitialised\t") + place.getFilename() + ":" + llvm::Twine(place.getLine()) + "\t" + rest.split('\'').first +
             (last_is_doubtful_ ? "\t1" : "\t0"));
  }

  const llvm::DenseSet<unsigned> unasked_;
  std::unique_ptr<DiagnosticConsumer> owned_;
  DiagnosticConsumer& others_;
  bool passed_on_ = true, last_is_doubtful_ = false;
};

// Under -w no pragma brings a warning back.
class Pragmas : public PPCallbacks {
 public:
  explicit Pragmas(DiagnosticsEngine& engine) : engine_(engine) {}
  void PragmaDiagnostic(SourceLocation at, llvm::StringRef, diag::Severity severity, llvm::StringRef warning) override {
    if (severity >= diag::Severity::Warning && warning.size() > 2)
      engine_.setSeverityForGroup(diag::Flavor::WarningOrError, warning.substr(2), diag::Severity::Ignored, at);
  }

 private:
  DiagnosticsEngine& engine_;
};

// Says of each warning what -w says of them all.
void ignore_each(DiagnosticsEngine& engine) {
  std::vector<diag::kind> all;
  DiagnosticIDs::getAllDiagnostics(diag::Flavor::WarningOrError, all);
  std::erase_if(all, [&](diag::kind id) {
    return !DiagnosticIDs::isBuiltinWarningOrExtension(id) || engine.getDiagnosticLevel(id, {}) != DiagnosticsEngine::Ignored;
  });
  for (const diag::kind id : all) engine.setSeverity(id, diag::Severity::Ignored, {});
  engine.setIgnoreAllWarnings(false);
}

}  // namespace

void watch_warnings_of_unset_variables(Preprocessor& preprocessor) {
  DiagnosticsEngine& engine = preprocessor.getDiagnostics();
  constexpr llvm::StringLiteral kGroup = "uninitialized";
  llvm::SmallVector<diag::kind, 32> all;
  engine.getDiagnosticIDs()->getDiagnosticsInGroup(diag::Flavor::WarningOrError, kGroup, all);
  std::vector<diag::kind> errors;  // of the user's
  llvm::DenseSet<unsigned> unasked;
  for (const diag::kind id : all) {
    const DiagnosticsEngine::Level level = engine.getDiagnosticLevel(id, {});
    if (level == DiagnosticsEngine::Error) errors.push_back(id);
    if (level == DiagnosticsEngine::Ignored && is_of_unset(id)) unasked.insert(id);
  }
  if (engine.getIgnoreAllWarnings()) {
    ignore_each(engine);
    preprocessor.addPPCallbacks(std::make_unique<Pragmas>(engine));
  }
  for (const unsigned id : unasked) engine.setSeverity(id, diag::Severity::Warning, {});
  engine.setDiagnosticGroupWarningAsError(kGroup, false);
  for (const diag::kind id : errors) engine.setSeverity(id, diag::Severity::Error, {});
  engine.setClient(new Warnings(engine, std::move(unasked)));
}

}  // namespace warpbeam::lowering
