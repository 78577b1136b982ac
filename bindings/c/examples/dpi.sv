// An engine of sealsim beside a clock: it seals a block of zeros under a key of zeros and prints when the text and the tag are valid, and what stages must hold.
// To build and run it:
//
//   $ verilator --binary --top-module dpi bindings/c/examples/dpi.sv -LDFLAGS "-L$PWD/target/release -lsealsim -Wl,-rpath,$PWD/target/release"
//   $ obj_dir/Vdpi
import "DPI-C" function int sealsim_engine_new(
    input string engine_config, input byte unsigned key[16], input longint unsigned key_length, output chandle engine);
import "DPI-C" function int sealsim_engine_start(
    input chandle engine, input byte unsigned iv[12], input longint unsigned iv_length, input byte unsigned aad[16],
    input longint unsigned aad_length, input longint unsigned text_length, input int open);
import "DPI-C" function int sealsim_engine_offer(
    input chandle engine, input byte unsigned text[16], input longint unsigned length);
import "DPI-C" function int sealsim_engine_step(input chandle engine);
import "DPI-C" function int sealsim_engine_event(
    input chandle engine, input int index, output longint unsigned cycle, output int kind, output int value,
    output byte unsigned block[16]);
import "DPI-C" function int sealsim_gcm_h(input byte unsigned key[16], input longint unsigned key_length, output byte unsigned h[16]);
import "DPI-C" function int sealsim_gcm_counter_block(
    input byte unsigned key[16], input longint unsigned key_length, input byte unsigned iv[12], input longint unsigned iv_length,
    input longint block, output byte unsigned counter_block[16]);
import "DPI-C" function longint sealsim_aes_rounds(
    input byte unsigned key[16], input longint unsigned key_length, input byte unsigned block[16], output byte unsigned states[176],
    input longint unsigned room);
import "DPI-C" function string sealsim_last_error();
import "DPI-C" function void sealsim_engine_free(input chandle engine);

module dpi;
    localparam TEXT = 5, TAG = 7;

    chandle engine;
    byte unsigned key[16], iv[12], aad[16], text[16], block[16], h[16], j0[16], states[176];
    longint unsigned cycle;
    int kind, value, events;
    bit clock = 0;

    always #1 clock = !clock;

    function void check(input int result);
        if (result < 0) $fatal(1, "%s", sealsim_last_error());
    endfunction

    initial begin
        for (int i = 0; i < 16; i++) begin
            key[i] = 0;
            text[i] = 0;
            if (i < 12) iv[i] = 0;
        end
        check(sealsim_gcm_h(key, 16, h));
        check(sealsim_gcm_counter_block(key, 16, iv, 12, -1, j0));
        check(int'(sealsim_aes_rounds(key, 16, j0, states, 176)));
        $write("H ");
        for (int i = 0; i < 16; i++) $write("%02x", h[i]);
        $write("\nmask ");
        for (int i = 160; i < 176; i++) $write("%02x", states[i]);
        $write("\n");
        check(sealsim_engine_new("serial-aes128", key, 16, engine));
        check(sealsim_engine_start(engine, iv, 12, aad, 0, 16, 0));
        check(sealsim_engine_offer(engine, text, 16));
    end

    always @(posedge clock) begin
        events = sealsim_engine_step(engine);
        check(events);
        for (int index = 0; index < events; index++) begin
            check(sealsim_engine_event(engine, index, cycle, kind, value, block));
            if (kind == TEXT || kind == TAG) begin
                $write("cycle %0d %s ", cycle, kind == TAG ? "tag" : "text");
                for (int at = 0; at < value; at++) $write("%02x", block[at]);
                $write("\n");
            end
            if (kind == TAG) begin
                sealsim_engine_free(engine);
                $finish;
            end
        end
    end
endmodule
