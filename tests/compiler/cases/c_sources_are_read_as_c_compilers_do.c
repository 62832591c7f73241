// What C compilers take with a warning is taken: int without being said, functions that are called before they are declared.
// run: warpbeam run %s
// expect: err has undeclared
static n = 3;
int nothing() { return; }
int main() { char* p = n; return undeclared(p) - 4; }
int undeclared(int a) { return a + 1; }
