// An AES-GCM engine: one AES lane in counter mode, its keystream made ahead, and one serial GHASH unit.
//
//   load, keys --->| H                                         |
//   start, IV ---->| counter --> [lane] --> [keystream FIFO]   |
//   text --------->| ------------------+--------->(+)-->[out]--|---> out, in the cycle after
//   AAD ---------->| --> [GHASH] <-----+ open      seal |      |
//                  |        ^---------------------------+      |---> tag
//
// | | as `gcm::timing` has it, of one lane and without `control` |
// | --- | --- |
// | accepts | a text block per cycle whose keystream is valid, if GHASH takes it (open) or the output register is free (seal) |
// | keystream | the mask E(K, J0), then that of each text block, at most FIFO blocks from the lane's entrance to their use |
// | GHASH | AAD, ciphertext, the length block: each as soon as the unit takes it |
// | tag | a cycle after both GHASH's value and the mask are valid |
// | stalls | `text_taken` and `aad_taken` say what is taken |
//
// Of one message at a time: `load` and `start` only while `rests`, not together, and `start` after `load` once `ready`. `load` and `start` are registered: H
// enters the lane, and a message opens, in the cycle after. `load` clears the counter, so that no select is in front of the lane for H. Round keys are given
// from outside and stay from `load` until the last message's tag, the IV has 96 bits, and a lane has registers behind its rounds. What does not count may be
// anything: bytes behind the end of AAD or text, `text_valid` when the message's text has been taken, `iv`, lengths and `opens` without `start`. `out` is zero
// behind the text's end.
module engine #(
  parameter int ROUNDS = 14, parameter int REGISTERS = 1,   // REGISTERS 0: one round, through which a block passes ROUNDS times
  parameter bit COMPACT = 0, parameter int FIFO = 32,
  parameter int LEVELS = 0, parameter int PRODUCT = 1, parameter int REDUCTION = 1
) (
  input  logic         clk, rst,
  input  logic         load,
  input  logic [128*(ROUNDS+1)-1:0] keys,
  input  logic         start, opens,
  input  logic [95:0]  iv,
  input  logic [31:0]  aad_bytes, text_bytes,
  input  logic [127:0] aad,
  output logic         aad_taken,
  input  logic         text_valid,
  input  logic [127:0] text,
  output logic         text_taken,
  output logic         out_valid,
  output logic [127:0] out,
  output logic         tag_valid,
  output logic [127:0] tag,
  output logic         ready, rests
);
  localparam int P = FIFO > 1 ? $clog2(FIFO) : 1;
  localparam int C = $clog2(FIFO + 1);
  localparam logic [1:0] NOTHING = 0, H = 1, MASK = 2, KEYSTREAM = 3;

  // What is left of the message.
  logic         busy, opening, mask_due, ended;
  logic [127:0] nonce_counter;
  logic [31:0]  aad_length, text_length;
  logic [28:0]  aad_left, counters_left, text_left, hash_left;

  // The lane, and what each block in it becomes.
  logic         h_due, lane_free;
  logic [1:0]   enters, leaves;
  logic [127:0] block, made;
  logic [C-1:0] reserved, waiting;
  assign block = nonce_counter;
  always_comb begin
    enters = NOTHING;
    if (lane_free) begin
      if (h_due) enters = H;
      else if (mask_due) enters = MASK;
      else if (counters_left != '0 && reserved != C'(FIFO)) enters = KEYSTREAM;
    end
  end
  if (REGISTERS == 0) begin : looped
    logic [1:0] inside_;
    logic done;
    aes_iterative #(.ROUNDS(ROUNDS), .COMPACT(COMPACT)) lane (
      .clk(clk), .rst(rst), .valid(enters != NOTHING), .keys(keys), .block(block), .ready(lane_free), .done(done), .keystream(made));
    always_ff @(posedge clk) if (enters != NOTHING) inside_ <= enters;
    assign leaves = done ? inside_ : NOTHING;
  end else begin : unrolled
    localparam int LATENCY = ROUNDS * REGISTERS;
    logic [2*LATENCY-1:0] flight;
    aes_lane #(.ROUNDS(ROUNDS), .REGISTERS(REGISTERS), .COMPACT(COMPACT)) lane (.clk(clk), .keys(keys), .block(block), .keystream(made));
    always_ff @(posedge clk) flight <= rst ? '0 : (2*LATENCY)'({flight, enters});
    assign lane_free = 1'b1;
    assign leaves = flight[2*LATENCY-1 -: 2];
  end

  // Keystream: what leaves the lane is used at once if nothing waits before it.
  logic [FIFO-1:0][127:0] fifo;
  logic [P-1:0] head, tail;
  wire arrives = leaves == KEYSTREAM;
  wire valid   = waiting != '0 || arrives;
  logic [127:0] keystream;
  always_comb begin
    keystream = waiting == '0 ? made : '0;
    for (int i = 0; i < FIFO; i++) keystream |= fifo[i] & {128{waiting != '0 && head == P'(i)}};
  end
  wire kept    = arrives && !(waiting == '0 && text_taken);
  wire used    = waiting != '0 && text_taken;

  // GHASH, and the ways to it.
  logic         full, hash_ready;
  logic [127:0] x, y;
  // Bytes of a block that count, of which the last may be short.
  function automatic logic [127:0] keep(input logic last, input logic [3:0] odd);
    keep = last && odd != '0 ? {128{1'b1}} << {4'd0 - odd, 3'b0} : {128{1'b1}};
  endfunction
  wire [127:0] aad_keep  = keep(aad_left == 29'd1, aad_length[3:0]);
  wire [127:0] text_keep = keep(text_left == 29'd1, text_length[3:0]);
  wire [127:0] crossed = (text ^ keystream) & text_keep;
  wire hash_open   = busy && hash_ready && !ended;
  assign aad_taken = hash_open && aad_left != '0;
  wire drains      = hash_open && aad_left == '0 && full;
  wire way_free    = opening ? hash_open && aad_left == '0 : !full || drains;
  assign text_taken = text_left != '0 && text_valid && valid && way_free;
  wire enters_text = drains || opening && text_taken;
  wire ends        = hash_open && aad_left == '0 && hash_left == '0;
  always_comb begin
    if (aad_left != '0) x = aad & aad_keep;
    else if (hash_left == '0) x = {29'b0, aad_length, 3'b0, 29'b0, text_length, 3'b0};
    else x = opening ? text & text_keep : out;
  end
  logic [127:0] mask, turned_x, value;
  logic         mask_known;
  for (genvar i = 0; i < 128; i++) begin : turn
    assign turned_x[i] = x[127-i];
    assign value[i] = y[127-i];
  end
  logic [127:0] h;
  for (genvar i = 0; i < 128; i++) begin : turn_h
    assign h[i] = made[127-i];
  end
  wire tags = ended && hash_ready && (mask_known || leaves == MASK);
  ghash_serial #(.LEVELS(LEVELS), .PRODUCT(PRODUCT), .REDUCTION(REDUCTION)) hash (
    .clk(clk), .rst(rst), .load(leaves == H), .load_power(h), .start(tags), .valid(aad_taken || enters_text || ends), .x(turned_x),
    .ready(hash_ready), .y(y));

  assign rests = !busy && !h_due;
  wire [28:0] text_blocks = 29'((text_bytes + 33'd15) >> 4);
  always_ff @(posedge clk) begin
    out_valid <= text_taken;
    tag_valid <= tags;
    if (text_taken) out <= crossed;
    if (tags) tag <= value ^ (mask_known ? mask : made);
    if (leaves == MASK) mask <= made;
    for (int i = 0; i < FIFO; i++) if (kept && tail == P'(i)) fifo[i] <= made;
    if (rst) begin
      {busy, h_due, mask_due, ended, full, mask_known, ready} <= '0;
      {counters_left, text_left, reserved, waiting, head, tail} <= '0;
    end else begin
      h_due <= load || h_due && enters != H;
      ready <= !load && (ready || leaves == H);
      mask_known <= !tags && (mask_known || leaves == MASK);
      ended <= !tags && (ended || ends);
      full <= !opening && (text_taken || full && !drains);
      reserved <= reserved + C'(enters == KEYSTREAM) - C'(text_taken);
      waiting <= waiting + C'(kept) - C'(used);
      if (kept) tail <= tail == P'(FIFO-1) ? '0 : tail + 1'b1;
      if (used) head <= head == P'(FIFO-1) ? '0 : head + 1'b1;
      if (load) nonce_counter <= '0;
      if (start) begin
        {busy, mask_due, opening} <= {2'b11, opens};
        nonce_counter <= {iv, 32'd1};
        {aad_length, text_length} <= {aad_bytes, text_bytes};
        aad_left <= 29'((aad_bytes + 33'd15) >> 4);
        counters_left <= text_blocks;
        text_left <= text_blocks;
        hash_left <= text_blocks;
      end else begin
        if (tags) busy <= 1'b0;
        if (enters == MASK) mask_due <= 1'b0;
        if (enters == KEYSTREAM) counters_left <= counters_left - 1'b1;
        if (enters == MASK || enters == KEYSTREAM) nonce_counter[31:0] <= nonce_counter[31:0] + 1'b1;
        if (aad_taken) aad_left <= aad_left - 1'b1;
        if (text_taken) text_left <= text_left - 1'b1;
        if (enters_text) hash_left <= hash_left - 1'b1;
      end
    end
  end
endmodule
