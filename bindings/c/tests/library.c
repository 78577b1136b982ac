/* What the header promises, asked of the library: AES-GCM with vectors of NIST's, wrong arguments, TLPs. Prints what fails. */
#include "sealsim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(what)                                                                            \
    do {                                                                                       \
        if (!(what)) {                                                                         \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #what, sealsim_last_error()); \
            failures++;                                                                        \
        }                                                                                      \
    } while (0)

/* An error of this number whose text has these words. */
#define REFUSED(call, number, words)                                                           \
    do {                                                                                       \
        long long got = (call);                                                                \
        if (got != (number) || !strstr(sealsim_last_error(), words)) {                         \
            fprintf(stderr, "%s:%d: %s gives %lld: %s\n", __FILE__, __LINE__, #call, got, sealsim_last_error()); \
            failures++;                                                                        \
        }                                                                                      \
    } while (0)

static void hex(const char *digits, uint8_t *bytes)
{
    for (; *digits; digits += 2, bytes++) {
        unsigned value;
        sscanf(digits, "%2x", &value);
        *bytes = (uint8_t)value;
    }
}

/* Steps until the tag, with a block of text offered every `pause` cycles. Gives the cycle of the tag. */
static uint64_t finish(sealsim_engine *engine, const uint8_t *text, uint64_t length, uint64_t pause, uint8_t *out, uint8_t *tag)
{
    uint64_t offered = 0, written = 0;
    for (int steps = 0; steps < 100000; steps++) {
        if (offered < length && steps % pause == 0) {
            uint64_t block = length - offered < 16 ? length - offered : 16;
            CHECK(sealsim_engine_offer(engine, text + offered, block) == 0);
            offered += block;
        }
        int events = sealsim_engine_step(engine);
        CHECK(events >= 0);
        for (int index = 0; index < events; index++) {
            uint64_t cycle;
            int32_t kind, value;
            uint8_t block[16];
            CHECK(sealsim_engine_event(engine, index, &cycle, &kind, &value, block) == 0);
            if (kind == SEALSIM_EVENT_TEXT) {
                memcpy(out + written, block, (size_t)value);
                written += (uint64_t)value;
            } else if (kind == SEALSIM_EVENT_TAG) {
                memcpy(tag, block, 16);
                CHECK(written == length);
                return cycle;
            }
        }
    }
    CHECK(!"the tag came");
    return 0;
}

/* Test case 4 of the specification of GCM by McGrew and Viega, and its 256-bit form, test case 16. */
static void vectors(void)
{
    static const struct { const char *key, *cipher, *tag; } CASES[] = {
        { "feffe9928665731c6d6a8f9467308308",
          "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
          "5bc94fbc3221a5db94fae95ae7121a47" },
        { "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
          "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
          "76fc6ece0f4e1768cddf8853bb2d551b" },
    };
    static const char *const ENGINES[] = { "folded-8", "streaming", "unrolled-all", "h100-nvl-tdx" };
    uint8_t iv[12], aad[20], plain[60], cipher[60], out[60], tag[16], right[16], key[32];
    hex("cafebabefacedbaddecaf888", iv);
    hex("feedfacedeadbeeffeedfacedeadbeefabaddad2", aad);
    hex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39", plain);
    for (size_t one = 0; one < sizeof CASES / sizeof *CASES; one++) {
        uint64_t key_length = strlen(CASES[one].key) / 2;
        hex(CASES[one].key, key);
        hex(CASES[one].cipher, cipher);
        hex(CASES[one].tag, right);
        for (size_t name = 0; name < sizeof ENGINES / sizeof *ENGINES; name++) {
            sealsim_engine *engine;
            CHECK(sealsim_engine_new(ENGINES[name], key, key_length, &engine) == 0);
            CHECK(sealsim_engine_start(engine, iv, 12, aad, 20, 60, 0) == 0);
            CHECK(sealsim_engine_idle(engine) == 0);
            finish(engine, plain, 60, 1, out, tag);
            CHECK(memcmp(out, cipher, 60) == 0 && memcmp(tag, right, 16) == 0);
            CHECK(sealsim_engine_idle(engine) == 1);
            CHECK(sealsim_engine_start(engine, iv, 12, aad, 20, 60, 1) == 0);
            finish(engine, cipher, 60, 40, out, tag);
            CHECK(memcmp(out, plain, 60) == 0 && memcmp(tag, right, 16) == 0);
            CHECK(sealsim_engine_cycle(engine) > 120);
            sealsim_engine_free(engine);
        }
    }
}

static void wrong_arguments(void)
{
    sealsim_engine *engine = (sealsim_engine *)&failures;
    uint8_t key[32] = { 0 }, block[16];
    uint64_t cycle;
    int32_t kind, value;
    REFUSED(sealsim_engine_new(NULL, key, 16, &engine), SEALSIM_ERROR_USAGE, "config is null");
    CHECK(engine == NULL);
    REFUSED(sealsim_engine_new("folded-8", key, 16, NULL), SEALSIM_ERROR_USAGE, "engine is null");
    REFUSED(sealsim_engine_new("folded-8", key, 15, &engine), SEALSIM_ERROR_USAGE, "key_length is 15");
    REFUSED(sealsim_engine_new("folded-9", key, 16, &engine), SEALSIM_ERROR_CONFIG, "folded-9");
    REFUSED(sealsim_engine_new("\xff", key, 16, &engine), SEALSIM_ERROR_USAGE, "UTF-8");
    REFUSED(sealsim_engine_new("gcm-siv", key, 32, &engine), SEALSIM_ERROR_CONFIG, "another AEAD");
    REFUSED(sealsim_engine_step(NULL), SEALSIM_ERROR_USAGE, "engine is null");
    REFUSED(sealsim_engine_idle(NULL), SEALSIM_ERROR_USAGE, "engine is null");
    REFUSED(sealsim_engine_cycle(NULL), SEALSIM_ERROR_USAGE, "engine is null");
    sealsim_engine_free(NULL);

    CHECK(sealsim_engine_new("folded-8", NULL, 16, &engine) == 0);
    REFUSED(sealsim_engine_start(engine, key, 12, NULL, 0, 1, 0), SEALSIM_ERROR_USAGE, "before a key");
    REFUSED(sealsim_engine_load_key(engine, key, 32), SEALSIM_ERROR_USAGE, "256 bits");
    REFUSED(sealsim_engine_load_key(engine, NULL, 16), SEALSIM_ERROR_USAGE, "key is null");
    CHECK(sealsim_engine_load_key(engine, key, 16) == 0);
    REFUSED(sealsim_engine_start(engine, NULL, 12, NULL, 0, 1, 0), SEALSIM_ERROR_USAGE, "iv is null");
    REFUSED(sealsim_engine_start(engine, key, 0, NULL, 0, 1, 0), SEALSIM_ERROR_USAGE, "empty IV");
    REFUSED(sealsim_engine_start(engine, key, 12, NULL, 0, 1, 2), SEALSIM_ERROR_USAGE, "open is 2");
    REFUSED(sealsim_engine_start(engine, key, 12, NULL, 0, UINT64_MAX, 0), SEALSIM_ERROR_USAGE, "text_length");
    REFUSED(sealsim_engine_start(engine, key, 12, key, UINT64_MAX, 0, 0), SEALSIM_ERROR_USAGE, "aad has");
    REFUSED(sealsim_engine_offer(engine, NULL, 1), SEALSIM_ERROR_USAGE, "text is null");
    REFUSED(sealsim_engine_event(engine, 0, &cycle, &kind, &value, block), SEALSIM_ERROR_USAGE, "no event 0");
    REFUSED(sealsim_engine_event(engine, -1, &cycle, &kind, &value, block), SEALSIM_ERROR_USAGE, "no event -1");
    int events = 0;
    while (events == 0)
        events = sealsim_engine_step(engine);
    REFUSED(sealsim_engine_event(engine, 0, NULL, &kind, &value, block), SEALSIM_ERROR_USAGE, "cycle is null");
    REFUSED(sealsim_engine_event(engine, 0, &cycle, &kind, &value, NULL), SEALSIM_ERROR_USAGE, "block is null");
    CHECK(sealsim_engine_event(engine, 0, &cycle, &kind, &value, block) == 0 && kind == SEALSIM_EVENT_KEY_READY);
    sealsim_engine_free(engine);
}

static void tlps(void)
{
    uint8_t frame[20], back[20];
    char json[2000];
    hex("5f006000000000010100000f123456784f2b77e3", frame);
    int64_t needed = sealsim_tlp_decode(frame, 20, 1, NULL, 0);
    CHECK(needed > 100 && needed <= (int64_t)sizeof json);
    json[0] = 'x';
    CHECK(sealsim_tlp_decode(frame, 20, 1, json, (uint64_t)needed - 1) == needed && json[0] == 'x');
    CHECK(sealsim_tlp_decode(frame, 20, 1, json, sizeof json) == needed);
    CHECK(strlen(json) == (size_t)needed - 1 && strstr(json, "\"name\":\"MRd32\""));
    CHECK(sealsim_tlp_encode(json, 1, NULL, 0) == 20);
    CHECK(sealsim_tlp_encode(json, 1, back, 20) == 20 && memcmp(frame, back, 20) == 0);
    REFUSED(sealsim_tlp_decode(NULL, 20, 1, json, sizeof json), SEALSIM_ERROR_USAGE, "data is null");
    REFUSED(sealsim_tlp_decode(frame, 0, 1, json, sizeof json), SEALSIM_ERROR_USAGE, "no bytes");
    REFUSED(sealsim_tlp_decode(frame, 20, 5, json, sizeof json), SEALSIM_ERROR_USAGE, "wire is 5");
    REFUSED(sealsim_tlp_decode(frame, 20, 1, NULL, sizeof json), SEALSIM_ERROR_USAGE, "json is null");
    REFUSED(sealsim_tlp_encode(NULL, 1, back, 20), SEALSIM_ERROR_USAGE, "json is null");
    REFUSED(sealsim_tlp_encode("{\"kind\":\"tpl\"}", 1, back, 20), SEALSIM_ERROR_USAGE, "did you mean `tlp`");
}

/* Flits, one DLLP, symbols, header logs. */
static void other_forms(void)
{
    static uint8_t flits[512], dllp[4];
    static char json[20000];
    const char *write = "{\"kind\":\"flit_tlp\",\"payload\":\"000000a5\",\"fields\":{\"type\":64,\"length_dw\":1,\"address\":4096}}";
    CHECK(sealsim_tlp_encode(write, 4, flits, sizeof flits) == 256);
    CHECK(sealsim_tlp_decode(flits, 256, 4, json, sizeof json) > 0);
    CHECK(strstr(json, "\"kind\":\"flit\"") && strstr(json, "\"payload\":\"000000a5\""));
    hex("8084b345", dllp);
    CHECK(sealsim_tlp_decode(dllp, 4, 3, json, sizeof json) > 0 && strstr(json, "\"kind\":\"dllp\""));
    CHECK(sealsim_tlp_decode_log("TLP Header: 40000001 0000000f fee00000 00000000", json, sizeof json) > 0);
    CHECK(strstr(json, "\"name\":\"MWr32\""));
    REFUSED(sealsim_tlp_decode_log("nothing", json, sizeof json), SEALSIM_ERROR_USAGE, "TLP Header");
}

/* Test case 4 of McGrew and Viega. */
static void stages(void)
{
    uint8_t key[16], iv[12], aad[20], text[60], right[60], tag[16], out[60], h[16], j0[16], states[240], block[16], hashed[112], values[112];
    hex("feffe9928665731c6d6a8f9467308308", key);
    hex("cafebabefacedbaddecaf888", iv);
    hex("feedfacedeadbeeffeedfacedeadbeefabaddad2", aad);
    hex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39", text);
    hex("42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091", right);
    CHECK(sealsim_gcm_seal(key, 16, iv, 12, aad, 20, text, 60, 0, out, tag) == 0 && memcmp(out, right, 60) == 0);
    hex("5bc94fbc3221a5db94fae95ae7121a47", block);
    CHECK(memcmp(tag, block, 16) == 0);
    memset(tag, 0, 16);
    CHECK(sealsim_gcm_seal(key, 16, iv, 12, aad, 20, right, 60, 1, out, tag) == 0 && memcmp(out, text, 60) == 0);
    CHECK(memcmp(tag, block, 16) == 0);

    CHECK(sealsim_gcm_h(key, 16, h) == 0);
    hex("b83b533708bf535d0aa6e52980d53b78", block);
    CHECK(memcmp(h, block, 16) == 0);
    CHECK(sealsim_gcm_counter_block(key, 16, iv, 12, -1, j0) == 0);
    hex("cafebabefacedbaddecaf88800000001", block);
    CHECK(memcmp(j0, block, 16) == 0);
    CHECK(sealsim_gcm_counter_block(key, 16, iv, 12, 2, block) == 0 && block[15] == 4);
    CHECK(sealsim_aes_rounds(key, 16, j0, NULL, 0) == 176);
    CHECK(sealsim_aes_rounds(key, 16, j0, states, sizeof states) == 176);
    for (int i = 0; i < 16; i++)
        CHECK(states[i] == (j0[i] ^ key[i]));

    /* GHASH of AAD, ciphertext and lengths; with the mask, the last state of AES, it is the tag. */
    memset(hashed, 0, sizeof hashed);
    memcpy(hashed, aad, 20);
    memcpy(hashed + 32, right, 60);
    hashed[96 + 7] = 160;
    hashed[96 + 14] = 1;
    hashed[96 + 15] = 224;
    CHECK(sealsim_gcm_ghash(key, 16, hashed, 112, values, sizeof values) == 112);
    for (int i = 0; i < 16; i++)
        CHECK((values[96 + i] ^ states[160 + i]) == tag[i]);

    REFUSED(sealsim_gcm_h(key, 15, h), SEALSIM_ERROR_USAGE, "key_length is 15");
    REFUSED(sealsim_gcm_h(key, 16, NULL), SEALSIM_ERROR_USAGE, "h is null");
    REFUSED(sealsim_gcm_counter_block(key, 16, iv, 0, 0, block), SEALSIM_ERROR_USAGE, "empty IV");
    REFUSED(sealsim_gcm_counter_block(key, 16, iv, 12, -2, block), SEALSIM_ERROR_USAGE, "block is -2");
    REFUSED(sealsim_aes_rounds(key, 15, j0, states, sizeof states), SEALSIM_ERROR_USAGE, "key_length is 15");
    REFUSED(sealsim_aes_rounds(key, 16, NULL, states, sizeof states), SEALSIM_ERROR_USAGE, "block is null");
    REFUSED(sealsim_gcm_seal(key, 16, iv, 12, NULL, 0, text, 60, 2, out, tag), SEALSIM_ERROR_USAGE, "open is 2");
    REFUSED(sealsim_gcm_seal(key, 16, iv, 12, NULL, 0, text, 60, 0, NULL, tag), SEALSIM_ERROR_USAGE, "out is null");
}

int main(void)
{
    vectors();
    other_forms();
    stages();
    wrong_arguments();
    tlps();
    if (failures == 0)
        puts("ok");
    return failures != 0;
}
