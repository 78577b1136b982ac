// The AES-GCM engine of @DESIGN@, with its parameters. What its ports mean stands at the head of src/wide.sv.
module top (
  input  logic         clk, rst, load,
  input  logic [@KEYS@-1:0] keys,
  input  logic         start, opens,
  input  logic [95:0]  iv,
  input  logic [31:0]  aad_bytes, text_bytes,
  input  logic [128*@W@-1:0] aad,
  output logic [3:0]   aad_taken,
  input  logic [3:0]   text_valid,
  input  logic [128*@LANES@-1:0] text,
  output logic [3:0]   text_taken, out_valid,
  output logic [128*@LANES@-1:0] out,
  output logic         tag_valid,
  output logic [127:0] tag,
  output logic         ready, room, rests
);
  engine_wide #(
    .LANES(@LANES@), .ROUNDS(@ROUNDS@), .REGISTERS(@REGISTERS@), .COMPACT(1'b@COMPACT@), .FIFO(@FIFO@),
    .W(@W@), .G(@G@), .COLLECT(1'b@COLLECT@), .LEVELS(@LEVELS@), .PRODUCT(@PRODUCT@), .REDUCTION(@REDUCTION@)
  ) engine (.*);
endmodule
