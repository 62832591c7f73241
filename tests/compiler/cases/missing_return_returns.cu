// A function that ends without a return goes back to who called it.
// run: warpbeam run -w %s
// expect: status 6
static int f(int x) { if (x > 100) return 1; }
int main(int n, char**) { f(n); return 6; }
