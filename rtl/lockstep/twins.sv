// What the lock-step sees of each unit: inputs, outputs and registers in slots of 128 bits, as the module in src/ of the same name reads them.

// What stands in stage r of a pipeline of L cycles whose product is `unit.path`, r from 1: a product of two operands, a product, or a sum.
`define STAGE(name, multiply, sums)                                                                              \
  logic [254:0] name;                                                                                            \
  if (r == 1 && WITHIN >= 2) begin : operands                                                                    \
    clmul of (.a(multiply.qa), .b(multiply.qb), .p(name));                                                       \
  end else if (r <= WITHIN && r <= 2) begin : product                                                            \
    assign name = multiply.product;                                                                              \
  end else if (r <= WITHIN + int'(BEHIND)) begin : behind                                                        \
    assign name = multiply.later.line.held[255*(r - (WITHIN < 2 ? WITHIN : 2) - 1) +: 255];                      \
  end else begin : sum                                                                                           \
    assign name = sums.line.held[255*(r - WITHIN - int'(BEHIND) - 1) +: 255];                                    \
  end

`define CUT                                                                                                      \
  localparam int L = PRODUCT + REDUCTION;                                                                        \
  localparam int WITHIN = PRODUCT > 0 ? PRODUCT - 1 : 0;                                                         \
  localparam bit BEHIND = PRODUCT > 0 && REDUCTION > 0;

