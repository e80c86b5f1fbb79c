//! The verifier page: one HTML file that verifies bundles offline, in any browser.
//!
//! The build script compiles `evidence-verifier` to WebAssembly and embeds it in the page, so a release's page has the
//! release's own verifier. This crate only holds the bytes.

/// The page; empty if it could not be built.
static PAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/verify.html"));

/// The Rust target that a build needs for the page.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// The page. `None` if the program was built without the Rust target [`TARGET`].
pub fn page() -> Option<&'static [u8]> {
    (!PAGE.is_empty()).then_some(PAGE)
}
