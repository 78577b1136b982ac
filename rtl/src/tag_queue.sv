// The tag queue: messages in launch order whose authentication is not settled, and which of their plaintext may go on.
//
//   entry ---> | slot | slot | ... | ---> retires in order, released or squashed
//   verdict -->| of the oldest without one
//   arrive --> | bytes of plaintext, of the youngest
//
// | | as `gpu::tag_queue` (in order) and `gpu::release` have it |
// | --- | --- |
// | accepts | one entry per cycle while `room`; one verdict and one unit of plaintext per cycle |
// | latency | a verdict is registered: its message's plaintext may go on in the cycle after |
// | `SKID` 0 | `hold`: nothing goes on without its verdict; else as many units may, over all messages |
// | order | plaintext goes on, and messages retire, in the order in which they were entered |
//
// What cannot be taken is ignored: an entry without `room`, a verdict that no message waits for, plaintext of a message that has its verdict or COUNT bits of
// units waiting. A message is at most 2^COUNT - 1 units of plaintext. One whose verdict is bad is squashed: what of it has not gone on never does.
module tag_queue #(parameter int DEPTH = 8, parameter int SKID = 0, parameter int COUNT = 4) (
  input  logic clk, rst,
  input  logic enter,                               // a message begins
  input  logic arrive,                              // a unit of plaintext of the youngest message
  input  logic verdict, good,                       // of the oldest message without one
  output logic room,
  output logic pass,                                // a unit of the oldest message goes on
  output logic pass_verified,                       // ... with its verdict
  output logic retire, squash                       // the oldest message leaves
);
  localparam int B = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam int S = $clog2(SKID + 2);
  logic [DEPTH-1:0] used, known, ok;
  logic [DEPTH-1:0][COUNT-1:0] waiting;
  logic [B-1:0] head, tail, judged, youngest;
  logic [S-1:0] ahead;                              // units of the oldest message that went on without a verdict

  assign room = !used[tail];
  wire begins  = enter && room;
  wire takes   = arrive && used[youngest] && !known[youngest] && waiting[youngest] != '1;
  wire settles = verdict && used[judged] && !known[judged];
  wire may     = used[head] && known[head];
  assign pass_verified = may && ok[head] && waiting[head] != '0;
  assign pass   = pass_verified || (used[head] && !known[head] && waiting[head] != '0 && 8'(ahead) + 8'd1 <= 8'(SKID));
  assign retire = used[head] && known[head] && ok[head] && waiting[head] == '0;
  assign squash = used[head] && known[head] && !ok[head];

  always_ff @(posedge clk) begin
    if (rst) begin
      {used, known, ok} <= '0;
      {head, tail, judged, youngest} <= '0;
      ahead <= '0;
      for (int i = 0; i < DEPTH; i++) waiting[i] <= '0;
    end else begin
      for (int i = 0; i < DEPTH; i++) begin
        if (begins && B'(i) == tail) begin
          used[i] <= 1'b1;
          known[i] <= 1'b0;
          ok[i] <= 1'b0;
          waiting[i] <= '0;
        end else begin
          waiting[i] <= waiting[i] + COUNT'(takes && B'(i) == youngest) - COUNT'(pass && B'(i) == head);
          if (settles && B'(i) == judged) begin
            known[i] <= 1'b1;
            ok[i] <= good;
          end
          if ((retire || squash) && B'(i) == head) used[i] <= 1'b0;
        end
      end
      if (begins) begin
        youngest <= tail;
        tail <= tail == B'(DEPTH-1) ? '0 : tail + 1'b1;
      end
      if (settles) judged <= judged == B'(DEPTH-1) ? '0 : judged + 1'b1;
      if (retire || squash) begin
        head <= head == B'(DEPTH-1) ? '0 : head + 1'b1;
        ahead <= '0;
      end else if (pass && !pass_verified) ahead <= ahead + 1'b1;
    end
  end

`ifdef FORMAL
  // What the rules speak of, kept apart from the registers above: each slot's verdict as it came, and each message's number.
  logic [DEPTH-1:0] said;
  logic [DEPTH-1:0][7:0] number;
  logic [7:0] entered, left;
  always_ff @(posedge clk) begin
    if (rst) begin
      said <= '0;
      {entered, left} <= '0;
    end else begin
      for (int i = 0; i < DEPTH; i++) begin
        if (begins && B'(i) == tail) begin
          said[i] <= 1'b0;
          number[i] <= entered;
        end else if (settles && B'(i) == judged) said[i] <= good;
      end
      if (begins) entered <= entered + 1;
      if (retire || squash) left <= left + 1;
    end
  end
  always_comb if (!rst) begin
    // Nothing goes on verified without a good verdict, nothing but SKID units go on without one, messages leave in order.
    assert (!pass_verified || said[head]);
    assert (!retire || said[head]);
    assert (!pass || pass_verified || SKID > 0 && 8'(ahead) < 8'(SKID));
    assert (8'(ahead) <= 8'(SKID));
    assert (!(retire || squash) || number[head] == left);
    // Without these the rules are true and not inductive.
    assert (8'(head) < 8'(DEPTH) && 8'(tail) < 8'(DEPTH));
    assert (8'(entered - left) <= 8'(DEPTH));
    for (int i = 0; i < DEPTH; i++) begin
      assert (!(used[i] && known[i]) || ok[i] == said[i]);
      // Slot i is the i - head-th from the oldest.
      assert (used[i] == (((8'(i) + 8'(DEPTH) - 8'(head)) % 8'(DEPTH)) < 8'(entered - left)));
      assert (!used[i] || number[i] == 8'(left + ((8'(i) + 8'(DEPTH) - 8'(head)) % 8'(DEPTH))));
    end
    assert (8'(tail) == (8'(head) + 8'(entered - left)) % 8'(DEPTH));
  end
`endif
endmodule