// Place p of round r of a lane; of one behind SubBytes, what the round makes of it.
`define PLACE(shown, lane)                                                                                       \
  if (REGISTERS == 1) begin : whole                                                                              \
    assign shown = lane.round[r].hold.line.held;                                                                 \
  end else if (p == 0) begin : cut                                                                               \
    assign shown = lane.round[r].out;                                                                            \
  end else begin : behind                                                                                        \
    assign shown = lane.round[r].hold.line.held[128*(p-1) +: 128];                                               \
  end

module twin_multiplier #(parameter int LEVELS = 0, parameter int PRODUCT = 1, parameter int REDUCTION = 1) (
  input logic clk, input logic [1:0][127:0] in, output logic [0:0][127:0] out
);
  logic [254:0] product, reduced;
  gf_product #(.LEVELS(LEVELS), .REG(PRODUCT)) multiply (.clk(clk), .a(in[0]), .b(in[1]), .p(product));
  delay #(.N(255), .CYCLES(REDUCTION)) sum (.clk(clk), .d(product), .q(reduced));
  gf_reduce reduce (.p(reduced), .r(out[0]));
endmodule

module twin_digit #(parameter int D = 8) (input logic clk, input logic [2:0][127:0] in, output logic [0:0][127:0] out);
  gf_digit_serial #(.D(D)) unit (.clk(clk), .start(in[0][0]), .a(in[1]), .b(in[2]), .r(out[0]));
endmodule

module twin_serial #(parameter int LEVELS = 0, parameter int PRODUCT = 1, parameter int REDUCTION = 0) (
  input logic clk, input logic [2:0][127:0] in, output logic [2*(PRODUCT+REDUCTION)+2:0][127:0] out
);
  `CUT
  ghash_serial #(.LEVELS(LEVELS), .PRODUCT(PRODUCT), .REDUCTION(REDUCTION)) unit (
    .clk(clk), .rst(in[0][0]), .load(in[0][1]), .load_power(in[1]), .start(in[0][2]), .valid(in[0][3]), .x(in[2]), .ready(out[0][0]), .y(out[2]));
  assign out[0][127:1] = '0;
  assign out[3] = unit.y;
  assign out[4] = unit.power;
  if (L == 1) begin : none
    assign out[1] = '0;
  end else begin : some
    assign out[1] = 128'(unit.later.flight);
  end
  for (genvar r = 1; r < L; r++) begin : stage
    `STAGE(p, unit.multiply, unit.sum)
    assign {out[2*r+4], out[2*r+3]} = 256'(p);
  end
endmodule

module twin_aggregated #(
  parameter int W = 4, parameter int G = 4, parameter int LEVELS = 0, parameter int PRODUCT = 2, parameter int REDUCTION = 2
) (
  input logic clk, input logic [1+W:0][127:0] in,
  output logic [3+G+W*G+2*W*(PRODUCT+REDUCTION-1)-1:0][127:0] out
);
  `CUT
  localparam int STAGES = 3 + G + W*G;
  logic [128*W-1:0] x;
  for (genvar l = 0; l < W; l++) begin : block
    assign x[128*(W-l)-1 -: 128] = in[2+l];
  end
  ghash_aggregated #(.W(W), .G(G), .LEVELS(LEVELS), .PRODUCT(PRODUCT), .REDUCTION(REDUCTION)) unit (
    .clk(clk), .rst(in[0][0]), .load(in[0][1]), .load_index(in[0][15:8]), .load_power(in[1]), .start(in[0][2]), .groups(in[0][63:32]), .valid(in[0][3]), .x(x),
    .ready(out[0][0]), .idle(out[0][1]), .y(out[2]));
  assign out[0][127:2] = '0;
  // One bit for each stage, as a serial unit has it.
  if (L == 1) begin : none
    assign out[1] = '0;
  end else begin : some
    for (genvar r = 1; r < L; r++) begin : flies
      assign out[1][r-1] = |unit.later.flight[G*(r-1) +: G];
    end
    assign out[1][127:L-1] = '0;
  end
  for (genvar g = 0; g < G; g++) begin : accumulators
    assign out[3+g] = unit.accumulator[g];
  end
  for (genvar i = 0; i < W*G; i++) begin : powers
    assign out[3+G+i] = unit.power[i];
  end
  for (genvar r = 1; r < L; r++) begin : stage
    for (genvar l = 0; l < W; l++) begin : lane
      localparam int AT = STAGES + 2*(W*(r-1) + l);
      if (l > 0 && r > WITHIN + int'(BEHIND)) begin : zero
        assign {out[AT+1], out[AT]} = '0;
      end else begin : shown
        `STAGE(p, unit.lane[l].multiply, unit.hold)
        assign {out[AT+1], out[AT]} = 256'(p);
      end
    end
  end
endmodule

module twin_lane #(parameter int ROUNDS = 14, parameter int REGISTERS = 1, parameter bit COMPACT = 0) (
  input logic clk, input logic [ROUNDS+1:0][127:0] in, output logic [ROUNDS*REGISTERS:0][127:0] out
);
  aes_lane #(.ROUNDS(ROUNDS), .REGISTERS(REGISTERS), .COMPACT(COMPACT)) unit (.clk(clk), .block(in[0]), .keys(in[ROUNDS+1:1]), .keystream(out[0]));
  for (genvar r = 0; r < ROUNDS; r++) begin : round
    for (genvar p = 0; p < REGISTERS; p++) begin : place
      `PLACE(out[REGISTERS*r+p+1], unit)
    end
  end
endmodule

module twin_iterative #(parameter int ROUNDS = 14, parameter bit COMPACT = 0) (
  input logic clk, input logic [ROUNDS+2:0][127:0] in, output logic [1:0][127:0] out
);
  aes_iterative #(.ROUNDS(ROUNDS), .COMPACT(COMPACT)) unit (
    .clk(clk), .rst(in[0][0]), .valid(in[0][1]), .block(in[1]), .keys(in[ROUNDS+2:2]), .ready(out[0][0]), .done(out[0][1]), .keystream(out[1]));
  assign out[0][7:2] = '0;
  assign out[0][39:8] = unit.round;
  assign out[0][127:40] = '0;
endmodule

module twin_queue #(parameter int DEPTH = 8, parameter int SKID = 0, parameter int COUNT = 4) (
  input logic clk, input logic [0:0][127:0] in, output logic [2+DEPTH-1:0][127:0] out
);
  tag_queue #(.DEPTH(DEPTH), .SKID(SKID), .COUNT(COUNT)) unit (
    .clk(clk), .rst(in[0][0]), .enter(in[0][1]), .arrive(in[0][2]), .verdict(in[0][3]), .good(in[0][4]),
    .room(out[0][0]), .pass(out[0][1]), .pass_verified(out[0][2]), .retire(out[0][3]), .squash(out[0][4]));
  assign out[0][127:5] = '0;
  assign out[1] = {32'(unit.ahead), 32'(unit.judged), 32'(unit.tail), 32'(unit.head)};
  for (genvar i = 0; i < DEPTH; i++) begin : slot
    assign out[2+i] = 128'({unit.waiting[i], unit.ok[i], unit.known[i], unit.used[i]});
  end
endmodule

