// libstdc++ 12's memory for std::stable_sort and std::inplace_merge, which it asks of a function that C++17 deprecates. g++ is
// silent in the library's own headers; clang is not in templates, so it is told to be silent in this one.
#pragma GCC system_header
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include_next <bits/stl_tempbuf.h>
#pragma GCC diagnostic pop
