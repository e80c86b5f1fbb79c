//! Runs the target `checksum_list` of the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    evidence_fuzz::checksum_list::run(data);
});
