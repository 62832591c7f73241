// Result<T>: what an operation returns when the caller can act on its failure.
#pragma once
#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace warpbeam {

// `code` is the meaning at the boundary that will report it (a cudaError_t, a CUresult, an exit status).
// base/ does not know which; 0 means "no code chosen".
struct Error {
  int code = 0;
  std::string message;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  explicit operator bool() const { return !error_; }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace warpbeam

// Evaluates an expression that gives a Result<void>; on failure returns its error from this function.
#define WB_TRY(expr)                                                      \
  do {                                                                    \
    if (auto wb_result_ = (expr); !wb_result_) return wb_result_.error(); \
  } while (0)
