// AES, a round per cycle: a block is valid at `out` KEY_BITS / 32 + 6 cycles after `start`, when `done` is high for a cycle. Round keys are made on
// the way. The first byte of a block stands in the highest bits.
//
//   key, block --start--> state --> SubBytes, ShiftRows, MixColumns --(+)--> state --> out
//                         keys  --> next round key ------------------^
module aes #(
    parameter KEY_BITS = 128  // or 256
) (
    input  wire                clock,
    input  wire                start,
    input  wire [KEY_BITS-1:0] key,
    input  wire [127:0]        block,
    output reg                 done,
    output wire [127:0]        out
);
    localparam [3:0] ROUNDS = KEY_BITS == 128 ? 4'd10 : 4'd14;

    reg [127:0] state;
    reg [127:0] round_key;   // of the round that `state` is in
    reg [127:0] key_before;  // the one before, for 256 bits
    reg [7:0]   constant;
    reg [3:0]   round;

    assign out = state;

    function [7:0] times2(input [7:0] x);
        times2 = {x[6:0], 1'b0} ^ (x[7] ? 8'h1b : 8'h00);
    endfunction

    // SubBytes: the inverse in GF(2^8), then an affine map.
    reg [7:0] sbox [0:255];

    function [7:0] times(input [7:0] x, input [7:0] y);
        integer at;
        begin
            times = 0;
            for (at = 7; at >= 0; at = at - 1)
                times = times2(times) ^ (y[at] ? x : 8'h00);
        end
    endfunction

    // x to the power of 254.
    function [7:0] inverse(input [7:0] x);
        integer step;
        reg [7:0] power;
        begin
            inverse = 1;
            power = x;
            for (step = 0; step < 7; step = step + 1) begin
                power = times(power, power);
                inverse = times(inverse, power);
            end
        end
    endfunction

    integer entry;
    reg [7:0] x;
    initial begin
        for (entry = 0; entry < 256; entry = entry + 1) begin
            x = inverse(entry[7:0]);
            sbox[entry] = x ^ {x[6:0], x[7]} ^ {x[5:0], x[7:6]} ^ {x[4:0], x[7:5]} ^ {x[3:0], x[7:4]} ^ 8'h63;
        end
        done = 0;
        round = 0;
    end

    function [31:0] sub_word(input [31:0] word);
        sub_word = {sbox[word[31:24]], sbox[word[23:16]], sbox[word[15:8]], sbox[word[7:0]]};
    endfunction

    function [31:0] mix(input [31:0] column);
        reg [7:0] a, b, c, d;
        begin
            {a, b, c, d} = column;
            mix = {times2(a ^ b) ^ b ^ c ^ d, times2(b ^ c) ^ c ^ d ^ a, times2(c ^ d) ^ d ^ a ^ b, times2(d ^ a) ^ a ^ b ^ c};
        end
    endfunction

    // Column c, row r is byte 4 c + r; ShiftRows takes row r from column c + r.
    function [127:0] shifted(input [127:0] s);
        integer c, r;
        for (c = 0; c < 4; c = c + 1)
            for (r = 0; r < 4; r = r + 1)
                shifted[127 - 8 * (4 * c + r) -: 8] = s[127 - 8 * (4 * ((c + r) % 4) + r) -: 8];
    endfunction

    function [127:0] mixed(input [127:0] s);
        mixed = {mix(s[127:96]), mix(s[95:64]), mix(s[63:32]), mix(s[31:0])};
    endfunction

    // The round key behind `last`, from the one KEY_BITS before.
    function [127:0] expanded(input [127:0] old, input [31:0] last, input rotates, input [7:0] added);
        reg [31:0] word;
        begin
            word = rotates ? sub_word({last[23:0], last[31:24]}) ^ {added, 24'h0} : sub_word(last);
            expanded[127:96] = old[127:96] ^ word;
            expanded[95:64]  = old[95:64] ^ expanded[127:96];
            expanded[63:32]  = old[63:32] ^ expanded[95:64];
            expanded[31:0]   = old[31:0] ^ expanded[63:32];
        end
    endfunction

    wire [127:0] first_key = key[KEY_BITS-1 -: 128];
    wire [127:0] substituted = {sub_word(state[127:96]), sub_word(state[95:64]), sub_word(state[63:32]), sub_word(state[31:0])};
    wire [127:0] rows = shifted(substituted);
    wire         is_last = round == ROUNDS;
    // With 256 bits every other round key has a constant.
    wire         rotates = KEY_BITS == 128 || round[0];

    always @(posedge clock) begin
        done <= 0;
        if (start) begin
            state      <= block ^ first_key;
            key_before <= first_key;
            round_key  <= KEY_BITS == 128 ? expanded(first_key, first_key[31:0], 1'b1, 8'h01) : key[127:0];
            constant   <= KEY_BITS == 128 ? 8'h02 : 8'h01;
            round      <= 1;
        end else if (round != 0) begin
            state      <= (is_last ? rows : mixed(rows)) ^ round_key;
            key_before <= round_key;
            round_key  <= expanded(KEY_BITS == 128 ? round_key : key_before, round_key[31:0], rotates, constant);
            constant   <= rotates ? times2(constant) : constant;
            round      <= is_last ? 4'd0 : round + 4'd1;
            done       <= is_last;
        end
    end
endmodule
