// GHASH units. PRODUCT and REDUCTION are the latencies in cycles of `MultiplierSpec`, and their registers stand where a timing needs them first:
//
//   PRODUCT    1 behind the product; 2 operands as well; 3 partial products as well; more are left to retiming
//   REDUCTION  0: none beyond PRODUCT's, of which the last is the accumulator; 1 the accumulator; 2 the lanes' sum as well
//
// The last register is always the accumulator, so a unit of L = PRODUCT + REDUCTION cycles shows in t + L what entered in t.

// One accumulator, one multiplier: Y = (Y + X) H.
//
// | | as `gcm::ghash::serial` has it |
// | --- | --- |
// | accepts | one block per L cycles: `valid` only while `ready` |
// | latency | L = PRODUCT + REDUCTION |
// | registers | `power` H, `y` the accumulator |
module ghash_serial #(parameter int LEVELS = 0, parameter int PRODUCT = 1, parameter int REDUCTION = 0) (
  input  logic         clk, rst,
  input  logic         load,
  input  logic [127:0] load_power,
  input  logic         start,
  input  logic         valid,
  input  logic [127:0] x,
  output logic         ready,
  output logic [127:0] y
);
  localparam int L = PRODUCT + REDUCTION;
  localparam int WITHIN = PRODUCT > 0 ? PRODUCT - 1 : 0;
  localparam bit BEHIND = PRODUCT > 0 && REDUCTION > 0;
  localparam int SUMS = REDUCTION > 1 ? REDUCTION - 1 : 0;
  logic [127:0] power, reduced;
  logic [254:0] product, settled;
  gf_product #(.LEVELS(LEVELS), .REG(WITHIN), .OUT(BEHIND))
    multiply (.clk(clk), .a(y ^ x), .b(power), .p(product));
  delay #(.N(255), .CYCLES(SUMS)) sum (.clk(clk), .d(product), .q(settled));
  gf_reduce reduce (.p(settled), .r(reduced));

  logic arrives;
  if (L == 1) begin : at_once
    assign {arrives, ready} = {valid, 1'b1};
  end else begin : later
    logic [L-2:0] flight;
    always_ff @(posedge clk) flight <= rst | start ? '0 : (L-1)'({flight, valid});
    assign {arrives, ready} = {flight[L-2], flight == '0};
  end
  always_ff @(posedge clk) begin
    if (load) power <= load_power;
    if (rst | start) y <= '0;
    else if (arrives) y <= reduced;
  end
endmodule

// Groups of W blocks times descending powers, summed unreduced, reduced once; group q goes to accumulator q mod G.
//
// | | as `gcm::ghash::aggregated` has it |
// | --- | --- |
// | accepts | a whole group of W blocks, or nothing, in every cycle: `valid` only while `ready`; the first may be short and takes the last lanes, the others zero. The collecting register in front, which makes groups of what comes, is not part of it |
// | latency | L = PRODUCT + REDUCTION |
// | closing | none: `groups` is how many groups the message has from this cycle on, so the last G take smaller powers |
// | powers | given from outside, H^(index + 1) at `load_index`; not made here |
module ghash_aggregated #(
  parameter int W = 4, parameter int G = 4, parameter int LEVELS = 0, parameter int PRODUCT = 2, parameter int REDUCTION = 2
) (
  input  logic           clk, rst,
  input  logic           load,
  input  logic [7:0]     load_index,
  input  logic [127:0]   load_power,
  input  logic           start,
  input  logic [31:0]    groups,
  input  logic           valid,
  input  logic [128*W-1:0] x,           // block 0 in the upper bits
  output logic           ready, idle,
  output logic [127:0]   y
);
  localparam int L = PRODUCT + REDUCTION;
  localparam int WITHIN = PRODUCT > 0 ? PRODUCT - 1 : 0;
  localparam bit BEHIND = PRODUCT > 0 && REDUCTION > 0;
  localparam int SUMS = REDUCTION > 1 ? REDUCTION - 1 : 0;
  logic [W*G-1:0][127:0] power;
  logic [G-1:0][127:0] accumulator;
  // One bit for each accumulator: which one the next group goes to, and at which place from the end that group is.
  logic [G-1:0] turn, place, arriving;
  logic [31:0]  left;

  always_ff @(posedge clk) if (load) power[load_index] <= load_power;

  logic [127:0] fed;
  always_comb begin
    fed = '0;
    for (int g = 0; g < G; g++) fed |= accumulator[g] & {128{turn[g]}};
  end
  logic [254:0] sum, settled;
  logic [W-1:0][254:0] product;
  for (genvar l = 0; l < W; l++) begin : lane
    logic [127:0] a, b;
    always_comb begin
      b = '0;
      for (int g = 0; g < G; g++) b |= power[W*(g+1) - l - 1] & {128{place[g]}};
    end
    // The state goes into the first block of a group, which of a short one is not lane 0: accumulators are zero then.
    assign a = x[128*(W-l)-1 -: 128] ^ (l == 0 ? fed : 128'b0);
    gf_product #(.LEVELS(LEVELS), .REG(WITHIN), .OUT(BEHIND))
      multiply (.clk(clk), .a(a), .b(b), .p(product[l]));
  end
  always_comb begin
    sum = '0;
    for (int l = 0; l < W; l++) sum ^= product[l];
  end
  logic [127:0] reduced;
  delay #(.N(255), .CYCLES(SUMS)) hold (.clk(clk), .d(sum), .q(settled));
  gf_reduce reduce (.p(settled), .r(reduced));

  // Which accumulators wait for a group, and where each group in flight goes.
  logic [G-1:0] busy;
  if (L == 1) begin : at_once
    assign arriving = turn & {G{valid}};
    assign busy = '0;
  end else begin : later
    logic [G*(L-1)-1:0] flight;
    always_ff @(posedge clk) flight <= rst | start ? '0 : (G*(L-1))'({flight, turn & {G{valid}}});
    assign arriving = flight[G*(L-1)-1 -: G];
    always_comb begin
      busy = '0;
      for (int i = 0; i < L-1; i++) busy |= flight[G*i +: G];
    end
  end
  assign idle = busy == '0;
  assign ready = (busy & turn) == '0;
  always_ff @(posedge clk) begin
    if (start) begin
      left <= groups;
      turn <= 1;
      place <= G'(1) << (groups > G ? G - 1 : groups - 1);
    end else if (valid) begin
      left <= left - 1;
      turn <= G'({turn, turn[G-1]});
      if (left <= G) place <= place >> 1;
    end
    for (int g = 0; g < G; g++)
      if (rst | start) accumulator[g] <= '0;
      else if (arriving[g]) accumulator[g] <= reduced;
  end
  always_comb begin
    y = '0;
    for (int g = 0; g < G; g++) y ^= accumulator[g];
  end
endmodule
