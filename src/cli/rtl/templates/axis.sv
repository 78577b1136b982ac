// The engine with AXI4-Stream ports: AAD and text come in beats of several blocks, a packet each message; text leaves in beats of one block, which may be held, and a tag behind its text.
module axis (
  input  logic         clk, rst, load, start, opens,
  input  logic [@KEYS@-1:0] keys,
  input  logic [95:0]  iv,
  input  logic [31:0]  aad_bytes, text_bytes,
  input  logic         s_aad_tvalid, s_aad_tlast, s_text_tvalid, s_text_tlast,
  input  logic [128*@W@-1:0] s_aad_tdata,
  input  logic [16*@W@-1:0]  s_aad_tkeep,
  input  logic [128*@LANES@-1:0] s_text_tdata,
  input  logic [16*@LANES@-1:0]  s_text_tkeep,
  output logic         s_aad_tready, s_text_tready,
  output logic         m_text_tvalid, m_text_tlast,
  output logic [127:0] m_text_tdata,
  output logic [15:0]  m_text_tkeep,
  input  logic         m_text_tready,
  output logic         tag_valid,
  output logic [127:0] tag,
  output logic         ready, room, rests
);
  localparam int LANES = @LANES@, W = @W@, DEPTH = 64;
  // A byte comes first in the lowest bits of a beat, and stands in the highest of a block.
  function automatic logic [127:0] turned(input logic [127:0] block);
    for (int i = 0; i < 16; i++) turned[8*i +: 8] = block[8*(15-i) +: 8];
  endfunction

  // Blocks of a beat, of which the engine may take some; AAD is whole before its message starts, since the engine waits for none.
  logic [127:0] aads[0:255];
  int aad_end, aad_at, aad_blocks, text_at, blocks, filled, head, tail, left;
  logic [128*W-1:0] aad;
  logic [128*LANES-1:0] text, out;
  logic [3:0] aad_taken, text_valid, text_taken, out_valid;
  assign s_aad_tready = 1'b1;
  always_comb begin
    {blocks, aad_blocks} = '0;
    for (int i = 0; i < W; i++) if (s_aad_tvalid && s_aad_tkeep[16*i]) aad_blocks = i + 1;
    for (int i = 0; i < LANES; i++) if (s_text_tvalid && s_text_tkeep[16*i]) blocks = i + 1;
    for (int i = 0; i < W; i++) aad[128*i +: 128] = aads[8'(aad_at + i)];
    for (int i = 0; i < LANES; i++) text[128*i +: 128] = turned(s_text_tdata[128*((text_at+i) % LANES) +: 128]);
    text_valid = filled + 2*LANES <= DEPTH ? 4'(blocks - text_at) : 4'd0;
    s_text_tready = blocks != 0 && text_at + int'(text_taken) == blocks;
  end
  // Tags wait for their text, of four messages at most.
  logic tag_made, engine_room;
  logic [127:0] made;
  logic [3:0][127:0] tags;
  logic [3:0][31:0] ends;                            // blocks of text that are out when it is
  int starts, tags_in, tags_out, sent, end_;
  top engine (.*, .tag_valid(tag_made), .tag(made), .room(engine_room));
  assign room = engine_room && starts - tags_out < 4;
  assign tag_valid = tags_out != tags_in && sent >= int'(ends[tags_out % 4]);
  assign tag = tags[tags_out % 4];

  // What has left, with the bytes that are left of its message: lengths of messages wait in their order.
  logic [127:0] held[0:DEPTH-1];
  logic [31:0]  lengths[0:3];
  int length_in, length_at;
  assign m_text_tvalid = filled != 0;
  assign m_text_tdata = turned(held[head]);
  assign m_text_tlast = left <= 16;
  assign m_text_tkeep = left >= 16 ? 16'hffff : 16'hffff >> (16 - left);
  wire given = m_text_tvalid && m_text_tready;
  always_ff @(posedge clk) begin
    for (int i = 0; i < W; i++) if (i < aad_blocks) aads[8'(aad_end + i)] <= turned(s_aad_tdata[128*i +: 128]);
    aad_end <= aad_end + aad_blocks;
    aad_at <= aad_at + int'(aad_taken);
    text_at <= s_text_tready ? 0 : text_at + int'(text_taken);
    for (int i = 0; i < LANES; i++) if (i < int'(out_valid)) held[(tail + i) % DEPTH] <= out[128*i +: 128];
    tail <= (tail + int'(out_valid)) % DEPTH;
    if (tag_made) tags[tags_in % 4] <= made;
    tags_in <= tags_in + int'(tag_made);
    tags_out <= tags_out + int'(tag_valid);
    sent <= sent + int'(given);
    if (start) begin
      ends[starts % 4] <= end_ + int'((33'(text_bytes) + 33'd15) >> 4);
      end_ <= end_ + int'((33'(text_bytes) + 33'd15) >> 4);
      starts <= starts + 1;
    end
    if (given) head <= (head + 1) % DEPTH;
    filled <= filled + int'(out_valid) - int'(given);
    if (start && text_bytes != 0) begin
      lengths[length_in % 4] <= text_bytes;
      length_in <= length_in + 1;
    end
    // The next message's length, where none is at hand.
    if (given && left > 16) left <= left - 16;
    else if ((given || left == 0) && length_at != length_in) begin
      left <= int'(lengths[length_at % 4]);
      length_at <= length_at + 1;
    end else if (given) left <= 0;
    if (rst) begin
      aad_end <= 0; aad_at <= 0; text_at <= 0; filled <= 0; head <= 0; tail <= 0; left <= 0; length_in <= 0; length_at <= 0;
      starts <= 0; tags_in <= 0; tags_out <= 0; sent <= 0; end_ <= 0;
    end
  end
endmodule
