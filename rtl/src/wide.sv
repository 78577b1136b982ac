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
/* verilator lint_off PINCONNECTEMPTY */
// How many blocks are left: `above[i]` says that more than i are, `exact[i]` that i are. Up to N are taken in a cycle, and the answer stands in registers: a window of up to 3 N blocks in unary,
// into which N more go from the rest while it has at most 2 N. Of `taken` the first `others` are other blocks, N or more in its last bit. N is a power of two, S its logarithm.
module blocks_left #(parameter int N = 1, parameter int S = 0) (
  input  logic          clk, rst, load,
  input  logic [29-S+3*N:0] from,
  input  logic [N:0]    taken,                       // one of N + 1: so many
  input  logic [N:0]    others,                      // likewise
  output logic [N:0]    above, exact, above_next, exact_next
);
  logic [3*N-1:0] window, window_next, filled;
  logic [28-S:0]  rest;                              // of N blocks each
  logic           more;
  wire refills = more && !window[2*N];
  assign filled = refills ? {window[2*N-1:0], {N{1'b1}}} : window;
  assign {above, above_next} = {window[N:0], window_next[N:0]};
  assign exact_next = ~above_next & {above_next[N-1:0], 1'b1};
  always_comb begin
    logic [3*N-1:0] after;
    window_next = from[3*N-1:0] & {(3*N){load}};
    for (int t = 0; t <= N; t++) begin
      after = '0;
      for (int k = 0; k <= N; k++)
        after |= (t > k ? filled >> (t - k) : filled) & {(3*N){others[k]}};
      window_next |= after & {(3*N){taken[t] && !load}};
    end
  end
  always_ff @(posedge clk)
    if (rst) {window, rest, more, exact} <= (31-S+4*N)'(1);
    else begin
      {window, exact} <= {window_next, exact_next};
      {rest, more} <= load ? from[29-S+3*N:3*N] : {rest - (29-S)'(refills), rest > 1 || rest != '0 && !refills};
    end
endmodule

// What `blocks_left` begins with.
module blocks_begin #(parameter int N = 1, parameter int S = 0) (input logic [28:0] blocks, output logic [29-S+3*N:0] state);
  wire [28-S:0] whole = blocks[28:S];
  wire [28-S:0] rest = whole > 2 ? whole - (29-S)'(2) : '0;
  logic [3*N-1:0] window;
  always_comb for (int i = 0; i < 3*N; i++) window[i] = 29'(i) < blocks - (29'(rest) << S);
  assign state = {rest, rest != '0, window};
endmodule

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
  localparam int X = $clog2(W), Y = $clog2(LANES);
  localparam int DEPTH = (FIFO + LANES - 1) / LANES;
  localparam int C = $clog2(FIFO + LANES + 1), CHANGE = C < 5 ? C : 5;
  localparam int L = PRODUCT + REDUCTION;
  localparam int WITHIN = PRODUCT > 0 ? PRODUCT - 1 : 0;
  localparam bit BEHIND = PRODUCT > 0 && REDUCTION > 0;
  localparam int SUMS = REDUCTION > 1 ? REDUCTION - 1 : 0;
  localparam int POWERS = W * G;
  localparam int LATENCY = REGISTERS == 0 ? ROUNDS : ROUNDS * REGISTERS;

  // Small counts are unary: bit i says that there are more than i. Places go round, one bit for each.
  typedef logic [LANES-1:0] place_t;
  function automatic logic exactly(input logic [8:0] unary, input int count);
    exactly = (count == 0 || unary[count == 0 ? 0 : count-1]) && !unary[count];
  endfunction
  function automatic logic [3:0] binary(input logic [7:0] unary);
    binary = '0;
    for (int i = 0; i < 8; i++) if (unary[i]) binary = 4'(i + 1);
  endfunction
  function automatic logic [LANES:0] many(input logic [7:0] unary);
    for (int k = 0; k <= LANES; k++) many[k] = exactly(9'(unary), k);
  endfunction
  // Bit i of what is further by a place; and a place that is further by so many.
  function automatic place_t turned_by(input place_t bits, input place_t at);
    turned_by = '0;
    for (int i = 0; i < LANES; i++) for (int h = 0; h < LANES; h++) turned_by[(i + h) % LANES] = turned_by[(i + h) % LANES] | (bits[i] && at[h]);
  endfunction
  function automatic place_t further(input place_t at, input logic [LANES:0] count);
    further = '0;
    for (int h = 0; h < LANES; h++) for (int k = 0; k <= LANES; k++) further[(h + k) % LANES] = further[(h + k) % LANES] | (at[h] && count[k]);
  endfunction
  // How far it is from a place to the second lane.
  function automatic place_t from_first(input place_t at);
    for (int h = 0; h < LANES; h++) from_first[(1 + LANES - h) % LANES] = at[h];
  endfunction
  // So many less than so many.
  function automatic logic signed [4:0] beyond(input logic [LANES:0] count, input logic [3:0] less);
    beyond = '0;
    for (int k = 0; k <= LANES; k++) if (count[k]) beyond |= 5'(k) - 5'(less);
  endfunction
  // Bytes of a last block that count; and bits of a block.
  function automatic logic [15:0] bytes(input logic [3:0] odd);
    for (int i = 0; i < 16; i++) bytes[15-i] = odd == '0 || 4'(i) < odd;
  endfunction
  function automatic logic [127:0] of_bytes(input logic [15:0] counting);
    for (int i = 0; i < 16; i++) of_bytes[8*i +: 8] = {8{counting[i]}};
  endfunction
  function automatic logic [127:0] reversed(input logic [127:0] x);
    for (int i = 0; i < 128; i++) reversed[i] = x[127-i];
  endfunction

  // Two messages: the oldest, the one at GHASH, the one whose mask comes next, and where the next one goes.
  logic [1:0] open, value_known, mask_known;
  logic       oldest, hash, masked, next_message, known, known_next, tags;
  logic [1:0][127:0] mask, value;
  wire [28:0] text_blocks = 29'((text_bytes + 33'd15) >> 4);
  logic [7:0]     takes;
  logic [LANES:0] takes_many;
  logic [LANES:0] used;                              // of the cycle before

  // Counters, a register for each lane. All lanes are as long: what enters them in a cycle leaves them in one.
  logic         h_due, making, mask_due, pending;
  logic [95:0]  pending_iv;
  logic [29-Y+3*LANES:0] text_begins, pending_text;
  place_t       lane_next, enters;
  logic [LANES-1:0] lane_free;
  logic [LANES-1:0][127:0] nonce_counter, made;
  logic [LANES:0] counters_above, counters_exact, go_many;
  logic [8:0]   go;
  logic [7:0]   reserves;
  logic         h_enters, mask_enters, counters_end;
  logic [LATENCY-1:0][LANES+1:0] flight;             // keystream blocks, mask, H
  // Free blocks as they were a cycle ago, how many more or fewer are free now, and in unary without those that were used since.
  logic [C-1:0] free;
  logic signed [CHANGE-1:0] free_more;
  logic [LANES-1:0] free_above, room_above;
  wire [C-1:0] free_now = free + C'(free_more);
  blocks_begin #(.N(LANES), .S(Y)) text_begin (.blocks(text_blocks), .state(text_begins));
  blocks_left #(.N(LANES), .S(Y)) counters (
    .clk(clk), .rst(rst), .load(counters_end && (start || pending)), .from(start ? text_begins : pending_text), .taken(many(reserves)), .others((LANES+1)'(1)),
    .above(counters_above), .exact(counters_exact), .above_next(), .exact_next());
  always_comb begin
    logic free_too;
    go = '0;
    room_above = '0;
    free_too = 1'b1;
    for (int i = 0; i < LANES; i++)
      for (int k = 0; k <= LANES; k++) room_above[i] = room_above[i] | (used[k] && (k > i || free_above[k > i ? 0 : i-k]));
    for (int k = 0; k < LANES; k++) begin
      free_too &= (lane_free & turned_by(lane_next, place_t'(1) << k)) != '0;
      go[k] = free_too && (mask_due ? k == 0 || counters_above[k == 0 ? 0 : k-1] && room_above[k == 0 ? 0 : k-1] : counters_above[k] && room_above[k]);
    end
    reserves = mask_due ? go[8:1] : go[7:0];
    mask_enters = mask_due && go[0];
    h_enters = h_due && lane_free[0];
    counters_end = 1'b0;
    for (int k = 0; k <= LANES; k++) counters_end |= counters_exact[k] && (k == 0 ? !mask_due || go[0] : reserves[k == 0 ? 0 : k-1]);
    enters = turned_by(go[LANES-1:0], lane_next);
  end
  assign go_many = many(go[7:0]);
  for (genvar l = 0; l < LANES; l++) begin : aes
    if (REGISTERS == 0) begin : looped
      wire lane_enters = enters[l] || l == 0 && h_enters;
      aes_iterative #(.ROUNDS(ROUNDS), .COMPACT(COMPACT)) lane (
        .clk(clk), .rst(rst), .valid(lane_enters), .keys(keys), .block(nonce_counter[l]), .ready(lane_free[l]), .done(), .keystream(made[l]));
    end else begin : unrolled
      aes_lane #(.ROUNDS(ROUNDS), .REGISTERS(REGISTERS), .COMPACT(COMPACT)) lane (.clk(clk), .keys(keys), .block(nonce_counter[l]), .keystream(made[l]));
      assign lane_free[l] = 1'b1;
    end
    always_ff @(posedge clk)
      if (load) nonce_counter[l] <= '0;
      else if (counters_end && start) nonce_counter[l] <= {iv, 32'(l + 1)};
      else if (counters_end && pending) nonce_counter[l] <= {pending_iv, 32'(l + 1)};
      else if (enters[l]) nonce_counter[l][31:0] <= nonce_counter[l][31:0] + 32'(LANES);
  end

  // Keystream in banks: what leaves the lanes goes to the tail in its order, and is used at once if nothing waits before it.
  logic [LANES-1:0][DEPTH-1:0][127:0] fifo;
  logic [LANES-1:0][DEPTH-1:0] head_row, tail_row;
  logic [LANES-1:0][127:0] arriving, found;
  place_t head, tail, from_lane, waits, pops, writes;   // bank b takes from the lane that is `from_lane` further
  wire [LANES-1:0] arrived = flight[LATENCY-1][LANES+1:2], arrives_next = flight[LATENCY-2][LANES+1:2];
  wire mask_leaves = flight[LATENCY-1][1], h_leaves = flight[LATENCY-1][0];
  // Blocks that are valid, with those that were used in the cycle before, and how many more or fewer come with the next cycle.
  logic [C-1:0] standing;
  logic signed [CHANGE-1:0] standing_more;
  logic [LANES-1:0] valid, waiting_above;
  wire [C-1:0] standing_next = standing + C'(standing_more);
  assign waits = turned_by(waiting_above, head);
  assign writes = turned_by(arrived, tail);
  assign pops = turned_by(takes[LANES-1:0], head);
  for (genvar b = 0; b < LANES; b++) begin : bank
    always_comb begin
      logic [127:0] read, leaves;
      {read, leaves} = '0;
      for (int i = 0; i < DEPTH; i++) read |= fifo[b][i] & {128{head_row[b][i]}};
      for (int s = 0; s < LANES; s++) leaves |= made[(b+s)%LANES] & {128{from_lane[s]}};
      arriving[b] = leaves;
      found[b] = waits[b] ? read : leaves;
    end
    always_ff @(posedge clk) begin
      for (int i = 0; i < DEPTH; i++) if (writes[b] && tail_row[b][i]) fifo[b][i] <= arriving[b];
      if (rst) {head_row[b], tail_row[b]} <= {2{DEPTH'(1)}};
      else begin
        if (pops[b]) head_row[b] <= DEPTH'({head_row[b], head_row[b][DEPTH-1]});
        if (writes[b]) tail_row[b] <= DEPTH'({tail_row[b], tail_row[b][DEPTH-1]});
      end
    end
  end

  // Text: which message each block is of, and what of it counts.
  logic [1:0][LANES:0] text_next, exact_next;
  logic [LANES:0] old_left, old_exact, new_left;
  wire  [8:0] old_above = 9'(old_left), new_above = 9'(new_left);
  logic [8:0] text_above;
  // Of each message whether it is opened and what of its last block counts.
  logic [1:0][16:0] kind, kind_next;
  logic        old_opens, new_opens;
  logic [15:0] old_bytes, new_bytes;
  logic [7:0] there;
  logic [LANES-1:0][15:0] text_counts;
  for (genvar m = 0; m < 2; m++) begin : texts_of
    assign kind_next[m] = start && next_message == 1'(m) ? {opens, bytes(text_bytes[3:0])} : kind[m];
    wire [LANES:0] others = oldest == 1'(m) ? (LANES+1)'(1) : {old_left[LANES-1], old_exact[LANES-1:0]};
    blocks_left #(.N(LANES), .S(Y)) left (
      .clk(clk), .rst(rst), .load(start && next_message == 1'(m)), .from(text_begins), .taken(takes_many), .others(others),
      .above(), .exact(), .above_next(text_next[m]), .exact_next(exact_next[m]));
  end
  always_comb begin
    there = '0;
    text_above = '0;
    for (int j = 0; j <= LANES; j++) begin
      text_above[j] = old_above[j];
      for (int k = 0; k <= j; k++) text_above[j] = text_above[j] | (old_exact[k] && new_above[j-k]);
    end
    for (int j = 0; j < LANES; j++) there[j] = text_above[j] && valid[j] && text_valid > 4'(j);
  end
  for (genvar j = 0; j < LANES; j++) begin : port
    wire last = old_above[j] ? !old_above[j+1] : !text_above[j+1];
    assign text_counts[j] = (old_above[j] ? old_bytes : new_bytes) | {16{!last}};
  end

  // The output register is a ring, a place for each bank, of which GHASH has yet to take `kept` blocks.
  logic [LANES-1:0][127:0] ring, crossed;
  place_t       out_first, kept_first, held;         // places before the head stay as they are, others take what comes, blocks or not
  logic [8:0]   kept, kept_next, stay;               // `stay` as GHASH leaves them
  logic [7:0]   opened, drained, sealed;
  for (genvar j = 0; j < LANES; j++) begin : output_
    always_comb begin
      logic [15:0] counts;
      logic [127:0] sent, came;
      counts = '0;
      {sent, came} = '0;
      for (int h = 0; h < LANES; h++) begin
        sent |= ring[(h+j)%LANES] & {128{out_first[h]}};
        came |= text[128*((j+LANES-h)%LANES) +: 128] & {128{head[h]}};
        counts |= text_counts[(j+LANES-h)%LANES] & {16{head[h]}};
      end
      out[128*j +: 128] = sent;
      crossed[j] = (came ^ found[j]) & of_bytes(counts);
    end
  end

  // The message at GHASH, and what is kept of the one behind it.
  typedef struct packed {
    logic [31:0]  aad_length, text_length;
    logic [15:0]  aad_bytes;                         // of the last block
    logic         opens, last;                       // last: no group follows the one at hand
    logic [28:0]  groups;                            // that follow it
    logic [G-1:0] place;                             // of it from the end
    logic [W-1:0] below;
  } message_t;
  message_t given, behind_it, at_hash;
  wire [G-1:0]  place_of = at_hash.place;
  logic         hashing, behind, at_once, moves;
  logic [W:0]   aad_left, aad_exact, aad_many, hash_left, hash_exact, hash_many;
  logic [29-X+3*W:0] aad_given, aad_behind, text_given, text_behind;
  // The place of a group that so many follow, when `gone` of these have gone.
  function automatic logic [G-1:0] from_end(input logic [28:0] groups, input int gone);
    for (int g = 0; g < G; g++) from_end[g] = g == G - 1 ? G == 1 || groups > 29'(G - 2 + gone) : groups == 29'(g + gone);
  endfunction
  wire [28:0] aad_blocks = 29'((aad_bytes + 33'd15) >> 4);
  wire [28:0] blocks = aad_blocks + text_blocks;
  always_comb begin
    given.aad_length = aad_bytes;
    given.text_length = text_bytes;
    given.aad_bytes = bytes(aad_bytes[3:0]);
    given.opens = opens;
    given.groups = 29'(blocks / 29'(W));
    given.last = given.groups == '0;
    given.place = from_end(given.groups, 0);
    given.below = W'((1 << (W - 1 - int'(blocks) % W)) - 1);
  end
  blocks_begin #(.N(W), .S(X)) aad_begin (.blocks(aad_blocks), .state(aad_given));
  blocks_begin #(.N(W), .S(X)) hash_begin (.blocks(text_blocks), .state(text_given));
  blocks_left #(.N(W), .S(X)) aad_to_hash (
    .clk(clk), .rst(rst), .load(moves), .from(at_once ? aad_given : aad_behind), .taken(aad_many), .others((W+1)'(1)), .above(aad_left), .exact(aad_exact), .above_next(), .exact_next());
  blocks_left #(.N(W), .S(X)) text_to_hash (
    .clk(clk), .rst(rst), .load(moves), .from(at_once ? text_given : text_behind), .taken(hash_many), .others((W+1)'(1)), .above(hash_left), .exact(hash_exact), .above_next(), .exact_next());
  assign at_once = start && !(known_next ? behind : hashing);
  assign moves = at_once || known_next;

  // GHASH's blocks in this cycle: AAD, ciphertext, the length block, as far as they are there and it has room. `active` says that its message has some left.
  logic [W-1:0][127:0] entry;
  logic [7:0]  texts, streams, taken, aads, ciphers, source;
  logic [8:0]  aad_above, hash_above;
  logic        active, first, ended, way_free, lengths, length_due;
  logic [W:0]  place;
  wire  [W-1:0] below = at_hash.below;
  logic [W-1:0] room_for, reach;              // places of the group that are taken; blocks that there is room for; ciphertext blocks that are within it
  assign {aad_above, hash_above} = {9'(aad_left), 9'(hash_left)};
  for (genvar i = 0; i <= W; i++) begin : places
    assign place[i] = (i == 0 || below[i == 0 ? 0 : i-1]) && (i == W || !below[i == W ? 0 : i]);
    assign aad_many[i] = exactly(9'(aads), i);
    assign hash_many[i] = exactly(9'(ciphers), i);
  end
  always_comb begin
    {streams, reach} = '0;
    {texts, source} = '0;
    {taken, aads, ciphers} = '0;
    lengths = 1'b0;
    for (int i = 0; i < W; i++) begin
      room_for[i] = active && (way_free || COLLECT && !below[W-1-i]);
      aads[i] = room_for[i] && aad_above[i];
      for (int k = 0; k <= i; k++) reach[k] = reach[k] | (room_for[i] && aad_exact[i-k]);
    end
    // Ciphertext, and the length block behind it, from block k on.
    for (int k = 0; k < W; k++) begin
      source[k] = k < LANES && (at_hash.opens ? there[k] : kept[k]);
      texts[k] = hash_above[k] ? source[k] : hash_exact[k] && length_due && (k == 0 || source[k == 0 ? 0 : k-1]);
      ciphers[k] = reach[k] && hash_above[k] && source[k];
      lengths |= reach[k] && !hash_above[k] && texts[k];
    end
    for (int i = 0; i < W; i++) begin
      streams[i] = aad_above[i];
      for (int k = 0; k <= i; k++) streams[i] = streams[i] | (aad_exact[i-k] && texts[k]);
      taken[i] = room_for[i] && streams[i];
    end
  end
  assign aad_taken = binary(aads);
  // Behind those that GHASH takes straight from the ports: blocks to seal, of the oldest message and of the one behind it, as far as the ring has room.
  assign opened = ciphers & {8{at_hash.opens}};
  assign drained = ciphers & {8{!at_hash.opens}};
  always_comb begin
    logic follows, ends, fits;
    follows = !old_opens || !old_above[0];
    ends = 1'b0;
    for (int k = 1; k <= LANES; k++) ends |= old_exact[k] && opened[k-1];
    sealed = '0;
    for (int j = 0; j < LANES; j++) begin
      fits = !kept[LANES-1-j];
      for (int d = 1; d <= W; d++) if (d <= LANES) fits |= drained[d-1] && (d > j || !kept[d > j ? 0 : LANES-1-j+d]);
      sealed[j] = there[j] && fits && (old_above[j] ? !old_opens : !new_opens && (follows || ends));
    end
    stay = '0;
    for (int i = 0; i < LANES; i++) for (int d = 0; d <= W; d++) if (i + d < LANES) stay[i] = stay[i] | (exactly(9'(drained), d) && kept[i+d]);
    held = '0;
    for (int i = 0; i < LANES; i++) for (int h = 0; h < LANES; h++) held[(h + 2*LANES - 1 - i) % LANES] = held[(h + 2*LANES - 1 - i) % LANES] | (stay[i] && head[h]);
    kept_next = stay;
    // Block j is sealed behind those that are opened and those that stay.
    for (int i = 0; i < LANES; i++)
      for (int j = 0; j < LANES; j++)
        for (int o = 0; o <= j; o++) kept_next[i] = kept_next[i] | (sealed[j] && exactly(9'(opened), o) && (j - o >= i || stay[j - o >= i ? 0 : i-1-j+o]));
  end
  assign takes = opened | sealed;
  assign takes_many = many(takes);
  assign text_taken = binary(takes);

  // The group at hand: places `below` are taken, and what enters goes to those from there on, then to the first of the next group.
  logic [W-1:0][127:0] collected, turned;
  logic [LANES-1:0][127:0] cipher;
  logic [W-1:0] has, here, next_group;
  logic [G-1:0] turn, written, arrives, follows_turn;
  logic         issue;
  assign issue = active && way_free && (below[W-1] || here[W-1]);
  assign follows_turn = G'({turn, turn[G-1]});
  always_comb begin
    for (int k = 0; k < LANES; k++) begin
      cipher[k] = '0;
      for (int h = 0; h < LANES; h++) cipher[k] = cipher[k] | (ring[(h+k)%LANES] & {128{kept_first[h]}});
      if (at_hash.opens) cipher[k] = text[128*k +: 128] & of_bytes(text_counts[k]);
    end
    for (int i = 0; i < W; i++) begin
      entry[i] = {29'b0, at_hash.aad_length, 3'b0, 29'b0, at_hash.text_length, 3'b0};
      for (int k = 0; k <= i; k++) if (k < LANES && aad_exact[i-k] && hash_above[k]) entry[i] = cipher[k%LANES];
      if (aad_above[i]) entry[i] = aad[128*i +: 128] & of_bytes(at_hash.aad_bytes | {16{aad_above[i+1]}});
    end
    {here, next_group, turned} = '0;
    for (int l = 0; l < W; l++)
      for (int i = 0; i <= W; i++) begin
        if (i <= l) here[l] = here[l] | (place[i] && taken[l-i]);
        else next_group[l] = next_group[l] | (COLLECT && place[i] && taken[l+W-i]);
        if (i < W) turned[l] = turned[l] | (entry[(l+W-i)%W] & {128{place[i] || i == 0 && place[W]}});
      end
  end

  // Powers: H^j of H^ceil(j/2) and H^floor(j/2), as soon as these are there.
  logic [POWERS-1:0][127:0] power;
  logic [POWERS-1:0] issued, stands, stands_next, larger, smaller, larger_next;   // unary: issued, and there; one bit: the operands of the next
  logic makes, power_arrives;
  assign ready = stands[POWERS-1];
  assign larger_next = makes && larger == smaller ? larger << 1 : larger;
  assign stands_next = power_arrives ? POWERS'({stands, 1'b1}) : stands;
  always_ff @(posedge clk)
    if (rst || load || h_leaves) begin
      {issued, stands} <= {2{POWERS'(h_leaves && !rst)}};
      {larger, smaller} <= {2{POWERS'(1)}};
      makes <= h_leaves && !rst && POWERS > 1;
    end else begin
      if (makes) issued <= POWERS'({issued, 1'b1});
      stands <= stands_next;
      larger <= larger_next;
      if (makes && larger != smaller) smaller <= smaller << 1;
      makes <= issued[0] && !(makes ? issued[POWERS > 1 ? POWERS-2 : 0] : issued[POWERS-1]) && (larger_next & stands_next) != '0;
    end

  logic [G-1:0][127:0] accumulator;
  logic [127:0] fed, reduced, y;
  logic [254:0] sum, settled;
  logic [W-1:0][254:0] product;
  always_comb begin
    {fed, y} = '0;
    for (int g = 0; g < G; g++) begin
      fed |= accumulator[g] & {128{turn[g] && written[g] && !first}};
      y ^= accumulator[g] & {128{written[g]}};
    end
  end
  for (genvar l = 0; l < W; l++) begin : lane
    logic [127:0] a, b;
    // Without a group that is whole nothing is issued, whatever stands here.
    wire [127:0] block = reversed(below[l] ? collected[l] & {128{COLLECT && has[l]}} : turned[l]);
    always_comb begin
      {a, b} = '0;
      for (int i = 0; i < POWERS; i++) begin
        if (i % W == W - 1 - l) b |= power[i] & {128{!makes && place_of[i / W]}};
        if (l == 0) a |= power[i] & {128{makes && larger[i]}};
        if (l == 0) b |= power[i] & {128{makes && smaller[i]}};
      end
      a |= (block ^ (l == 0 ? fed : 128'b0)) & {128{l > 0 || !makes}};
    end
    gf_product #(.LEVELS(LEVELS), .REG(WITHIN), .OUT(BEHIND)) multiply (.clk(clk), .a(a), .b(b), .p(product[l]));
    always_ff @(posedge clk) begin
      if (here[l] || next_group[l]) collected[l] <= turned[l];
      has[l] <= !rst && (issue ? next_group[l] : COLLECT && has[l] || here[l]);
    end
  end
  always_comb begin
    sum = '0;
    for (int l = 0; l < W; l++) sum ^= product[l];
  end
  delay #(.N(255), .CYCLES(SUMS)) hold (.clk(clk), .d(sum), .q(settled));
  gf_reduce reduce (.p(settled), .r(reduced));
  if (L == 1) begin : at_once_
    assign {power_arrives, arrives} = {makes, turn & {G{issue}}};
    assign known_next = issue && at_hash.last;
    assign way_free = 1'b1;
  end else begin : later
    logic [(G+1)*(L-1)-1:0] products;
    logic [G-1:0] busy_next;                         // but for what is issued now
    always_ff @(posedge clk) begin
      products <= rst ? '0 : ((G+1)*(L-1))'({products, makes, turn & {G{issue}}});
      way_free <= rst || (issue ? ((busy_next | turn) & follows_turn) == '0 : (busy_next & turn) == '0);
    end
    assign {power_arrives, arrives} = products[(G+1)*(L-1)-1 -: G+1];
    always_comb begin
      busy_next = '0;
      known_next = ended;
      for (int i = 0; i < L-2; i++) begin
        busy_next |= products[(G+1)*i +: G];
        known_next &= products[(G+1)*i +: G] == '0;
      end
    end
  end

  // In the cycle in which a value is known the next message has GHASH already: both are registered, so that selects need not wait for them.
  wire hashed = hash ^ known;
  // Tags, in the order of the messages.
  wire value_now = known && hashed == oldest;
  wire mask_now  = mask_leaves && masked == oldest;
  assign tags = open[oldest] && (value_now || value_known[oldest]) && (mask_now || mask_known[oldest]);
  wire oldest_next = oldest ^ tags;
  assign room = open != 2'b11 || tags;
  assign rests = open == '0 && !making;
  always_ff @(posedge clk) begin
    tag_valid <= tags;
    out_valid <= binary(takes);
    out_first <= head;
    if (tags) tag <= (value_known[oldest] ? value[oldest] : reversed(y)) ^ (mask_known[oldest] ? mask[oldest] : made[0]);
    if (known) value[hashed] <= reversed(y);
    if (mask_leaves) mask[masked] <= made[0];
    for (int s = 0; s < LANES; s++) if (!held[s]) ring[s] <= crossed[s];
    for (int g = 0; g < G; g++) if (arrives[g]) accumulator[g] <= reduced;
    for (int i = 0; i < POWERS; i++)
      if (power_arrives && stands_next[i] && !stands[i]) power[i] <= reduced;
      else if (h_leaves && i == 0) power[i] <= reversed(made[0]);
    if (start) begin
      {pending_iv, pending_text} <= {iv, text_begins};
      {behind_it, aad_behind, text_behind} <= {given, aad_given, text_given};
    end
    first <= at_once || known_next && behind;
    length_due <= moves || length_due && !lengths;
    if (moves) at_hash <= at_once ? given : behind_it;
    else begin
      if (issue) begin
        at_hash.groups <= at_hash.groups - 1'b1;
        at_hash.last <= at_hash.groups == 29'd1;
        at_hash.place <= from_end(at_hash.groups, 1);
      end
      at_hash.below <= issue ? next_group : below | here;
    end
    turn <= moves ? G'(1) : issue ? follows_turn : turn;
    if (rst) begin
      {open, value_known, mask_known} <= '0;
      {oldest, hash, known, masked, next_message} <= '0;
      {h_due, making, mask_due, pending, flight, free_more, standing, standing_more, valid, waiting_above, kept} <= '0;
      {hashing, behind, active, ended, written, old_left, new_left} <= '0;
      old_exact <= (LANES+1)'(1);
      free <= C'(FIFO);
      used <= (LANES+1)'(1);
      for (int i = 0; i < LANES; i++) free_above[i] <= FIFO > i;
      {lane_next, from_lane, head, tail, kept_first} <= {5{place_t'(1)}};
    end else begin
      making <= load || making && !ready;
      h_due <= load || h_due && !h_enters;
      // What enters the lanes, and the room that there is for it.
      flight <= {flight[LATENCY-2:0], reserves[LANES-1:0], mask_enters, h_enters};
      used <= takes_many;
      free <= free_now;
      free_more <= CHANGE'(beyond(takes_many, binary(reserves)));
      standing <= standing_next;
      standing_more <= CHANGE'(-beyond(takes_many, binary(8'(flight[LATENCY-3][LANES+1:2]))));
      for (int i = 0; i < LANES; i++) begin
        logic frees, stands_, waits_;
        {frees, stands_, waits_} = '0;
        for (int k = 0; k <= LANES; k++) begin
          frees |= exactly(9'(reserves), k) && free_now > C'(i + k);
          stands_ |= takes_many[k] && standing_next > C'(i + k);
          for (int a = 0; a <= LANES; a++) waits_ |= takes_many[k] && exactly(9'(arrives_next), a) && standing_next > C'(i + k + a);
        end
        {free_above[i], valid[i], waiting_above[i]} <= {frees, stands_, waits_};
      end
      mask_due <= mask_due && !mask_enters;
      lane_next <= further(lane_next, go_many);
      if (counters_end && (start || pending)) {mask_due, pending, lane_next} <= {2'b10, place_t'(1)};
      else if (start) pending <= 1'b1;
      head <= further(head, takes_many);
      tail <= further(tail, many(8'(arrived)));
      // The mask comes from lane 0, and what follows it from the next.
      if (flight[LATENCY-2][1]) from_lane <= from_first(further(tail, many(8'(arrived))));
      kept <= kept_next;
      kept_first <= further(kept_first, many(ciphers));
      // The message at GHASH.
      hashing <= start || (known_next ? behind : hashing);
      behind <= start ? (known_next ? behind : hashing) : behind && !known_next;
      active <= at_once || (known_next ? behind : active && !(issue && at_hash.last));
      ended <= issue && at_hash.last || ended && !known_next;
      written <= (first ? '0 : written) | arrives;
      known <= known_next;
      hash <= hash ^ known_next;
      masked <= masked ^ mask_leaves;
      oldest <= oldest_next;
      kind <= kind_next;
      {old_left, old_exact, old_opens, old_bytes} <= {text_next[oldest_next], exact_next[oldest_next], kind_next[oldest_next]};
      {new_left, new_opens, new_bytes} <= {text_next[!oldest_next], kind_next[!oldest_next]};
      next_message <= next_message ^ start;
      if (known) value_known[hashed] <= 1'b1;
      if (mask_leaves) mask_known[masked] <= 1'b1;
      if (tags) begin
        open[oldest] <= 1'b0;
        value_known[oldest] <= 1'b0;
        mask_known[oldest] <= 1'b0;
      end
      if (start) open[next_message] <= 1'b1;
    end
  end
endmodule
