// aes_gcm with AXI4-Stream ports of 32 bytes, the first byte in the lowest bits: AAD and text on ports of their own, or with ONE_PORT both on that of text,
// AAD first. A tag comes on pins, or with TAG_IN_STREAM behind its text; of a message that is opened, `passed` or `failed` come in its place. All beats but the
// last of AAD and of text are full.
//
//   s_aad  ---+
//   s_text ---+--> half of a beat --> aes_gcm --> two halves --> m_text
//
// A message begins with `start` while `idle` is high.
/* verilator lint_off UNUSEDSIGNAL */  // last, and most of keep: lengths say the same
module aes_gcm_axis #(
    parameter ONE_PORT = 0,
    parameter TAG_IN_STREAM = 0
) (
    input  wire         clock,
    input  wire         reset,
    input  wire         start,
    input  wire         opens,
    input  wire [127:0] key,
    input  wire [95:0]  iv,
    input  wire [127:0] given_tag,
    input  wire [31:0]  aad_bytes,
    input  wire [31:0]  text_bytes,
    output wire         idle,
    input  wire         s_aad_tvalid,
    input  wire [255:0] s_aad_tdata,
    input  wire [31:0]  s_aad_tkeep,
    input  wire         s_aad_tlast,
    output wire         s_aad_tready,
    input  wire         s_text_tvalid,
    input  wire [255:0] s_text_tdata,
    input  wire [31:0]  s_text_tkeep,
    input  wire         s_text_tlast,
    output wire         s_text_tready,
    output reg          m_text_tvalid,
    output reg  [255:0] m_text_tdata,
    output reg  [31:0]  m_text_tkeep,
    output reg          m_text_tlast,
    input  wire         m_text_tready,
    output reg          tag_valid,
    output reg  [127:0] tag,
    output reg          passed,
    output reg          failed
);
    reg         opens_now, high, tag_waits;
    reg [127:0] tag_now, given_now;
    reg [31:0]  aad_left, out_left;

    wire         core_idle, core_ready, core_out_valid, core_tag_valid;
    wire [127:0] core_out, core_tag;

    // A block as aes_gcm has it: the first byte in the highest bits.
    function [127:0] turned(input [127:0] block);
        integer at;
        for (at = 0; at < 16; at = at + 1)
            turned[8 * at +: 8] = block[8 * (15 - at) +: 8];
    endfunction

    function [15:0] lanes(input [31:0] left);
        lanes = left >= 16 ? 16'hffff : (16'd1 << left) - 16'd1;
    endfunction

    wire         from_aad = aad_left != 0 && !ONE_PORT;
    wire         valid = from_aad ? s_aad_tvalid : s_text_tvalid;
    wire [255:0] beat = from_aad ? s_aad_tdata : s_text_tdata;
    wire [31:0]  keep = from_aad ? s_aad_tkeep : s_text_tkeep;
    // The output holds one beat, so the next block waits for it.
    wire         goes = valid && !m_text_tvalid;
    wire         second = keep[16];
    wire         takes = goes && core_ready && (high || !second);

    assign s_aad_tready = from_aad && takes;
    assign s_text_tready = !from_aad && takes;
    assign idle = core_idle && !m_text_tvalid && !tag_waits && !core_tag_valid && !tag_valid && !passed && !failed;

    aes_gcm core (
        .clock(clock), .reset(reset), .start(start && idle), .opens(opens), .key(key), .iv(iv), .aad_bytes(aad_bytes), .text_bytes(text_bytes),
        .idle(core_idle), .in_valid(goes), .in_data(turned(high ? beat[255:128] : beat[127:0])), .in_ready(core_ready),
        .out_valid(core_out_valid), .out_data(core_out), .tag_valid(core_tag_valid), .tag(core_tag)
    );

    reg out_high;

    always @(posedge clock) begin
        tag_valid <= 0;
        passed <= 0;
        failed <= 0;
        if (reset) begin
            {high, out_high, m_text_tvalid, tag_waits} <= 0;
            {aad_left, out_left} <= 0;
        end else begin
            if (start && idle) begin
                {opens_now, given_now, aad_left, out_left} <= {opens, given_tag, aad_bytes, text_bytes};
                {high, out_high} <= 0;
            end
            if (goes && core_ready) begin
                high <= !high && second;
                if (aad_left != 0) aad_left <= aad_left > 16 ? aad_left - 16 : 0;
            end
            if (m_text_tvalid && m_text_tready) m_text_tvalid <= 0;
            if (core_out_valid) begin
                if (out_high) m_text_tdata[255:128] <= turned(core_out);
                else m_text_tdata <= {128'h0, turned(core_out)};
                m_text_tkeep  <= out_high ? {lanes(out_left), m_text_tkeep[15:0]} : {16'h0, lanes(out_left)};
                m_text_tvalid <= out_high || out_left <= 16;
                m_text_tlast  <= out_left <= 16 && (!TAG_IN_STREAM || opens_now);
                out_high      <= !out_high;
                out_left      <= out_left > 16 ? out_left - 16 : 0;
            end
            if (core_tag_valid) begin
                tag_now   <= core_tag;
                tag_waits <= 1;
            end
            if (tag_waits && !m_text_tvalid) begin
                tag_waits <= 0;
                if (opens_now) begin
                    passed <= tag_now == given_now;
                    failed <= tag_now != given_now;
                end else if (TAG_IN_STREAM) begin
                    m_text_tdata  <= {128'h0, turned(tag_now)};
                    m_text_tkeep  <= 32'h0000ffff;
                    m_text_tlast  <= 1;
                    m_text_tvalid <= 1;
                end else begin
                    tag       <= tag_now;
                    tag_valid <= 1;
                end
            end
        end
    end
endmodule
