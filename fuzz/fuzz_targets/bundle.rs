//! Runs the target `bundle` of the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    evidence_fuzz::bundle::run(data);
});
