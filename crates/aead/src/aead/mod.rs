//! AEADs as hardware: AES-GCM, and what the copy path could have, had it another wire format.
//!
//! ```text
//!                  +-----------------------------------------+
//!   key, nonce --->| cipher: keystream or state              |
//!   text --------->|        (+)                              |---> text
//!                  |         | plaintext or ciphertext, AAD  |
//!                  |   authenticator ------------------------|---> tag
//!                  +-----------------------------------------+
//! ```
//!
//! | scheme | what authenticates | passes over the text to seal, open | keystream ahead | blocks of 16 B per cycle, at most | per message |
//! | --- | --- | --- | --- | --- | --- |
//! | [`aes_gcm`] | GHASH over the ciphertext | 1, 1 | yes | GHASH's | an AES block, the mask |
//! | [`gcm_siv`] | POLYVAL over the plaintext | 2, 1 | open only: the tag is the counter's seed | GHASH's | a key derivation of 4 or 6 AES blocks, a key expansion, the powers of H |
//! | [`gcm_sst`] | POLYVAL over the ciphertext, and a product by a second key | 1, 1 | yes | GHASH's | 3 AES blocks, the powers of H, a product |
//! | [`aegis`] | the cipher's own state | 1, 1 | no: it depends on the text before | lanes / round; twice as many of AEGIS-128L | 16 updates before, of AEGIS-128L 10; 7 after |
//! | [`chacha20_poly1305`] | Poly1305 over the ciphertext | 1, 1 | yes | that of a GHASH unit of the same form | a keystream block, the powers of r |
//!
//! None of the others gives AES-GCM's bytes: both ends of a path must change, and their messages do not come in parts, for neither state nor tag is a sum of
//! parts'. What an engine is built of is in [`spec`], what is asked of one in [`model`].
//!
//! ```text
//!    EngineSpec --> EngineTiming        cycles of an engine in a machine        timing
//!               --> run                 an engine on a bench                    standalone
//!               --> WireFormat          what a message carries: tags, nonce     bytes
//!    WireFormat, key --> Key, PathKey   a whole message, as software does it    bytes, path
//!                        --> Stream     one in pieces, as an engine does it     stream
//! ```

pub mod aegis;
pub mod aes_gcm;
pub mod bytes;
pub mod chacha20_poly1305;
pub mod flow;
pub mod gcm_siv;
pub mod gcm_sst;
pub mod model;
pub mod path;
pub mod scheme_timing;
pub mod spec;
pub mod standalone;
pub mod stream;
pub mod timing;
