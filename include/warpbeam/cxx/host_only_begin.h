// What libstdc++ has between this and host_only_end.h stays the host's before C++20 (bits/c++config.h).
#if defined(__CUDA__) && __cplusplus < 202002L
#pragma push_macro("_GLIBCXX20_CONSTEXPR")
#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR
#endif
