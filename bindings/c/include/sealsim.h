/*
 * sealsim for C, C++ and SystemVerilog DPI: an AES-GCM engine that is stepped cycle by cycle, AES-GCM in software with its stages,
 * and PCIe TLPs.
 *
 * Every function that can fail returns a negative number then, one of SEALSIM_ERROR_..., and sealsim_last_error() says what is wrong. Pointers to
 * nothing and lengths that cannot be are errors; a pointer to fewer bytes than is said, or to an engine that has been freed, is a fault of the caller.
 *
 * Made of the Rust source by bindings/c/header: do not edit.
 */

#ifndef SEALSIM_H
#define SEALSIM_H

#include <stdint.h>

// All that depends on the key is valid. Value: 0.
#define SEALSIM_EVENT_KEY_READY 1

// A phase of a message begins, in an engine that is driven phase by phase. Value: 0 mask, 1 AAD, 2 text, 3 length block.
#define SEALSIM_EVENT_PHASE 2

// A block of AAD came in. Value: 0.
#define SEALSIM_EVENT_AAD 3

// Text blocks came in. Value: how many.
#define SEALSIM_EVENT_TAKEN 4

// A block of text is valid at the output from this cycle on. Value: its length, 1 to 16 bytes.
#define SEALSIM_EVENT_TEXT 5

// A further tag of the message is valid, of an engine with a tag for each of several chains. Value: the chain, from 1.
#define SEALSIM_EVENT_CHAIN_TAG 6

// The tag of the oldest message is valid. Value: its length, 16 bytes.
#define SEALSIM_EVENT_TAG 7

// An argument makes no sense: a null pointer, a wrong length, a message before a key.
#define SEALSIM_ERROR_USAGE -2

// A configuration is wrong, or there is none of that name.
#define SEALSIM_ERROR_CONFIG -3

// A file cannot be read.
#define SEALSIM_ERROR_FILE -4

// A fault of the simulation.
#define SEALSIM_ERROR_SIMULATION -5

// A fault of sealsim itself. The engine that was given may not be used any more, but for `sealsim_engine_free`.
#define SEALSIM_ERROR_PANIC -6

// An engine. One thread at a time may use it.
typedef struct sealsim_engine sealsim_engine;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Makes an engine from the name of a shipped one (`sealsim list`), of a machine, whose engine is taken, or the path of a TOML file, with keys of
// `key_length` bytes, 16, 24 or 32. With `key` the key is loaded in cycle 0; without, where it is null, `sealsim_engine_load_key` loads one.
//
// Returns 0 and puts the engine into `engine`, which `sealsim_engine_free` releases; or an error.
//
// `config` is a text that ends with a zero, `key` has `key_length` bytes, `engine` can be written.
int32_t sealsim_engine_new(const char *config,
                           const uint8_t *key,
                           uint64_t key_length,
                           struct sealsim_engine **engine);

// Releases an engine; null is none.
//
// `engine` is null or one of `sealsim_engine_new` that has not been released.
void sealsim_engine_free(struct sealsim_engine *engine);

// Loads a key in this cycle. Messages may be started at once; they wait for it.
//
// Returns 0 or an error: a key of another length, or one while messages are in the engine.
//
// `engine` is one that has not been released, `key` has `key_length` bytes.
int32_t sealsim_engine_load_key(struct sealsim_engine *engine, const uint8_t *key, uint64_t key_length);

// Starts a message in this cycle: its AAD comes in by itself, a block at a time; its text, `text_length` bytes, as it is offered. `open` is 0 to
// seal, 1 to open.
//
// Returns 0 or an error.
//
// `engine` is one that has not been released, `iv` and `aad` have so many bytes.
int32_t sealsim_engine_start(struct sealsim_engine *engine,
                             const uint8_t *iv,
                             uint64_t iv_length,
                             const uint8_t *aad,
                             uint64_t aad_length,
                             uint64_t text_length,
                             int32_t open);

// Offers text that is visible from this cycle on: as much or as little as comes in a cycle. It belongs to the messages in the order of their starts.
//
// Returns 0 or an error.
//
// `engine` is one that has not been released, `text` has `length` bytes.
int32_t sealsim_engine_offer(struct sealsim_engine *engine,
                             const uint8_t *text,
                             uint64_t length);

// Works one cycle and goes to the next. What was loaded, started or offered before happens in it.
//
// Returns how many events there were, which `sealsim_engine_event` gives until the next step; or an error.
//
// `engine` is one that has not been released.
int32_t sealsim_engine_step(struct sealsim_engine *engine);

// Gives event `index`, from 0, of the last step: its cycle, its kind (`SEALSIM_EVENT_...`), its value, and of text and tags the bytes, at most 16.
//
// Returns 0 or an error.
//
// `engine` is one that has not been released; `cycle`, `kind` and `value` can be written, and so can 16 bytes of `block`.
int32_t sealsim_engine_event(struct sealsim_engine *engine,
                             int32_t index,
                             uint64_t *cycle,
                             int32_t *kind,
                             int32_t *value,
                             uint8_t *block);

