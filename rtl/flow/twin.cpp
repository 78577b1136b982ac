// A verilated GHASH unit: a record of inputs for each cycle from standard input, what the unit shows in that cycle to standard output.
// TWIN_BLOCKS is how many blocks it takes per cycle; TWIN_AGGREGATED says that it counts groups.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include "Vtwin.h"

int main() {
  VerilatedContext context;
  Vtwin unit{&context};
  uint8_t in[2 + 4 + 16 + 16 * TWIN_BLOCKS];
  unit.clk = 0;
  while (fread(in, sizeof in, 1, stdin) == 1) {
    unit.rst = in[0] & 1;
    unit.load = in[0] >> 1 & 1;
    unit.start = in[0] >> 2 & 1;
    unit.valid = in[0] >> 3 & 1;
#ifdef TWIN_AGGREGATED
    unit.load_index = in[1];
    memcpy(&unit.groups, in + 2, 4);
#endif
    memcpy(&unit.load_power, in + 6, 16);
    memcpy(&unit.x, in + 22, 16 * TWIN_BLOCKS);
    unit.clk = 0;
    unit.eval();
    uint8_t out[17] = {uint8_t(unit.ready)};
    memcpy(out + 1, &unit.y, 16);
    fwrite(out, sizeof out, 1, stdout);
    unit.clk = 1;
    unit.eval();
  }
}
