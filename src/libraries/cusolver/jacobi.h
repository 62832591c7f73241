// The settings of the Jacobi methods, and what the last call with them found.
#pragma once
#include "libraries/cusolver/call.h"

namespace warpbeam::cusolver {

// A call may still be on its way when the program destroys the settings.
struct JacobiOutcome {
  double residual = 0;
  int sweeps = 0;
};
struct JacobiSettings {
  double tolerance = 0;
  int max_sweeps = 100, sort = 1;
  std::shared_ptr<JacobiOutcome> outcome = std::make_shared<JacobiOutcome>();
};

}  // namespace warpbeam::cusolver

struct syevjInfo : warpbeam::cusolver::JacobiSettings {};
struct gesvdjInfo : warpbeam::cusolver::JacobiSettings {};
