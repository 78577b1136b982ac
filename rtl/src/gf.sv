// Multipliers in GF(2^128). Bit i of a vector is the coefficient of x^i: a block of GCM comes with its bits reversed.
//
//   a --> [operands] --> [ partial products ] --> [ product, 255 bits ] --> [ reduction ] --> a b
//   b -->      REG >= 2                REG >= 3                REG >= 1 and OUT
//
// | | as `gcm::multiplier` has it |
// | --- | --- |
// | accepts | one pair per cycle; gf_digit_serial one per ceil(128 / D) cycles |
// | latency | as many cycles as registers: issued in cycle t, valid in t + registers |
// | stalls | never |

/* verilator lint_off DECLFILENAME */
// The carry-less product without a register. LEVELS of Karatsuba, then the schoolbook.
module clmul #(parameter int N = 128, parameter int LEVELS = 0) (
  input  logic [N-1:0]   a, b,
  output logic [2*N-2:0] p
);
`ifdef BEHAVIOURAL
  always_comb begin
    p = '0;
    for (int i = 0; i < N; i++) if (b[i]) p ^= (2*N-1)'(a) << i;
  end
`else
  if (LEVELS == 0) begin : school
    logic [N-1:0] turned;                            // b, so that a column is a slice of both
    for (genvar i = 0; i < N; i++) begin : turn
      assign turned[i] = b[N-1-i];
    end
    for (genvar k = 0; k < 2*N-1; k++) begin : column
      localparam int LO = k < N ? 0 : k - N + 1;
      localparam int HI = k < N ? k : N - 1;
      assign p[k] = ^(a[HI:LO] & turned[N-1-k+HI:N-1-k+LO]);
    end
  end else begin : karatsuba
    localparam int H = N / 2;
    logic [2*H-2:0] lo, mid, hi;
    clmul #(.N(H), .LEVELS(LEVELS-1)) l (.a(a[H-1:0]), .b(b[H-1:0]), .p(lo));
    clmul #(.N(H), .LEVELS(LEVELS-1)) h (.a(a[N-1:H]), .b(b[N-1:H]), .p(hi));
    clmul #(.N(H), .LEVELS(LEVELS-1)) m (.a(a[H-1:0] ^ a[N-1:H]), .b(b[H-1:0] ^ b[N-1:H]), .p(mid));
    assign p = (2*N-1)'(lo) ^ ((2*N-1)'(lo ^ mid ^ hi) << H) ^ ((2*N-1)'(hi) << N);
  end
`endif
endmodule

// A product that is synthesised once and placed as often as it is needed.
(* keep_hierarchy *)
module clmul_leaf #(parameter int N = 128, parameter int LEVELS = 0) (input logic [N-1:0] a, b, output logic [2*N-2:0] p);
  clmul #(.N(N), .LEVELS(LEVELS)) product (.a(a), .b(b), .p(p));
endmodule

// The reduction modulo x^128 + x^7 + x^2 + x + 1.
module gf_reduce (input logic [254:0] p, output logic [127:0] r);
  logic [133:0] f;
  assign f = 134'(p[254:128]) ^ 134'(p[254:128]) << 1 ^ 134'(p[254:128]) << 2 ^ 134'(p[254:128]) << 7;
  logic [127:0] g;
  assign g = 128'(f[133:128]);
  assign r = p[127:0] ^ f[127:0] ^ g ^ g << 1 ^ g << 2 ^ g << 7;
endmodule

// The product with REG registers within, and one more at its output if OUT.
module gf_product #(parameter int LEVELS = 0, parameter int REG = 0, parameter bit OUT = 0) (
  input  logic         clk,
  input  logic [127:0] a, b,
  output logic [254:0] p
);
  logic [127:0] qa, qb;
  logic [254:0] product;
  if (REG >= 1) begin : operands
    always_ff @(posedge clk) {qa, qb} <= {a, b};
  end else begin : wires
    assign {qa, qb} = {a, b};
  end
  if (REG >= 2) begin : cut
    // Four quarters, or Karatsuba's three, each registered. What is beyond two registers is left to retiming.
    localparam int PARTS = LEVELS == 0 ? 4 : 3;
    localparam int BELOW = LEVELS == 0 ? 0 : LEVELS - 1;
    logic [127*PARTS-1:0] part, held;
    logic [126:0] middle;
    clmul_leaf #(.N(64), .LEVELS(BELOW)) l (.a(qa[63:0]), .b(qb[63:0]), .p(part[0 +: 127]));
    clmul_leaf #(.N(64), .LEVELS(BELOW)) h (.a(qa[127:64]), .b(qb[127:64]), .p(part[127 +: 127]));
    if (LEVELS == 0) begin : quarters
      clmul_leaf #(.N(64)) x (.a(qa[127:64]), .b(qb[63:0]), .p(part[254 +: 127]));
      clmul_leaf #(.N(64)) y (.a(qa[63:0]), .b(qb[127:64]), .p(part[381 +: 127]));
      assign middle = held[254 +: 127] ^ held[381 +: 127];
    end else begin : thirds
      clmul_leaf #(.N(64), .LEVELS(BELOW)) m (.a(qa[63:0] ^ qa[127:64]), .b(qb[63:0] ^ qb[127:64]), .p(part[254 +: 127]));
      assign middle = held[0 +: 127] ^ held[127 +: 127] ^ held[254 +: 127];
    end
    always_ff @(posedge clk) held <= part;
    assign product = 255'(held[0 +: 127]) ^ 255'(middle) << 64 ^ 255'(held[127 +: 127]) << 128;
  end else begin : whole
    clmul_leaf #(.LEVELS(LEVELS)) m (.a(qa), .b(qb), .p(product));
  end
  delay #(.N(255), .CYCLES((REG > 2 ? REG - 2 : 0) + int'(OUT))) later (.clk(clk), .d(product), .q(p));
endmodule

// One step of a digit-serial multiplier by Horner's rule: acc x^D + a d, reduced.
module gf_digit_step #(parameter int D = 8) (
  input  logic [127:0] acc, a,
  input  logic [D-1:0] d,
  output logic [127:0] r
);
  logic [127+D:0] shifted, sum;
  assign shifted = {acc, D'(0)};
  logic [D-1:0] turned;
  for (genvar i = 0; i < D; i++) begin : turn
    assign turned[i] = d[D-1-i];
  end
  assign sum[127+D] = shifted[127+D];
  for (genvar k = 0; k < 127 + D; k++) begin : column
    // Bits i of the digit and k - i of a.
    localparam int LO = k < 128 ? 0 : k - 127;
    localparam int HI = k < D ? k : D - 1;
    assign sum[k] = shifted[k] ^ ^(a[k-LO:k-HI] & turned[D-1-LO:D-1-HI]);
  end
  gf_reduce reduce (.p(255'(sum)), .r(r));
endmodule

// A digit-serial multiplier: the digit of the highest powers first. Valid ceil(128 / D) cycles after `start`.
module gf_digit_serial #(parameter int D = 8) (
  input  logic         clk, start,
  input  logic [127:0] a, b,
  output logic [127:0] r
);
  localparam int STEPS = (128 + D - 1) / D;
  localparam int WIDE = STEPS * D;
  logic [127:0]    held_a, next;
  logic [WIDE-1:0] left, now;
  assign now = start ? WIDE'(b) : left;
  gf_digit_step #(.D(D)) step (.acc(start ? '0 : r), .a(start ? a : held_a), .d(now[WIDE-1 -: D]), .r(next));
  always_ff @(posedge clk) begin
    if (start) held_a <= a;
    left <= now << D;
    r <= next;
  end
endmodule

// A line of so many registers.
/* verilator lint_off UNUSEDSIGNAL */
module delay #(parameter int N = 1, parameter int CYCLES = 0) (input logic clk, input logic [N-1:0] d, output logic [N-1:0] q);
  if (CYCLES == 0) begin : none
    assign q = d;
  end else begin : line
    logic [CYCLES*N-1:0] held;
    always_ff @(posedge clk) held <= (CYCLES*N)'({held, d});
    assign q = held[CYCLES*N-1 -: N];
  end
endmodule
/* verilator lint_on UNUSEDSIGNAL */
