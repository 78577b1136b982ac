// All messages of vectors/ through the engine, as fast as it takes them: text, tags, H, masks and GHASH values, and in each cycle in which something is
// taken or given, what and how much, as sealsim's simulator has it. For Verilator 5 and Icarus Verilog 11.
module bench;
  localparam int LANES = @LANES@, W = @W@, KEYS = @ROUNDS@ + 1, MESSAGES = @MESSAGES@, AADS = @AADS@, TEXTS = @TEXTS@, ROWS = @ROWS@;
  logic [127:0] message[0:6*MESSAGES-1];             // lengths and flags, IV, H, mask, GHASH's value, tag
  logic [127:0] round_key[0:KEYS*MESSAGES-1];
  logic [127:0] aads[0:AADS+W-1], texts[0:TEXTS+LANES-1], outs[0:TEXTS+LANES-1];
  logic [63:0]  row[0:ROWS-1];                       // cycle, and blocks of AAD and text taken, of text given, and tags

  logic clk = 0, rst = 1, load = 0, start = 0, opens = 0;
  logic [95:0] iv = '0;
  logic [31:0] aad_bytes = '0, text_bytes = '0;
  logic [128*KEYS-1:0]  keys = '0;
  logic [128*W-1:0]     aad;
  logic [128*LANES-1:0] text, out;
  logic [3:0]  aad_taken, text_valid, text_taken, out_valid;
  logic        tag_valid, ready, room, rests;
  logic [127:0] tag;
  top dut (.*);

  int cycle = -2, started = 0, done = 0, hashed = 0, masked = 0, aad_at = 0, text_at = 0, out_at = 0, rows = 0, wrong = 0;
  int left;
  always_comb begin
    left = TEXTS - text_at;
    text_valid = left > LANES ? 4'(LANES) : 4'(left);
    for (int i = 0; i < W; i++) aad[128*i +: 128] = aads[aad_at+i];
    for (int i = 0; i < LANES; i++) text[128*i +: 128] = texts[text_at+i];
  end

  function automatic logic [127:0] reversed(input logic [127:0] x);
    for (int i = 0; i < 128; i++) reversed[i] = x[127-i];
  endfunction
  task automatic hold(input string what, input int number, input logic [127:0] got, input logic [127:0] expected);
    if (got !== expected) begin
      $display("cycle %0d: %s of %0d is %h, expected %h", cycle, what, number, got, expected);
      wrong = wrong + 1;
    end
  endtask

  always #1 clk = !clk;
  always @(posedge clk) begin
    cycle <= cycle + 1;
    {load, start} <= '0;
    if (cycle < 0) rst <= cycle < -1;
    else begin
      if (|aad_taken || |text_taken || |out_valid || tag_valid) begin
        hold("the cycle's row", rows, {64'd0, 32'(cycle), 8'(aad_taken), 8'(text_taken), 8'(out_valid), 8'(tag_valid)}, {64'd0, row[rows]});
        rows <= rows + 1;
      end
      for (int i = 0; i < LANES; i++) if (i < int'(out_valid)) hold("text block", out_at + i, out[128*i +: 128], outs[out_at+i]);
      if (dut.engine.known) begin
        hold("GHASH's value", hashed, reversed(dut.engine.y), message[6*hashed+4]);
        hold("H", hashed, reversed(dut.engine.power[0]), message[6*hashed+2]);
        hashed <= hashed + 1;
      end
      if (dut.engine.mask_leaves) begin
        hold("the mask", masked, dut.engine.made[0], message[6*masked+3]);
        masked <= masked + 1;
      end
      if (tag_valid) hold("the tag", done, tag, message[6*done+5]);
      aad_at <= aad_at + int'(aad_taken);
      text_at <= text_at + int'(text_taken);
      out_at <= out_at + int'(out_valid);
      done <= done + int'(tag_valid);
      if (started < MESSAGES && !load) begin
        if (message[6*started][65] && started == done + int'(tag_valid)) begin
          load <= 1'b1;
          for (int i = 0; i < KEYS; i++) keys[128*i +: 128] <= round_key[KEYS*started+i];
          message[6*started][65] <= 1'b0;
        end else if (!message[6*started][65] && ready && started - done - int'(tag_valid) < 2) begin
          start <= 1'b1;
          {opens, aad_bytes, text_bytes} <= message[6*started][64:0];
          iv <= message[6*started+1][95:0];
          started <= started + 1;
        end
      end
      if (done == MESSAGES || cycle == row[ROWS-1][63:32] + 1000) begin
        hold("the number of tags", MESSAGES, 128'(done), 128'(MESSAGES));
        hold("the number of rows", ROWS, 128'(rows), 128'(ROWS));
        $display("%0d messages, %0d blocks of text, %0d cycles, %0d rows, %0d wrong", done, out_at, cycle, rows, wrong);
        if (wrong != 0) $fatal(1, "the engine is not the simulator's");
        $finish;
      end
    end
  end
  initial begin
    $readmemh("vectors/messages.hex", message);
    $readmemh("vectors/keys.hex", round_key);
    $readmemh("vectors/aad.hex", aads);
    $readmemh("vectors/text.hex", texts);
    $readmemh("vectors/out.hex", outs);
    $readmemh("vectors/rows.hex", row);
  end
endmodule
