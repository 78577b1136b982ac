// AES lanes. Byte i of a block stands at bits 127 - 8 i, as FIPS 197 writes it.
//
//                 +-- pass 1 ... PASSES --------------------+
//                 v                                         |
//   block --(+)---> [round]-[regs]-[round]-[regs]- ... -----+---> keystream block
//            ^        HARDWARE rounds, REGISTERS behind each
//          key 0
//
// | | as `gcm::aes` has it |
// | --- | --- |
// | accepts | a block per cycle while `ready`: where a block passes more than once, HARDWARE x REGISTERS blocks, then none until they are out |
// | latency | ceil(ROUNDS / HARDWARE) x HARDWARE x REGISTERS, and one cycle where REGISTERS is 0; hardware rounds beyond the key's are bypassed |
// | keys | round keys are given from outside: the key schedule is not part of it |

/* verilator lint_off DECLFILENAME */
// SubBytes of one byte from its truth table.
(* keep_hierarchy *) module sbox_table (input logic [7:0] x, output logic [7:0] y);
  // Entry i at bits 8 i.
  localparam logic [2047:0] TABLE = {
    256'h16bb54b00f2d99416842e6bf0d89a18cdf2855cee9871e9b948ed9691198f8e1,
    256'h9e1dc186b95735610ef6034866b53e708a8bbd4b1f74dde8c6b4a61c2e2578ba,
    256'h08ae7a65eaf4566ca94ed58d6d37c8e779e4959162acd3c25c2406490a3a32e0,
    256'hdb0b5ede14b8ee4688902a22dc4f816073195d643d7ea7c41744975fec130ccd,
    256'hd2f3ff1021dab6bcf5389d928f40a351a89f3c507f02f94585334d43fbaaefd0,
    256'hcf584c4a39becb6a5bb1fc20ed00d153842fe329b3d63b52a05a6e1b1a2c8309,
    256'h75b227ebe28012079a059618c323c7041531d871f1e5a534ccf73f362693fdb7,
    256'hc072a49cafa2d4adf04759fa7dc982ca76abd7fe2b670130c56f6bf27b777c63};
`ifdef BEHAVIOURAL
  assign y = TABLE[8*x +: 8];
`else
  // A selection of 1 of 256 for each bit: one of all bits at once takes a hundred times as long to synthesise.
  for (genvar b = 0; b < 8; b++) begin : bit_
    logic [255:0] column;
    for (genvar i = 0; i < 256; i++) begin : entry
      assign column[i] = TABLE[8*i+b];
    end
    assign y[b] = column[x];
  end
`endif
endmodule

// SubBytes of one byte in 115 gates: Boyar and Peralta, "A small depth-16 circuit for the AES S-box", IFIP SEC 2012, with its names.
(* keep_hierarchy *) module sbox_compact (input logic [7:0] x, output logic [7:0] y);
`ifdef BEHAVIOURAL
  sbox_table proven (.x(x), .y(y));                  // rtl/flow/prove.py
`else
  wire U0 = x[7], U1 = x[6], U2 = x[5], U3 = x[4], U4 = x[3], U5 = x[2], U6 = x[1], U7 = x[0];
  wire
    T1 = U0 ^ U3, T2 = U0 ^ U5, T3 = U0 ^ U6, T4 = U3 ^ U5, T5 = U4 ^ U6, T6 = T1 ^ T5, T7 = U1 ^ U2, T8 = U7 ^ T6, T9 = U7 ^ T7,
    T10 = T6 ^ T7, T11 = U1 ^ U5, T12 = U2 ^ U5, T13 = T3 ^ T4, T14 = T6 ^ T11, T15 = T5 ^ T11, T16 = T5 ^ T12, T17 = T9 ^ T16,
    T18 = U3 ^ U7, T19 = T7 ^ T18, T20 = T1 ^ T19, T21 = U6 ^ U7, T22 = T7 ^ T21, T23 = T2 ^ T22, T24 = T2 ^ T10, T25 = T20 ^ T17,
    T26 = T3 ^ T16, T27 = T1 ^ T12;
  wire
    D = U7;
  wire
    M1 = T13 & T6, M2 = T23 & T8, M3 = T14 ^ M1, M4 = T19 & D, M5 = M4 ^ M1, M6 = T3 & T16, M7 = T22 & T9, M8 = T26 ^ M6, M9 = T20 & T17,
    M10 = M9 ^ M6, M11 = T1 & T15, M12 = T4 & T27, M13 = M12 ^ M11, M14 = T2 & T10, M15 = M14 ^ M11, M16 = M3 ^ M2, M17 = M5 ^ T24,
    M18 = M8 ^ M7, M19 = M10 ^ M15, M20 = M16 ^ M13, M21 = M17 ^ M15, M22 = M18 ^ M13, M23 = M19 ^ T25, M24 = M22 ^ M23, M25 = M22 & M20,
    M26 = M21 ^ M25, M27 = M20 ^ M21, M28 = M23 ^ M25, M29 = M28 & M27, M30 = M26 & M24, M31 = M20 & M23, M32 = M27 & M31, M33 = M27 ^ M25,
    M34 = M21 & M22, M35 = M24 & M34, M36 = M24 ^ M25, M37 = M21 ^ M29, M38 = M32 ^ M33, M39 = M23 ^ M30, M40 = M35 ^ M36, M41 = M38 ^ M40,
    M42 = M37 ^ M39, M43 = M37 ^ M38, M44 = M39 ^ M40, M45 = M42 ^ M41, M46 = M44 & T6, M47 = M40 & T8, M48 = M39 & D, M49 = M43 & T16,
    M50 = M38 & T9, M51 = M37 & T17, M52 = M42 & T15, M53 = M45 & T27, M54 = M41 & T10, M55 = M44 & T13, M56 = M40 & T23, M57 = M39 & T19,
    M58 = M43 & T3, M59 = M38 & T22, M60 = M37 & T20, M61 = M42 & T1, M62 = M45 & T4, M63 = M41 & T2;
  wire
    L0 = M61 ^ M62, L1 = M50 ^ M56, L2 = M46 ^ M48, L3 = M47 ^ M55, L4 = M54 ^ M58, L5 = M49 ^ M61, L6 = M62 ^ L5, L7 = M46 ^ L3,
    L8 = M51 ^ M59, L9 = M52 ^ M53, L10 = M53 ^ L4, L11 = M60 ^ L2, L12 = M48 ^ M51, L13 = M50 ^ L0, L14 = M52 ^ M61, L15 = M55 ^ L1,
    L16 = M56 ^ L0, L17 = M57 ^ L1, L18 = M58 ^ L8, L19 = M63 ^ L4, L20 = L0 ^ L1, L21 = L1 ^ L7, L22 = L3 ^ L12, L23 = L18 ^ L2,
    L24 = L15 ^ L9, L25 = L6 ^ L10, L26 = L7 ^ L9, L27 = L8 ^ L10, L28 = L11 ^ L14, L29 = L11 ^ L17;
  assign
    y[7] = L6 ^ L24, y[6] = ~(L16 ^ L26), y[5] = ~(L19 ^ L28), y[4] = L6 ^ L21, y[3] = L20 ^ L22, y[2] = L25 ^ L29, y[1] = ~(L13 ^ L27),
    y[0] = ~(L6 ^ L23);
`endif
endmodule

// SubBytes and ShiftRows of a block.
module aes_sub #(parameter bit COMPACT = 0) (input logic [127:0] s, output logic [127:0] r);
  logic [127:0] b;
  for (genvar i = 0; i < 16; i++) begin : byte_
    if (COMPACT) begin : c
      sbox_compact of (.x(s[127-8*i -: 8]), .y(b[127-8*i -: 8]));
    end else begin : t
      sbox_table of (.x(s[127-8*i -: 8]), .y(b[127-8*i -: 8]));
    end
    assign r[127-8*i -: 8] = b[127-8*(4*((i/4 + i%4) % 4) + i%4) -: 8];
  end
endmodule

// MixColumns of a block.
module aes_mix (input logic [127:0] s, output logic [127:0] r);
  for (genvar i = 0; i < 16; i++) begin : byte_
    localparam int COLUMN = i - i % 4;
    logic [7:0] a, b, c, d, e;
    assign a = s[127-8*i -: 8];
    assign b = s[127-8*(COLUMN + (i+1)%4) -: 8];
    assign c = s[127-8*(COLUMN + (i+2)%4) -: 8];
    assign d = s[127-8*(COLUMN + (i+3)%4) -: 8];
    assign e = a ^ b;
    assign r[127-8*i -: 8] = {e[6:0], 1'b0} ^ (8'h1b & {8{e[7]}}) ^ b ^ c ^ d;
  end
endmodule

// A round. MIX tells the last one apart: 0 never, 1 always, 2 as `last` says. A register stands behind SubBytes if CUT.
module aes_round #(parameter bit COMPACT = 0, parameter int MIX = 1, parameter bit CUT = 0) (
  input  logic         clk, last,
  input  logic [127:0] s, key,
  output logic [127:0] r
);
  logic [127:0] subbed, b, mixed;
  aes_sub #(.COMPACT(COMPACT)) sub (.s(s), .r(subbed));
  delay #(.N(128), .CYCLES(int'(CUT))) hold (.clk(clk), .d(subbed), .q(b));
  aes_mix mix (.s(b), .r(mixed));
  assign r = key ^ (MIX == 0 ? b : MIX == 1 ? mixed : last ? b : mixed);