// The cycle that the next `sealsim_engine_step` works; or an error.
//
// `engine` is one that has not been released.
int64_t sealsim_engine_cycle(struct sealsim_engine *engine);

// 1 if no message is in the engine, else 0; or an error.
//
// `engine` is one that has not been released.
int32_t sealsim_engine_idle(struct sealsim_engine *engine);

// What went wrong last on this thread: what, where, and what to do about it. Empty if nothing did. Valid until the next call of a function of
// sealsim on this thread that fails.
const char *sealsim_last_error(void);

// Seals a message (`open` 0), or deciphers it and computes the tag that its ciphertext must have (`open` 1). `out` gets as many bytes as the text has.
// The tag is not compared.
//
// Returns 0 or an error.
//
// `key`, `iv`, `aad` and `text` have so many bytes; `text_length` bytes of `out` and 16 of `tag` can be written.
int32_t sealsim_gcm_seal(const uint8_t *key,
                         uint64_t key_length,
                         const uint8_t *iv,
                         uint64_t iv_length,
                         const uint8_t *aad,
                         uint64_t aad_length,
                         const uint8_t *text,
                         uint64_t text_length,
                         int32_t open,
                         uint8_t *out,
                         uint8_t *tag);

// Gives the hash key H, which is AES of zeros.
//
// Returns 0 or an error.
//
// `key` has so many bytes; 16 bytes of `h` can be written.
int32_t sealsim_gcm_h(const uint8_t *key, uint64_t key_length, uint8_t *h);

// Gives the counter block of text block `block`, from 0; of -1 that is J0, which makes the mask of the tag.
//
// Returns 0 or an error.
//
// `key` and `iv` have so many bytes; 16 bytes of `counter_block` can be written.
int32_t sealsim_gcm_counter_block(const uint8_t *key,
                                  uint64_t key_length,
                                  const uint8_t *iv,
                                  uint64_t iv_length,
                                  int64_t block,
                                  uint8_t *counter_block);

// Gives the state of AES after each round, 16 bytes each: first that after the first key addition, at last the enciphered block.
//
// Returns how many bytes there are, 176, 208 or 240, or an error. Where `room` is less nothing is written.
//
// `key` has so many bytes, `block` 16; `room` bytes of `states` can be written.
int64_t sealsim_aes_rounds(const uint8_t *key,
                           uint64_t key_length,
                           const uint8_t *block,
                           uint8_t *states,
                           uint64_t room);

// Gives the value of GHASH behind each block of `data`, 16 bytes each; zeros follow a last block that is short. Padding of AAD and the length block are up to
// the caller.
//
// Returns how many bytes there are, or an error. Where `room` is less nothing is written.
//
// `key` and `data` have so many bytes; `room` bytes of `values` can be written.
int64_t sealsim_gcm_ghash(const uint8_t *key,
                          uint64_t key_length,
                          const uint8_t *data,
                          uint64_t length,
                          uint8_t *values,
                          uint64_t room);

// Writes what bytes hold as JSON, a line for each TLP, DLLP and flit, and a zero behind the last. `wire` is 0 for TLPs alone, 1 for frames of a gen3
// to gen5 link, 2 for symbols of a gen1 or gen2 link, 3 for one DLLP, 4 for flits of 256 bytes.
//
// Returns the bytes of the text with its zero, or an error. Where `room` is less nothing is written: call it with `room` 0 to learn how much is needed.
//
// `data` has `length` bytes, and `room` bytes of `json` can be written.
int64_t sealsim_tlp_decode(const uint8_t *data,
                           uint64_t length,
                           int32_t wire,
                           char *json,
                           uint64_t room);

// Writes the bytes of TLPs and DLLPs that stand in JSON, as `sealsim_tlp_decode` writes it, one behind the other. CRCs and tokens are made anew.
//
// Returns how many bytes there are, or an error. Where `room` is less nothing is written.
//
// `json` is a text that ends with a zero, and `room` bytes of `data` can be written.
int64_t sealsim_tlp_encode(const char *json,
                           int32_t wire,
                           uint8_t *data,
                           uint64_t room);

// Writes the headers in lines of a kernel's log (`TLP Header:`) or of `lspci -vv` (`HeaderLog:`) as JSON, a line each, and a zero behind the last.
//
// Returns the bytes of the text with its zero, or an error. Where `room` is less nothing is written.
//
// `log` is a text that ends with a zero, and `room` bytes of `json` can be written.
int64_t sealsim_tlp_decode_log(const char *log,
                               char *json,
                               uint64_t room);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SEALSIM_H */
