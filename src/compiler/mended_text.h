// Some of what nvcc accepts, most of it with a warning, is an error to clang that no option turns off. Clang's messages
// say where it stands in a preprocessed text:
//
// * `__shared__ Vector tile[32];` whose type has a constructor: nvcc does not run it.
// * arithmetic on `void*`, which g++ does in bytes.
// * `"error in "__FILE__` in a header (respell.h has the source itself).
// * a function for both sides that calls one of the host: nvcc leaves the call out on the device. Here it traps.
// * `int a[n] = {0};` with an n that only the run knows, which g++ takes.
// * in a kernel, `case 0: int x = 3; … case 1:`, of which nvcc only warns.
// * a function that is declared for some sides and defined for others: nvcc makes it for all of them.
// * `template <> int f(int)` for a template of the device.
// * `main() {}` without a type.
// * a lambda of the device whose call a template of the host asks about, as `std::invocable<F, int>` does: nvcc's stands there
//   with a call for the host too.
// * `Base<T>::cast<4>(d, s)` without `template`, and `Base<T>::type(d)` without `typename`, in a template of T.
// * `kernel<op><<<…>>>` where several functions of the device are called `op`: clang knows those of the host alone there.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace warpbeam::compiler {

bool can_be_mended(std::string_view messages);
// There are errors that cannot.
bool names_other_errors(std::string_view messages);

// The text with line markers that name its own lines, and `file` as its file. What the system's headers bring is still
// theirs: clang takes more from them.
std::string with_own_lines(std::string_view text, std::string_view file);

// The text, mended where the messages point (with -fdiagnostics-print-source-range-info, about the text with its own
// lines), or nothing if there is nothing that can be mended. Lines stay where they are. `optimised`: what is never used
// goes away.
std::optional<std::string> mend_text(std::string_view text, std::string_view file, std::string_view messages, bool optimised = true);

}  // namespace warpbeam::compiler
