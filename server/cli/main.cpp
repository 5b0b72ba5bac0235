// The program `sdip`.
#include "server/cli/cli.h"

int main(int argc, char** argv) { return sdip::run_program(argc, argv); }
