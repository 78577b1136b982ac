// An AES-GCM engine of several lanes: keystream made ahead, one GHASH unit that takes W blocks in a cycle, messages back to back.
//
//   load, keys --->| H --> powers                              |
//   start, IV ---->| counters --> [lanes] --> [keystream FIFO] |
//   text --------->| ------------------+--------->(+)-->[out]--|---> out, in the cycle after
//   AAD ---------->| --> [GHASH] <-----+ open      seal |      |
//                  |        ^---------------------------+      |---> tag
//
// | | as `gcm::timing` has it, without `control` |
// | --- | --- |
// | accepts | LANES text blocks per cycle, as far as their keystream is valid and GHASH (open) or the output register (seal) takes them; W blocks of AAD |
// | keystream | block 0 of a message, the mask, enters lane 0, block i lane i mod LANES, in order, at most FIFO from entrance to use |
// | GHASH | W 1, COLLECT 0: serial. Else groups of W blocks, collected in a register, G accumulators, powers of H made one at a time |
// | next message | its counters enter in the cycle after the last of the one before, its AAD in the cycle in which that one's value is known; two are open |
// | tag | a cycle after both GHASH's value and the mask are valid |
//
// Block i of `aad`, `text` and `out` lies at bits 128 i, and the first that count are taken: `aad` holds the next W blocks of the message at GHASH, `text` so many
// as `text_valid` says, of one message behind another. `start` only while `ready` and `room`, `load` only while `rests`; both are registered. `ready` comes a cycle
// after all powers. What is not counted may be anything, as in engine.sv, and round keys stay as there. LANES and W are 1, 2, 4 or 8.
/* verilator lint_off DECLFILENAME */
module engine_wide #(
  parameter int LANES = 2, parameter int ROUNDS = 14, parameter int REGISTERS = 1, // REGISTERS 0: one round, through which a block passes ROUNDS times
  parameter bit COMPACT = 0, parameter int FIFO = 32,
  parameter int W = 1, parameter int G = 1, parameter bit COLLECT = 1'b0,
  parameter int LEVELS = 0, parameter int PRODUCT = 1, parameter int REDUCTION = 1
) (
  input  logic         clk, rst,
  input  logic         load,
  input  logic [128*(ROUNDS+1)-1:0] keys,
  input  logic         start, opens,
  input  logic [95:0]  iv,
  input  logic [31:0]  aad_bytes, text_bytes,
  input  logic [128*W-1:0] aad,
  output logic [3:0]   aad_taken,
  input  logic [3:0]   text_valid,
  input  logic [128*LANES-1:0] text,
  output logic [3:0]   text_taken,
  output logic [3:0]   out_valid,
  output logic [128*LANES-1:0] out,
  output logic         tag_valid,
  output logic [127:0] tag,
  output logic         ready, room, rests
);
  localparam int B = LANES > 1 ? $clog2(LANES) : 1;
  localparam int DEPTH = (FIFO + LANES - 1) / LANES;
  localparam int R = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam int C = $clog2(FIFO + 1);
  localparam int L = PRODUCT + REDUCTION;
  localparam int WITHIN = PRODUCT > 0 ? PRODUCT - 1 : 0;
  localparam bit BEHIND = PRODUCT > 0 && REDUCTION > 0;
  localparam int SUMS = REDUCTION > 1 ? REDUCTION - 1 : 0;
  localparam int POWERS = W * G;
  localparam int N = $clog2(POWERS + 2);
  localparam logic [1:0] NOTHING = 0, H = 1, MASK = 2, KEYSTREAM = 3;

  // Small counts go in unary where they decide anything: bit i says that there are more than i.
  function automatic logic [8:0] above(input logic [28:0] left);
    for (int i = 0; i < 9; i++) above[i] = left[28:4] != '0 || left[3:0] > 4'(i);
  endfunction
  function automatic logic exactly(input logic [8:0] unary, input int count);
    exactly = (count == 0 || unary[count-1]) && !unary[count];
  endfunction
  function automatic logic [28:0] less(input logic [28:0] left, input logic [7:0] unary);
    less = left;
    for (int i = 0; i < 8; i++) if (unary[i]) less = left - 29'(i + 1);
  endfunction
  function automatic logic [3:0] count(input logic [7:0] bits);
    count = '0;
    for (int i = 0; i < 8; i++) count = count + 4'(bits[i]);
  endfunction
  function automatic logic [3:0] binary(input logic [7:0] unary);
    binary = '0;
    for (int i = 0; i < 8; i++) if (unary[i]) binary = 4'(i + 1);
  endfunction
  // Bytes of a block that count, of which the last may be short.
  function automatic logic [127:0] keep(input logic last, input logic [3:0] odd);
    keep = last && odd != '0 ? {128{1'b1}} << {4'd0 - odd, 3'b0} : {128{1'b1}};
  endfunction
  function automatic logic [127:0] reversed(input logic [127:0] x);
    for (int i = 0; i < 128; i++) reversed[i] = x[127-i];
  endfunction
  function automatic logic [B-1:0] around(input int place);
    around = B'(place % LANES);
  endfunction

  // Two messages: the oldest, the one at GHASH, the one whose mask comes next, and where the next one goes.
  logic [1:0] open, opening, first, length_in, ended, value_known, mask_known;
  logic       oldest, hashed, masked, next_message;
  logic [1:0][31:0]  aad_length, text_length;
  logic [1:0][3:0]   text_odd;                                  // of text_length
  logic [1:0][28:0]  aad_left, text_left, hash_left, groups;    // groups that follow the one at hand
  logic [1:0][W-1:0] skipped;                                   // places of the first group that stay empty
  logic [1:0][127:0] mask, value;

  // Counters, a register for each lane, and what each block in a lane becomes.
  logic         h_due, making, mask_due, pending;
  logic [95:0]  pending_iv;
  logic [28:0]  counters_left;
  logic [B-1:0] lane_next, lane_out;
  logic [C-1:0] reserved, waiting;
  logic [LANES-1:0] lane_free;
  logic [LANES-1:0][1:0] enters, leaves;
  logic [LANES-1:0][127:0] nonce_counter, made;
  logic [7:0]   reserves, enters_in_order;
  logic [8:0]   counters_above, room_above;
  logic         mask_enters, counters_end;
  assign counters_above = above(counters_left);
  assign room_above = above(29'(FIFO) - 29'(reserved));
  always_comb begin
    logic go;
    enters = '0;
    {enters_in_order, reserves} = '0;
    go = 1'b1;
    for (int k = 0; k < LANES; k++) begin
      go = go && lane_free[around(int'(lane_next) + k)];
      if (!mask_due) go = go && counters_above[k] && room_above[k];
      else if (k > 0) go = go && counters_above[k-1] && room_above[k-1];
      if (go) enters[around(int'(lane_next) + k)] = mask_due && k == 0 ? MASK : KEYSTREAM;
      enters_in_order[k] = go;
    end
    for (int k = 0; k < LANES; k++) reserves[k] = mask_due ? enters_in_order[k+1] : enters_in_order[k];
    mask_enters = mask_due && enters_in_order[0];
    counters_end = mask_due == mask_enters;
    for (int k = 0; k <= LANES; k++) if (exactly(counters_above, k) && k > 0) counters_end = counters_end && reserves[k-1];
    if (counters_above[LANES]) counters_end = 1'b0;
    if (h_due && lane_free[0]) enters[0] = H;
  end
  for (genvar l = 0; l < LANES; l++) begin : aes
    if (REGISTERS == 0) begin : looped
      logic [1:0] inside_;
      logic done;
      aes_iterative #(.ROUNDS(ROUNDS), .COMPACT(COMPACT)) lane (
        .clk(clk), .rst(rst), .valid(enters[l] != NOTHING), .keys(keys), .block(nonce_counter[l]), .ready(lane_free[l]), .done(done), .keystream(made[l]));
      always_ff @(posedge clk) if (enters[l] != NOTHING) inside_ <= enters[l];
      assign leaves[l] = done ? inside_ : NOTHING;
    end else begin : unrolled
      localparam int LATENCY = ROUNDS * REGISTERS;
      logic [2*LATENCY-1:0] flight;
      aes_lane #(.ROUNDS(ROUNDS), .REGISTERS(REGISTERS), .COMPACT(COMPACT)) lane (.clk(clk), .keys(keys), .block(nonce_counter[l]), .keystream(made[l]));
      always_ff @(posedge clk) flight <= rst ? '0 : (2*LATENCY)'({flight, enters[l]});
      assign lane_free[l] = 1'b1;
      assign leaves[l] = flight[2*LATENCY-1 -: 2];
    end
    always_ff @(posedge clk)
      if (load) nonce_counter[l] <= '0;
      else if (counters_end && start) nonce_counter[l] <= {iv, 32'(l + 1)};
      else if (counters_end && pending) nonce_counter[l] <= {pending_iv, 32'(l + 1)};
      else if (enters[l][1]) nonce_counter[l][31:0] <= nonce_counter[l][31:0] + 32'(LANES);
  end

  // Keystream in banks: what leaves the lanes goes to the tail in its order, and is used at once if nothing waits before it.
  logic [LANES-1:0][DEPTH-1:0][127:0] fifo;
  logic [LANES-1:0][127:0] arriving, found, keystream;
  logic [B-1:0] head_bank, tail_bank, lane_first;
  logic [R-1:0] head_row, tail_row;
  logic [7:0]   arrived, valid;
  logic [8:0]   waiting_above;
  function automatic logic [R-1:0] row_after(input logic [R-1:0] row);
    row_after = row == R'(DEPTH-1) ? '0 : row + 1'b1;
  endfunction
  wire mask_leaves = leaves[0] == MASK;
  assign lane_first = mask_leaves ? around(1) : lane_out;
  logic [LANES-1:0] leaves_keystream;
  for (genvar l = 0; l < LANES; l++) begin : leaving
    assign leaves_keystream[l] = leaves[l] == KEYSTREAM;
  end
  assign waiting_above = above(29'(waiting));
  always_comb begin
    {arrived, valid} = '0;
    for (int k = 0; k < LANES; k++) arrived[k] = count(8'(leaves_keystream)) > 4'(k);
    for (int j = 0; j < LANES; j++) begin
      valid[j] = waiting_above[j];
      for (int k = 0; k < LANES; k++) if (k <= j) valid[j] = valid[j] || exactly(waiting_above, k) && arrived[j-k];
    end
  end
  for (genvar b = 0; b < LANES; b++) begin : bank
    wire [B-1:0] from_tail = around(b + LANES - int'(tail_bank));
    wire [B-1:0] from_head = around(b + LANES - int'(head_bank));
    wire [R-1:0] write_row = b < int'(tail_bank) ? row_after(tail_row) : tail_row;
    wire [R-1:0] read_row  = b < int'(head_bank) ? row_after(head_row) : head_row;
    logic [127:0] read;
    assign arriving[b] = made[around(int'(from_tail) + int'(lane_first))];
    always_comb begin
      read = '0;
      for (int i = 0; i < DEPTH; i++) read |= fifo[b][i] & {128{read_row == R'(i)}};
    end
    assign found[b] = waiting_above[4'(from_head)] ? read : arriving[b];
    always_ff @(posedge clk) for (int i = 0; i < DEPTH; i++) if (arrived[3'(from_tail)] && write_row == R'(i)) fifo[b][i] <= arriving[b];
  end

  // Text: which message each block is of, and what of it counts.
  logic [8:0] old_above, new_above, text_above;
  logic [7:0] there;
  logic [LANES-1:0][127:0] text_keep, crossed;
  assign old_above = above(text_left[oldest]);
  assign new_above = above(text_left[!oldest]);
  always_comb begin
    for (int j = 0; j < 9; j++) begin
      text_above[j] = old_above[j];
      for (int k = 0; k < 9; k++) if (k <= j) text_above[j] = text_above[j] || exactly(old_above, k) && new_above[j-k];
    end
    for (int j = 0; j < 8; j++) there[j] = text_above[j] && valid[j] && text_valid > 4'(j);
  end
  for (genvar j = 0; j < LANES; j++) begin : port
    wire last = old_above[j] ? !old_above[j+1] : !text_above[j+1];
    wire [3:0] odd_old = text_odd[oldest], odd_new = text_odd[!oldest];
    assign keystream[j] = found[around(int'(head_bank) + j)];
    assign text_keep[j] = keep(last, old_above[j] ? odd_old : odd_new);
    assign crossed[j] = (text[128*j +: 128] ^ keystream[j]) & text_keep[j];
  end

  // The output register is a ring, of which GHASH has yet to take `kept` blocks.
  logic [LANES-1:0][127:0] ring;
  logic [B-1:0] out_first, kept_first, kept_end;
  logic [3:0]   kept;
  logic [7:0]   opened, drained, sealed, takes, takes_old;
  logic [8:0]   kept_above;
  for (genvar j = 0; j < LANES; j++) begin : output_
    assign out[128*j +: 128] = ring[around(int'(out_first) + j)];
  end

  // GHASH's blocks in this cycle: AAD, ciphertext, the length block, as far as they are there and it has room.
  logic [W-1:0][127:0] entry;
  logic [7:0]  texts, streams, taken, aads, ciphers;
  logic        known, hash, active, opens_now, way_free, lengths;
  logic [8:0]  aad_above, hash_above;
  logic [31:0] aad_length_now, text_length_now;
  logic [28:0] aad_left_now;
  logic [W-1:0] below, below_now;
  logic [W:0]  place;
  assign active = open[hash] && ready && !ended[hash];
  assign opens_now = opening[hash];
  assign {aad_length_now, text_length_now, aad_left_now} = {aad_length[hash], text_length[hash], aad_left[hash]};
  assign aad_above = above(aad_left_now);
  assign hash_above = above(hash_left[hash]);
  assign kept_above = above(29'(kept));
  assign below_now = first[hash] ? skipped[hash] : below;
  for (genvar i = 0; i <= W; i++) begin : places
    assign place[i] = (i == 0 || below_now[i == 0 ? 0 : i-1]) && (i == W || !below_now[i == W ? 0 : i]);
  end
  always_comb begin
    {texts, streams, taken, aads, ciphers, lengths} = '0;
    // Ciphertext, and the length block behind it, from block k on.
    for (int k = 0; k < W; k++)
      if (hash_above[k]) texts[k] = k < LANES && (opens_now ? there[k] : kept_above[k]);
      else if (exactly(hash_above, k)) texts[k] = !length_in[hash] && (k == 0 || texts[k == 0 ? 0 : k-1]);
    for (int i = 0; i < W; i++) begin
      streams[i] = aad_above[i];
      for (int k = 0; k < W; k++) if (k <= i) streams[i] = streams[i] || exactly(aad_above, i - k) && texts[k];
      taken[i] = active && streams[i] && (way_free || COLLECT && !below_now[W-1-i]);
      aads[i] = taken[i] && aad_above[i];
      for (int k = 0; k < W; k++) if (k <= i) begin
        ciphers[k] = ciphers[k] || taken[i] && exactly(aad_above, i - k) && hash_above[k];
        lengths |= taken[i] && exactly(aad_above, i - k) && !hash_above[k];
      end
    end
  end
  assign aad_taken = binary(aads);
  always_comb begin
    for (int i = 0; i < W; i++) begin
      entry[i] = {29'b0, aad_length_now, 3'b0, 29'b0, text_length_now, 3'b0};
      for (int k = 0; k < W; k++)
        if (k <= i && k < LANES && exactly(aad_above, i - k) && hash_above[k])
          entry[i] = opens_now ? text[128*(k%LANES) +: 128] & text_keep[k%LANES] : ring[around(int'(kept_first) + k)];
      if (aad_above[i]) entry[i] = aad[128*i +: 128] & keep(aad_above[i] && !aad_above[i+1], aad_length_now[3:0]);
    end
  end
  // Behind those that GHASH takes straight from the ports: blocks to seal, of the oldest message and of the one behind it, as far as the ring has room.
  assign opened = ciphers & {8{opens_now}};
  assign drained = ciphers & {8{!opens_now}};
  always_comb begin
    logic new_follows, fits;
    new_follows = !opening[oldest] || !old_above[0];
    for (int k = 1; k <= LANES; k++) new_follows |= exactly(old_above, k) && opened[k-1];
    sealed = '0;
    for (int j = 0; j < LANES; j++) begin
      fits = !kept_above[LANES-1-j];
      for (int d = 1; d <= W; d++) if (d <= LANES) fits |= drained[d-1] && (d > j || !kept_above[d > j ? 0 : LANES-1-j+d]);
      sealed[j] = there[j] && fits && (old_above[j] ? !opening[oldest] : !opening[!oldest] && new_follows);
    end
  end
  assign takes = opened | sealed;
  assign takes_old = takes & old_above[7:0];
  assign text_taken = binary(takes);

  // The group at hand: places `below` are taken, and what enters goes to those from there on, then to the first of the next group.
  logic [W-1:0][127:0] collected, turned;
  logic [W-1:0] has, here, next_group;
  logic         issue;
  assign issue = active && way_free && (below_now[W-1] || here[W-1]);

  // Powers: H^j of H^ceil(j/2) and H^floor(j/2), as soon as these are there.
  logic [POWERS-1:0][127:0] power;
  logic [N-1:0] issued, powers;                      // of which so many have been issued, and stand
  wire [N-1:0] half = N'((32'(issued) + 32'd2) >> 1);
  wire makes = issued != '0 && issued < N'(POWERS) && half <= powers;
  assign ready = powers == N'(POWERS);

  logic [G-1:0][127:0] accumulator;
  logic [G-1:0] turn, turn_now, written, written_now, place_of, arrives, busy;
  logic         power_arrives, known_next;
  logic [127:0] fed, reduced, y;
  logic [254:0] sum, settled;
  logic [W-1:0][254:0] product;
  assign turn_now = first[hash] ? G'(1) : turn;
  assign written_now = first[hash] ? '0 : written;
  logic [28:0] groups_now;
  assign groups_now = groups[hash];
  for (genvar g = 0; g < G; g++) begin : accumulators
    if (g == G - 1) begin : most
      assign place_of[g] = G == 1 || groups_now > 29'(G - 2);
    end else begin : few
      assign place_of[g] = groups_now == 29'(g);
    end
  end
  always_comb begin
    {fed, y} = '0;
    for (int g = 0; g < G; g++) begin
      fed |= accumulator[g] & {128{turn_now[g] && written_now[g] && !makes}};
      y ^= accumulator[g] & {128{written[g]}};
    end
  end
  always_comb begin
    {here, next_group, turned} = '0;
    for (int l = 0; l < W; l++)
      for (int i = 0; i <= W; i++) begin
        if (i <= l) here[l] = here[l] || place[i] && taken[l-i];
        else next_group[l] = next_group[l] || COLLECT && place[i] && taken[l+W-i];
        turned[l] = turned[l] | entry[(l + W - i) % W] & {128{place[i]}};
      end
  end
  for (genvar l = 0; l < W; l++) begin : lane
    logic [127:0] a, b;
    wire had = COLLECT && has[l];
    wire [127:0] block = reversed(collected[l] & {128{had}} | turned[l] & {128{here[l]}});
    always_comb begin
      {a, b} = '0;
      for (int i = 0; i < POWERS; i++) begin
        if (i % W == W - 1 - l) b |= power[i] & {128{!makes && place_of[i / W]}};
        if (l == 0) a |= power[i] & {128{makes && half == N'(i + 1)}};
        if (l == 0) b |= power[i] & {128{makes && issued + 1'b1 - half == N'(i + 1)}};
      end
      a |= block ^ (l == 0 ? fed : 128'b0);
    end
    gf_product #(.LEVELS(LEVELS), .REG(WITHIN), .OUT(BEHIND)) multiply (.clk(clk), .a(a), .b(b), .p(product[l]));
    always_ff @(posedge clk) begin
      if (here[l] || next_group[l]) collected[l] <= turned[l];
      has[l] <= !rst && (issue ? next_group[l] : had || here[l]);
    end
  end
  always_comb begin
    sum = '0;
    for (int l = 0; l < W; l++) sum ^= product[l];
  end
  delay #(.N(255), .CYCLES(SUMS)) hold (.clk(clk), .d(sum), .q(settled));
  gf_reduce reduce (.p(settled), .r(reduced));
  if (L == 1) begin : at_once
    assign {power_arrives, arrives} = {makes, turn_now & {G{issue}}};
    assign busy = '0;
    assign known_next = issue && groups_now == '0;
  end else begin : later
    logic [(G+1)*(L-1)-1:0] flight;
    wire [(G+1)*(L-1)-1:0] flight_next = ((G+1)*(L-1))'({flight, makes, turn_now & {G{issue}}});
    always_ff @(posedge clk) flight <= rst ? '0 : flight_next;
    assign known_next = ended[hash] && flight_next == '0;
    assign {power_arrives, arrives} = flight[(G+1)*(L-1)-1 -: G+1];
    always_comb begin
      busy = '0;
      for (int i = 0; i < L-1; i++) busy |= flight[(G+1)*i +: G];
    end
  end
  assign way_free = (busy & turn_now) == '0;
  // In the cycle in which a value is known the next message has GHASH already: both are registered, so that selects need not wait for them.
  assign hashed = hash ^ known;

  // Tags, in the order of the messages.
  wire value_now = known && hashed == oldest;
  wire mask_now  = mask_leaves && masked == oldest;
  wire tags = open[oldest] && (value_now || value_known[oldest]) && (mask_now || mask_known[oldest]);
  assign room = open != 2'b11 || tags;
  assign rests = open == '0 && !making;
  wire [28:0] text_blocks = 29'((text_bytes + 33'd15) >> 4);
  wire [28:0] aad_blocks = 29'((aad_bytes + 33'd15) >> 4);
  wire [28:0] blocks = aad_blocks + text_blocks;
  wire [3:0] takes_count = binary(takes);
  wire [3:0] arrived_count = binary(arrived);
  wire [4:0] head_sum = 5'(head_bank) + 5'(takes_count);
  wire [4:0] tail_sum = 5'(tail_bank) + 5'(arrived_count);
  always_ff @(posedge clk) begin
    tag_valid <= tags;
    out_valid <= takes_count;
    out_first <= kept_end;
    if (tags) tag <= (value_known[oldest] ? value[oldest] : reversed(y)) ^ (mask_known[oldest] ? mask[oldest] : made[0]);
    if (known) value[hashed] <= reversed(y);
    if (mask_leaves) mask[masked] <= made[0];
    for (int s = 0; s < LANES; s++)
      if (takes[3'(around(s + LANES - int'(kept_end)))]) ring[s] <= crossed[around(s + LANES - int'(kept_end))];
    for (int g = 0; g < G; g++) if (arrives[g]) accumulator[g] <= reduced;
    for (int i = 0; i < POWERS; i++)
      if (power_arrives && powers == N'(i)) power[i] <= reduced;
      else if (leaves[0] == H && i == 0) power[i] <= reversed(made[0]);
    if (rst) begin
      {open, first, length_in, ended, value_known, mask_known, text_left} <= '0;
      {oldest, hash, known, masked, next_message, h_due, making, mask_due, pending, counters_left, lane_next, lane_out, reserved, waiting} <= '0;
      {head_bank, tail_bank, head_row, tail_row, kept, kept_first, kept_end, below, turn, written, issued, powers} <= '0;
    end else begin
      making <= load || making && !ready;
      h_due <= load || h_due && enters[0] != H;
      if (load || leaves[0] == H) {issued, powers} <= {2{N'(!load)}};
      else begin
        issued <= issued + N'(makes);
        powers <= powers + N'(power_arrives);
      end
      reserved <= C'(less(29'(reserved) + 29'(binary(reserves)), takes));
      waiting <= C'(less(29'(waiting) + 29'(arrived_count), takes));
      {head_bank, tail_bank} <= {around(int'(head_sum)), around(int'(tail_sum))};
      if (head_sum >= 5'(LANES)) head_row <= row_after(head_row);
      if (tail_sum >= 5'(LANES)) tail_row <= row_after(tail_row);
      lane_out <= around(int'(lane_first) + int'(arrived_count));
      mask_due <= mask_due && !mask_enters;
      counters_left <= less(counters_left, reserves);
      lane_next <= around(int'(lane_next) + int'(binary(enters_in_order)));
      if (counters_end && (start || pending)) begin
        {mask_due, pending, lane_next} <= {2'b10, B'(0)};
        counters_left <= start ? text_blocks : text_left[!next_message];
      end else if (start) {pending, pending_iv} <= {1'b1, iv};
      kept <= 4'(less(29'(kept), drained)) + count(sealed);
      kept_first <= around(int'(kept_first) + int'(binary(ciphers)));
      kept_end <= around(int'(kept_end) + int'(takes_count));
      // The message at GHASH.
      if (active) begin
        first[hash] <= 1'b0;
        below <= issue ? next_group : below_now | here;
        turn <= issue ? G'({turn_now, turn_now[G-1]}) : turn_now;
        written <= written_now | arrives;
        aad_left[hash] <= less(aad_left_now, aads);
        hash_left[hash] <= less(hash_left[hash], ciphers);
        if (lengths) length_in[hash] <= 1'b1;
        if (issue) groups[hash] <= groups_now - 1'b1;
        if (issue && groups_now == '0) ended[hash] <= 1'b1;
      end else written <= written | arrives;
      known <= known_next;
      hash <= hash ^ known_next;
      masked <= masked ^ mask_leaves;
      oldest <= oldest ^ tags;
      next_message <= next_message ^ start;
      if (known) ended[hashed] <= 1'b0;
      if (known) value_known[hashed] <= 1'b1;
      if (mask_leaves) mask_known[masked] <= 1'b1;
      text_left[oldest] <= less(text_left[oldest], takes_old);
      text_left[!oldest] <= text_left[!oldest] - 29'(count(takes & ~takes_old));
      if (tags) begin
        open[oldest] <= 1'b0;
        value_known[oldest] <= 1'b0;
        mask_known[oldest] <= 1'b0;
      end
      if (start) begin
        open[next_message] <= 1'b1;
        opening[next_message] <= opens;
        first[next_message] <= 1'b1;
        length_in[next_message] <= 1'b0;
        aad_length[next_message] <= aad_bytes;
        text_length[next_message] <= text_bytes;
        text_odd[next_message] <= text_bytes[3:0];
        aad_left[next_message] <= aad_blocks;
        text_left[next_message] <= text_blocks;
        hash_left[next_message] <= text_blocks;
        groups[next_message] <= 29'(blocks / 29'(W));
        skipped[next_message] <= W'((1 << (W - 1 - int'(blocks) % W)) - 1);
      end
    end
  end
endmodule
