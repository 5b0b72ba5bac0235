// The program `sdip`.
int main() { return 0; }
