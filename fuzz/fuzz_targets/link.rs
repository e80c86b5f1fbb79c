//! Runs the target `link` of the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    evidence_fuzz::link::run(data);
});
