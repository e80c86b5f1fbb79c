//! What several topics have in common.

mod about;
mod refusals;
mod shapes;