// Where an engine shows what: after six slots of flags, the tag, masks, stages in flight and collected places.
`define LAYOUT                                                                                                   \
  localparam int SLOTS = (FIFO + LANES - 1) / LANES * LANES;                                                     \
  localparam int PLACES = REGISTERS == 0 ? 1 : ROUNDS * REGISTERS;                                               \
  localparam int RING = 6 + LANES, MADE = RING + LANES, KEYSTREAM = MADE + LANES, COLLECTED = KEYSTREAM + SLOTS; \
  localparam int ACCUMULATORS = COLLECTED + W, POWERS = ACCUMULATORS + G, STATES = POWERS + W*G, STAGES = STATES + LANES*PLACES;

`define SHOWN 6+3*LANES+(FIFO+LANES-1)/LANES*LANES+W+G+W*G+LANES*(REGISTERS == 0 ? 1 : ROUNDS*REGISTERS)+2*W*(PRODUCT+REDUCTION-1)

module twin_engine #(
  parameter int ROUNDS = 14, parameter int REGISTERS = 1, parameter bit COMPACT = 0, parameter int FIFO = 32,
  parameter int LEVELS = 0, parameter int PRODUCT = 1, parameter int REDUCTION = 1, parameter int LANES = 1, parameter int W = 1, parameter int G = 1
) (
  input logic clk, input logic [5+ROUNDS:0][127:0] in, output logic [`SHOWN-1:0][127:0] out
);
  `CUT
  `LAYOUT
  engine #(
    .ROUNDS(ROUNDS), .REGISTERS(REGISTERS), .COMPACT(COMPACT), .FIFO(FIFO), .LEVELS(LEVELS), .PRODUCT(PRODUCT), .REDUCTION(REDUCTION)
  ) unit (
    .clk(clk), .rst(in[0][0]), .load(in[0][1]), .start(in[0][2]), .opens(in[0][3]), .text_valid(in[0][8]),
    .aad_bytes(in[1][31:0]), .text_bytes(in[1][63:32]), .iv(in[2][95:0]), .aad(in[3]), .text(in[4]), .keys(in[ROUNDS+5:5]),
    .aad_taken(out[0][0]), .text_taken(out[0][4]), .out_valid(out[0][8]), .tag_valid(out[0][12]), .ready(out[0][13]), .rests(out[0][15]),
    .out(out[6]), .tag(out[1]));
  assign {out[0][3:1], out[0][7:5], out[0][11:9]} = '0;
  assign out[0][14] = unit.rests;
  assign out[0][31:16] = {14'b0, 1'b0, unit.mask_known || unit.leaves == 2'd2};
  assign out[0][127:32] = {24'b0, 4'(unit.full), 4'(unit.arrives), 32'(unit.waiting), 32'(unit.head)};
  assign out[2] = unit.mask_known ? unit.mask : unit.made;
  assign {out[3], out[5], out[COLLECTED]} = '0;
  if (L == 1) begin : none
    assign out[4] = '0;
  end else begin : some
    assign out[4] = 128'(unit.hash.later.flight);
  end
  assign out[RING] = unit.out;
  assign out[MADE] = unit.made;
  assign out[ACCUMULATORS] = unit.y;
  assign out[POWERS] = unit.hash.power;
  for (genvar i = 0; i < FIFO; i++) begin : kept
    assign out[KEYSTREAM+i] = unit.fifo[i];
  end
  if (REGISTERS == 0) begin : looped
    assign out[STATES] = unit.made;
  end else begin : unrolled
    for (genvar r = 0; r < ROUNDS; r++) begin : round
      for (genvar p = 0; p < REGISTERS; p++) begin : place
        `PLACE(out[STATES+REGISTERS*r+p], unit.unrolled.lane)
      end
    end
  end
  for (genvar r = 1; r < L; r++) begin : stage
    `STAGE(p, unit.hash.multiply, unit.hash.sum)
    assign {out[STAGES+2*r-1], out[STAGES+2*r-2]} = 256'(p);
  end
endmodule

module twin_wide #(
  parameter int LANES = 2, parameter int ROUNDS = 14, parameter int REGISTERS = 1, parameter bit COMPACT = 0, parameter int FIFO = 32,
  parameter int W = 1, parameter int G = 1, parameter bit COLLECT = 0, parameter int LEVELS = 0, parameter int PRODUCT = 1, parameter int REDUCTION = 1
) (
  input logic clk, input logic [3+W+LANES+ROUNDS:0][127:0] in, output logic [`SHOWN-1:0][127:0] out
);
  `CUT
  `LAYOUT
  engine_wide #(
    .LANES(LANES), .ROUNDS(ROUNDS), .REGISTERS(REGISTERS), .COMPACT(COMPACT), .FIFO(FIFO), .W(W), .G(G), .COLLECT(COLLECT),
    .LEVELS(LEVELS), .PRODUCT(PRODUCT), .REDUCTION(REDUCTION)
  ) unit (
    .clk(clk), .rst(in[0][0]), .load(in[0][1]), .start(in[0][2]), .opens(in[0][3]), .text_valid(in[0][11:8]),
    .aad_bytes(in[1][31:0]), .text_bytes(in[1][63:32]), .iv(in[2][95:0]), .aad(in[2+W:3]), .text(in[2+W+LANES:3+W]), .keys(in[ROUNDS+3+W+LANES:3+W+LANES]),
    .aad_taken(out[0][3:0]), .text_taken(out[0][7:4]), .out_valid(out[0][11:8]), .tag_valid(out[0][12]), .ready(out[0][13]), .room(out[0][14]),
    .rests(out[0][15]), .out(out[RING-1:6]), .tag(out[1]));
  wire [1:0] masks = unit.mask_known | 2'(unit.mask_leaves) << unit.masked;
  function automatic int place(input logic [LANES-1:0] bits);
    place = $clog2(32'(bits));
  endfunction
  wire int arrived = $countones(unit.arrived), head = place(unit.head);
  assign out[0][31:16] = {13'b0, unit.issue && unit.below[W-1], masks[!unit.oldest], masks[unit.oldest]};
  assign out[0][127:32] = {
    16'b0, 4'(place(unit.kept_first)), 4'((place(unit.from_lane) + place(unit.tail)) % LANES), 4'($countones(unit.kept)), 4'(arrived),
    32'(unit.standing) - $clog2(unit.used) - arrived, $clog2(unit.head_row[head]) * LANES + head};
  assign out[2] = unit.mask_known[unit.oldest] ? unit.mask[unit.oldest] : unit.made[0];
  assign out[3] = unit.mask_known[!unit.oldest] ? unit.mask[!unit.oldest] : unit.made[0];
  if (L == 1) begin : none
    assign out[4] = '0;
  end else begin : some
    for (genvar r = 1; r < L; r++) begin : flies
      assign out[4][r-1] = |unit.later.products[(G+1)*(r-1) +: G+1];
    end
    assign out[4][127:L-1] = '0;
  end
  assign out[5] = 128'(unit.has);
  for (genvar l = 0; l < LANES; l++) begin : aes
    assign out[RING+l] = unit.ring[l];
    assign out[MADE+l] = unit.made[l];
    if (REGISTERS == 0) begin : looped
      assign out[STATES+l] = unit.made[l];
    end else begin : unrolled
      for (genvar r = 0; r < ROUNDS; r++) begin : round
        for (genvar p = 0; p < REGISTERS; p++) begin : place
          `PLACE(out[STATES+PLACES*l+REGISTERS*r+p], unit.aes[l].unrolled.lane)
        end
      end
    end
  end
  for (genvar i = 0; i < SLOTS; i++) begin : slot
    assign out[KEYSTREAM+i] = unit.fifo[i % LANES][i / LANES];
  end
  for (genvar g = 0; g < G; g++) begin : accumulators
    assign out[ACCUMULATORS+g] = unit.accumulator[g] & {128{unit.written[g]}};
  end
  for (genvar i = 0; i < W*G; i++) begin : powers
    assign out[POWERS+i] = unit.power[i];
  end
  for (genvar l = 0; l < W; l++) begin : lane
    assign out[COLLECTED+l] = unit.collected[l];
    for (genvar r = 1; r < L; r++) begin : stage
      localparam int AT = STAGES + 2*(W*(r-1) + l);
      if (l > 0 && r > WITHIN + int'(BEHIND)) begin : zero
        assign {out[AT+1], out[AT]} = '0;
      end else begin : shown
        `STAGE(p, unit.lane[l].multiply, unit.hold)
        assign {out[AT+1], out[AT]} = 256'(p);
      end
    end
  end
endmodule