endmodule

// A lane whose rounds are all in hardware: a block per cycle. Without a register per round all of them settle between two: the counter's, which
// is then part of the lane, and the keystream's.
module aes_lane #(parameter int ROUNDS = 14, parameter int REGISTERS = 1, parameter bit COMPACT = 0) (
  input  logic                      clk,
  input  logic [128*(ROUNDS+1)-1:0] keys,            // round key r at bits 128 r
  input  logic [127:0]              block,
  output logic [127:0]              keystream
);
  logic [ROUNDS:0][127:0] state;
  logic [127:0] counter;
  delay #(.N(128), .CYCLES(int'(REGISTERS == 0))) first (.clk(clk), .d(block), .q(counter));
  assign state[0] = counter ^ keys[127:0];
  for (genvar r = 0; r < ROUNDS; r++) begin : round
    logic [127:0] out;
    aes_round #(.COMPACT(COMPACT), .MIX(int'(r < ROUNDS-1)), .CUT(REGISTERS > 1)) body
      (.clk(clk), .last(1'b0), .s(state[r]), .key(keys[128*(r+1) +: 128]), .r(out));
    delay #(.N(128), .CYCLES(REGISTERS > 1 ? REGISTERS - 1 : REGISTERS)) hold (.clk(clk), .d(out), .q(state[r+1]));
  end
  delay #(.N(128), .CYCLES(int'(REGISTERS == 0))) final_ (.clk(clk), .d(state[ROUNDS]), .q(keystream));
endmodule

// A lane with one round in hardware, through which a block passes ROUNDS times.
module aes_iterative #(parameter int ROUNDS = 14, parameter bit COMPACT = 0) (
  input  logic         clk, rst, valid,
  input  logic [128*(ROUNDS+1)-1:0] keys,
  input  logic [127:0] block,
  output logic         ready, done,
  output logic [127:0] keystream
);
  logic [127:0] key, out;
  int round;                                         // that the state has behind it
  logic busy;
  assign key = keys[128*((busy ? round : 0) + 1) +: 128];
  aes_round #(.COMPACT(COMPACT), .MIX(2)) body
    (.clk(clk), .last(busy && round == ROUNDS-1), .s(busy ? keystream : block ^ keys[127:0]), .key(key), .r(out));
  assign ready = !busy;
  always_ff @(posedge clk) begin
    done <= 1'b0;
    if (rst) {busy, round} <= '0;
    else if (busy || valid) begin
      keystream <= out;
      round <= busy ? round + 1 : 1;
      busy <= !(busy && round == ROUNDS-1);
      done <= busy && round == ROUNDS-1;
    end
  end
endmodule
