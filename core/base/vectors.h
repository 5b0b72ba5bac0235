// Which instructions the processor has for many numbers at once.
#pragma once

namespace sdip {

/// Instructions of the processor that runs this, narrowest first.
enum class Vectors { portable, avx2, avx512 };

/// The widest that it has.
Vectors widest_vectors();

}  // namespace sdip
