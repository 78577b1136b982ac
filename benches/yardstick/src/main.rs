//! For each line `BYTES MESSAGE` on standard input, seals and opens so many bytes in messages of that length, in cache, and prints the seconds that it took.

use aes_gcm::{AeadInOut, Aes256Gcm, KeyInit};
use std::{
    hint::black_box,
    io::{self, BufRead, Write},
    time::Instant,
};

fn main() -> io::Result<()> {
    let cipher = Aes256Gcm::new(&[7; 32].into());
    for line in io::stdin().lock().lines() {
        let line = line?;
        let asked =
            line.split_once(' ').and_then(|(bytes, message)| Some((bytes.parse().ok()?, message.parse().ok()?)));
        let Some((bytes, message)) = asked.filter(|(_, message)| *message > 0) else {
            return Err(io::Error::other(format!("{line:?} is no pair of numbers")));
        };
        println!("{}", seconds(&cipher, bytes, message));
        io::stdout().flush()?;
    }
    Ok(())
}

fn seconds(cipher: &Aes256Gcm, bytes: u64, message: u64) -> f64 {
    let mut text = vec![1; message as usize];
    let begun = Instant::now();
    for number in 0..bytes / message {
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&number.to_le_bytes());
        let tag = cipher.encrypt_inout_detached(&nonce.into(), b"", (&mut *text).into()).expect("sealed");
        cipher.decrypt_inout_detached(&nonce.into(), b"", (&mut *text).into(), &tag).expect("opened");
    }
    black_box(&text);
    begun.elapsed().as_secs_f64()
}
