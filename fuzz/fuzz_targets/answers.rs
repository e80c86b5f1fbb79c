//! Runs the target `answers` of the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    evidence_fuzz::answers::run(data);
});
