// Facts of a model as text for a terminal.
#pragma once

#include <ostream>

#include "server/io/json_in.h"

namespace sdip {

/// Prints for `sdip model show` the facts of docs/api.md (Models). With `with_tree` it prints the modules of each
/// stage, too, as deep as the facts have them.
void print_facts(std::ostream& out, const OrderedJson& facts, bool with_tree, bool colour);

/// Prints for it a file that cannot be imported: what the file says of itself, and all that is in the way.
void print_refused(std::ostream& out, const OrderedJson& refused, bool colour);

}  // namespace sdip
