#if defined(__CUDA__) && __cplusplus < 202002L
#pragma pop_macro("_GLIBCXX20_CONSTEXPR")
#endif
