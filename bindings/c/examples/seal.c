/*
 * Seals a message of four blocks on an engine and prints when each block and the tag are valid:
 *
 *   cargo build --release -p sealsim-c
 *   cc -I bindings/c/include bindings/c/examples/seal.c -o seal -L target/release -lsealsim -Wl,-rpath,target/release && ./seal folded-8
 */
#include "sealsim.h"

#include <inttypes.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    const char *config = count > 1 ? arguments[1] : "folded-8";
    const uint8_t key[16] = { 0 }, iv[12] = { 0 }, text[64] = { 0 };
    sealsim_engine *engine;
    if (sealsim_engine_new(config, key, sizeof key, &engine) < 0 ||
        sealsim_engine_start(engine, iv, sizeof iv, NULL, 0, sizeof text, 0) < 0 ||
        sealsim_engine_offer(engine, text, sizeof text) < 0) {
        fprintf(stderr, "%s\n", sealsim_last_error());
        return 1;
    }
    while (sealsim_engine_idle(engine) == 0) {
        int events = sealsim_engine_step(engine);
        for (int index = 0; index < events; index++) {
            uint64_t cycle;
            int32_t kind, value;
            uint8_t block[16];
            sealsim_engine_event(engine, index, &cycle, &kind, &value, block);
            if (kind != SEALSIM_EVENT_TEXT && kind != SEALSIM_EVENT_TAG)
                continue;
            printf("cycle %4" PRIu64 "  %s ", cycle, kind == SEALSIM_EVENT_TAG ? "tag " : "text");
            for (int byte = 0; byte < value; byte++)
                printf("%02x", block[byte]);
            printf("\n");
        }
    }
    sealsim_engine_free(engine);
    return 0;
}
