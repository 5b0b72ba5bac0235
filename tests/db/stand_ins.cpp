// The same stand-ins that the tests of core/explore use.
#include "tests/core/explore/stand_ins.cpp"
