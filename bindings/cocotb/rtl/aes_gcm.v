// AES-GCM with 96-bit IVs: one AES that makes H, the mask and the keystream one after the other, and one multiplier that takes a block per cycle.
//
//   iv, counter --> aes --> keystream --(+)--> out_data
//                    |      in_data -----^        |
//                    H, mask                      v ciphertext
//                    +-----------> ghash: (y + x) H --(+ mask)--> tag
//
// A message begins with `start` while `idle` is high; its lengths are known then. Its AAD comes first, then its text, 16 bytes at a time, the first byte
// in the highest bits; in a last block that is short the rest does not count. A block is taken at an edge at which `in_valid` and `in_ready` are high.
// `out_valid` and `tag_valid` are high for one cycle each. The tag is computed, not compared.
//
// planted.py and mutants.py change lines of it, for tests of the scoreboard.
module aes_gcm #(
    parameter KEY_BITS = 128  // or 256
) (
    input  wire                clock,
    input  wire                reset,
    input  wire                start,
    input  wire                opens,
    input  wire [KEY_BITS-1:0] key,
    input  wire [95:0]         iv,
    input  wire [31:0]         aad_bytes,
    input  wire [31:0]         text_bytes,
    output wire                idle,
    input  wire                in_valid,
    input  wire [127:0]        in_data,
    output wire                in_ready,
    output reg                 out_valid,
    output reg  [127:0]        out_data,
    output reg                 tag_valid,
    output reg  [127:0]        tag
);
    localparam IDLE = 0, MAKE_H = 1, MAKE_MASK = 2, AAD = 3, MAKE_KEYSTREAM = 4, TEXT = 5, LENGTHS = 6;

    reg [2:0]          phase;
    reg [KEY_BITS-1:0] key_now;
    reg                opens_now;
    reg [127:0]        h, mask, keystream, y;
    reg [95:0]         iv_now;
    reg [31:0]         counter, aad_now, text_now, aad_left, text_left;

    reg                aes_start;
    reg  [127:0]       aes_block;
    wire               aes_done;
    wire [127:0]       aes_out;

    aes #(.KEY_BITS(KEY_BITS)) cipher (
        .clock(clock), .start(aes_start), .key(key_now), .block(aes_block), .done(aes_done), .out(aes_out)
    );

    assign idle = phase == IDLE;
    assign in_ready = phase == AAD || phase == TEXT;

    // A product in GF(2^128), as GCM numbers its bits: the first is the highest.
    function [127:0] product(input [127:0] a, input [127:0] b);
        integer at;
        reg [127:0] v;
        begin
            product = 0;
            v = b;
            for (at = 127; at >= 0; at = at - 1) begin
                if (a[at]) product = product ^ v;
                v = v[0] ? (v >> 1) ^ {8'he1, 120'h0} : v >> 1;
            end
        end
    endfunction

    // The first `left` bytes of a block.
    function [127:0] cut(input [127:0] block, input [31:0] left);
        cut = left >= 16 ? block : block & ~({128{1'b1}} >> (8 * left));
    endfunction

    wire [31:0]  left = phase == AAD ? aad_left : text_left;
    wire [31:0]  left_behind = left > 16 ? left - 16 : 0;
    wire [127:0] given = cut(in_data, left);
    wire [127:0] made = cut(in_data ^ keystream, left);
    wire [31:0]  counter_next = counter + 32'd1;
    wire [127:0] lengths = {29'h0, aad_now, 3'h0, 29'h0, text_now, 3'h0};
    wire [127:0] hashed = product(y ^ lengths, h);

    // What follows where so many bytes are left.
    task go_on(input [31:0] aad, input [31:0] text);
        if (aad != 0) begin
            phase <= AAD;
        end else if (text != 0) begin
            phase     <= MAKE_KEYSTREAM;
            counter   <= counter_next;
            aes_start <= 1;
            aes_block <= {iv_now, counter_next};
        end else begin
            phase <= LENGTHS;
        end
    endtask

    always @(posedge clock) begin
        aes_start <= 0;
        out_valid <= 0;
        tag_valid <= 0;
        if (reset) begin
            phase <= IDLE;
        end else case (phase)
            IDLE: if (start) begin
                key_now   <= key;
                opens_now <= opens;
                iv_now    <= iv;
                aad_now   <= aad_bytes;
                text_now  <= text_bytes;
                aad_left  <= aad_bytes;
                text_left <= text_bytes;
                y         <= 0;
                counter   <= 1;
                aes_start <= 1;
                aes_block <= 0;
                phase     <= MAKE_H;
            end
            MAKE_H: if (aes_done) begin
                h         <= aes_out;
                aes_start <= 1;
                aes_block <= {iv_now, counter};
                phase     <= MAKE_MASK;
            end
            MAKE_MASK: if (aes_done) begin
                mask <= aes_out;
                go_on(aad_left, text_left);
            end
            AAD: if (in_valid) begin
                y        <= product(y ^ given, h);
                aad_left <= left_behind;
                go_on(left_behind, text_left);
            end
            MAKE_KEYSTREAM: if (aes_done) begin
                keystream <= aes_out;
                phase     <= TEXT;
            end
            TEXT: if (in_valid) begin
                out_valid <= 1;
                out_data  <= made;
                y         <= product(y ^ (opens_now ? given : made), h);
                text_left <= left_behind;
                go_on(0, left_behind);
            end
            LENGTHS: begin
                tag_valid <= 1;
                tag       <= hashed ^ mask;
                phase     <= IDLE;
            end
            default: phase <= IDLE;
        endcase
    end
endmodule
