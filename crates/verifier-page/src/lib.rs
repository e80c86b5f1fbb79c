//! The verifier page: one HTML file that verifies bundles offline, in any browser.
//!
//! The build script compiles `evidence-verifier` to WebAssembly and puts it into the page, so that the page that a release
//! writes has the release's own verifier in it. This crate only holds the bytes.

/// The page; empty where it could not be made.
static PAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/verify.html"));

/// What a build needs to have the page.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// The page. `None` if this program was built on a machine without the [`TARGET`] of the Rust compiler.
pub fn page() -> Option<&'static [u8]> {
    (!PAGE.is_empty()).then_some(PAGE)
}
