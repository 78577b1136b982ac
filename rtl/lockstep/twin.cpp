// A Verilated twin as five functions. Inputs and outputs are arrays of 128 bits.
#include "Vtwin.h"
#include <cstring>

struct Unit {
  VerilatedContext context;
  Vtwin* twin;
};

// Registers hold random bits until they are written.
extern "C" Unit* twin_new(int seed) {
  Unit* unit = new Unit;
  unit->context.randReset(2);
  unit->context.randSeed(seed);
  unit->twin = new Vtwin{&unit->context};
  unit->twin->clk = 0;
  return unit;
}

extern "C" void twin_free(Unit* unit) {
  delete unit->twin;
  delete unit;
}

extern "C" size_t twin_inputs(Unit* unit) { return sizeof unit->twin->in / 16; }

extern "C" size_t twin_outputs(Unit* unit) { return sizeof unit->twin->out / 16; }

// What the unit shows in a cycle, with these inputs.
extern "C" void twin_drive(Unit* unit, const void* in, void* out) {
  unit->twin->clk = 0;
  memcpy(&unit->twin->in, in, sizeof unit->twin->in);
  unit->twin->eval();
  memcpy(out, &unit->twin->out, sizeof unit->twin->out);
}

extern "C" void twin_edge(Unit* unit) {
  unit->twin->clk = 1;
  unit->twin->eval();
}
