// Direction vectors of Sobol sequences, plain and scrambled, and the constants that scramble.
#pragma once

#include <cstdint>
#include <vector>

namespace warpbeam::curand {

constexpr unsigned int kSobolDimensions = 20000;  // as many as cuRAND has

// The 8 * sizeof(Word) vectors of a dimension.
template <class Word>
void make_vectors(unsigned int dimension, Word* vectors);
// The same, their bits mixed so that each bit hangs on those above it: a sequence with other numbers that is as even.
template <class Word>
void make_scrambled_vectors(unsigned int dimension, Word* vectors);
template <class Word>
Word scramble_constant(unsigned int dimension);

}  // namespace warpbeam::curand
