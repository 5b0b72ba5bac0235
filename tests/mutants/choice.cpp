// The mutant that is chosen.
#include "tests/mutants/choice.h"

namespace mutant {

volatile int chosen = -1;
unsigned char reached[most_mutants] = {};
bool exists[most_mutants] = {};

}  // namespace mutant
