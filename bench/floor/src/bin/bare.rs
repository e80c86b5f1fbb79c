//! A program that does nothing but say so: what it takes to start one.

fn main() {
    println!("bare {}", env!("CARGO_PKG_VERSION"));
}
