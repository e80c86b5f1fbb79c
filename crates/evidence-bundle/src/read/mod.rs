//! stub

/// stub
pub struct Limits {
    pub files: usize,
}
impl Default for Limits {
    fn default() -> Self {
        Limits { files: 500_000 }
    }
}
