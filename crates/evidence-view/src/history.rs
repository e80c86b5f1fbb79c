//! A period of bundles: what was covered, what failed and for how long, and what changed.
//!
//! [`Series`] takes verified bundles, and [`Series::fold`] makes a [`History`] of them, which text, JSON, tables and pages
//! show. Nothing here knows a clock or a file: the same bundles give the same history, in any order.

mod accepted;
mod coverage;
mod exceptions;
mod facts;
mod fold;
mod found_waivers;
mod intern;
mod model;
mod period;
mod population;
mod results;
mod sentences;
mod series;
mod strips;
mod tables;
mod waivers;

pub use accepted::{Accepted, Approval, ExceptionWaiver};
pub use exceptions::span;
pub use facts::Facts;
pub use fold::FoldError;
pub(crate) use fold::gap;
pub use model::{
    Began, Change, Coverage, Ended, Exception, Gap, History, Input, KeyUse, NotUsed, PopulationChange,
    PopulationSize, RuleCoverage, RuleDay, RuleDays, letter,
};
pub use period::{Day, Period};
pub use series::{Named, Series};
pub use strips::{Run, StripCell, StripRow};
