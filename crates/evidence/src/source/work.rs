//! What a source will ask, and where its clients stand with their limits: what a forecast is made from.

use evidence_http::Standing;

/// Requests to send: a question about each of several subjects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// How many subjects there are.
    pub subjects: u64,
    /// How many of them have an answer of an interrupted run that can be taken over.
    pub resumed: u64,
    /// What these take nevertheless.
    pub rest: PerHundred,
    /// What the others take.
    pub usual: PerHundred,
    /// What the others take instead, beside queries for many of them at once; `None` if there are none.
    pub in_bulk: Option<PerHundred>,
}

/// The usual number of requests about a hundred subjects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PerHundred {
    /// All.
    pub requests: u64,
    /// Those that count against the limit.
    pub counted: u64,
}

/// Where the clients of a source stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standings {
    /// The client for single requests.
    pub requests: Standing,
    /// The one for queries, as long as the host answers them.
    pub queries: Option<Queries>,
}

/// Where the client stands that asks for many subjects with one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queries {
    /// What it has sent, and what the host allows. Its budget is in points.
    pub standing: Standing,
    /// How many subjects a query asks for.
    pub page: u64,
    /// The points that the host has counted.
    pub points: u64,
}
