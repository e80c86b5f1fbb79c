//! A program that only prints one line, to measure the cost of starting a program.

fn main() {
    println!("bare {}", env!("CARGO_PKG_VERSION"));
}
