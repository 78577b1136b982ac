// Drives aes_gcm with the messages of the file `stimulus` and prints what comes out, a line each: "text", "tag", "unknown" with a pin, "hang" where the
// core takes or ends a message too late. A message is its key, IV, bytes of AAD and of text, 1 if it is opened, how many blocks follow, and these.
`timescale 1ns/1ps
module replay;
    reg          clock = 0, reset = 1, start = 0, opens = 0, in_valid = 0;
    reg  [127:0] key, in_data = 0, block;
    reg  [95:0]  iv;
    reg  [31:0]  aad_bytes, text_bytes;
    wire         idle, in_ready, out_valid, tag_valid;
    wire [127:0] out_data, tag;

    aes_gcm core (
        .clock(clock), .reset(reset), .start(start), .opens(opens), .key(key), .iv(iv), .aad_bytes(aad_bytes), .text_bytes(text_bytes), .idle(idle),
        .in_valid(in_valid), .in_data(in_data), .in_ready(in_ready), .out_valid(out_valid), .out_data(out_data), .tag_valid(tag_valid), .tag(tag)
    );

    always #1 clock = !clock;

    always @(posedge clock) if (!reset) begin
        if (out_valid === 1) $display("text %h", out_data);
        if (tag_valid === 1) $display("tag %h", tag);
        if (out_valid === 1'bx) $display("unknown out_valid");
        if (tag_valid === 1'bx) $display("unknown tag_valid");
    end

    integer file, blocks, left, got, given_opens;
    reg [127:0] given_key;
    reg [95:0]  given_iv;
    reg [31:0]  given_aad, given_text;

    // Until the edge before which the core is at rest, or ready.
    task wait_for(input rest);
        while ((rest ? idle : in_ready) !== 1'b1) begin
            left = left - 1;
            if (left < 0) begin
                $display("hang");
                $finish;
            end
            @(posedge clock);
        end
    endtask

    initial begin
        file = $fopen("stimulus", "r");
        repeat (3) @(posedge clock);
        reset <= 0;
        while ($fscanf(file, "%h %h %d %d %d %d", given_key, given_iv, given_aad, given_text, given_opens, blocks) == 6) begin
            $display("message");
            {start, opens, key, iv, aad_bytes, text_bytes} <= {1'b1, given_opens[0], given_key, given_iv, given_aad, given_text};
            left = 40 * (blocks + 6);
            @(posedge clock);
            start <= 0;
            while (blocks > 0) begin
                got = $fscanf(file, "%h", block);
                {in_valid, in_data} <= {1'b1, block};
                @(posedge clock);
                wait_for(0);
                in_valid <= 0;
                @(posedge clock);
                blocks = blocks - 1;
            end
            @(posedge clock);
            wait_for(1);
        end
        repeat (4) @(posedge clock);
        $finish;
    end
endmodule
