//! Which requests meet a fault, how often, and which one.

use super::kind::{Body, FaultKind};
use crate::lock::lock;
use crate::server::Call;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Which requests meet which fault.
#[derive(Clone, Debug)]
pub struct Fault {
    id: u64,
    pattern: String,
    kinds: Vec<FaultKind>,
    times: Option<u64>,
    times_per_path: Option<u64>,
    skip: u64,
    chance: Option<(f64, u64)>,
    lasts: bool,
}

impl Fault {
    /// For requests to this path as sent (undecoded, without the API's base path). `*` matches anything, including
    /// `/`; a pattern with a `?` is compared with the query too. The kind is a 502 unless [`Self::kind`] sets
    /// another.
    ///
    /// The cloud has one path for everything, so there the pattern is an action, with or without a region, such
    /// as `iam:GetAccountPasswordPolicy`, `logs:*` or `logs:DescribeLogGroups@eu-west-1`.
    pub fn on(pattern: impl Into<String>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            pattern: pattern.into(),
            kinds: Vec::new(),
            times: None,
            times_per_path: None,
            skip: 0,
            chance: None,
            lasts: false,
        }
    }

    /// For every request.
    pub fn everywhere() -> Self {
        Self::on("*")
    }

    /// Sets the kind.
    pub fn kind(mut self, kind: FaultKind) -> Self {
        self.kinds.push(kind);
        self
    }

    /// Sets several kinds; the seed of [`Self::chance`], the path and the attempt choose one.
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = FaultKind>) -> Self {
        self.kinds.extend(kinds);
        self
    }

    /// How often in total. Unlimited by default.
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    /// How often on each path (query included), for faults that heal within a client's retries.
    pub fn times_per_path(mut self, times: u64) -> Self {
        self.times_per_path = Some(times);
        self
    }

    /// Spares the first matching requests, for faults in the middle of a run.
    pub fn after(mut self, requests: u64) -> Self {
        self.skip = requests;
        self
    }

    /// Only this share of the requests (0 to 1), chosen by the seed, the path and the attempt: the same run meets
    /// the same faults, whatever the order of its requests.
    pub fn chance(mut self, share: f64, seed: u64) -> Self {
        self.chance = Some((share, seed));
        self
    }

    /// Once [`Self::chance`] has chosen a path, every request to it meets the same kind.
    pub fn lasting(mut self) -> Self {
        self.lasts = true;
        self
    }

    /// Whether it applies before the request's body is read. All kinds of one fault do, or none.
    fn is_early(&self) -> bool {
        matches!(self.kinds.first(), Some(FaultKind::CutUpload(_) | FaultKind::RefuseUpload(_)))
    }

    fn matches(&self, call: &Call) -> bool {
        if let Some(action) = &call.action
            && (wildcard(&self.pattern, &action.name)
                || wildcard(&self.pattern, &format!("{}@{}", action.name, action.region)))
        {
            return true;
        }
        if self.pattern.contains('?') {
            let whole = if call.query.is_empty() {
                call.path.clone()
            } else {
                format!("{}?{}", call.path, call.query)
            };
            wildcard(&self.pattern, &whole)
        } else {
            wildcard(&self.pattern, &call.path)
        }
    }
}

/// The identity of a request across attempts: its path and query, or its action, region and body.
fn call_key(call: &Call) -> String {
    let Some(action) = &call.action else { return call.path_and_query.clone() };
    let mut hasher = DefaultHasher::new();
    call.body.hash(&mut hasher);
    format!("{}@{} {} {:016x}", action.name, action.region, call.path_and_query, hasher.finish())
}

pub(crate) fn wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The faults of a running host with their counts.
#[derive(Debug)]
pub(crate) struct FaultBook {
    active: Mutex<Vec<Active>>,
    counts: Mutex<BTreeMap<&'static str, u64>>,
}

#[derive(Debug)]
struct Active {
    fault: Fault,
    seen: u64,
    used: u64,
    paths: HashMap<String, PathCount>,
}

#[derive(Debug, Default, Clone, Copy)]
struct PathCount {
    seen: u64,
    used: u64,
}

impl FaultBook {
    pub(crate) fn new(faults: Vec<Fault>) -> Self {
        let book = Self { active: Mutex::default(), counts: Mutex::default() };
        book.replace(faults);
        book
    }

    /// Replaces the faults; known ones keep their counts.
    pub(crate) fn replace(&self, faults: Vec<Fault>) {
        let mut active = lock(&self.active);
        let mut before: HashMap<u64, Active> =
            active.drain(..).map(|entry| (entry.fault.id, entry)).collect();
        active.extend(faults.into_iter().map(|fault| {
            let kept = before.remove(&fault.id);
            let (seen, used, paths) =
                kept.map_or_else(Default::default, |kept| (kept.seen, kept.used, kept.paths));
            Active { fault, seen, used, paths }
        }));
    }

    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        lock(&self.counts).clone()
    }

    /// The first fault for this request, after its body was read.
    pub(crate) fn pick(&self, call: &Call) -> Option<FaultKind> {
        self.pick_of(call, false)
    }

    /// The first fault for this request before its body is read.
    pub(crate) fn pick_early(&self, call: &Call) -> Option<FaultKind> {
        self.pick_of(call, true)
    }

    fn pick_of(&self, call: &Call, early: bool) -> Option<FaultKind> {
        let mut active = lock(&self.active);
        let kind = active
            .iter_mut()
            .filter(|entry| entry.fault.is_early() == early && entry.fault.matches(call))
            .find_map(|entry| entry.strike(call))?;
        *lock(&self.counts).entry(kind.name()).or_default() += 1;
        Some(kind)
    }
}

impl Active {
    fn strike(&mut self, call: &Call) -> Option<FaultKind> {
        self.seen += 1;
        if self.seen <= self.fault.skip || self.fault.times.is_some_and(|times| self.used >= times) {
            return None;
        }
        let mut which = self.used;
        let key = call_key(call);
        if self.fault.chance.is_some() || self.fault.times_per_path.is_some() {
            let count = self.paths.entry(key.clone()).or_default();
            count.seen += 1;
            if self.fault.times_per_path.is_some_and(|times| count.used >= times) {
                return None;
            }
            if let Some((share, seed)) = self.fault.chance {
                let mut hasher = DefaultHasher::new();
                let attempt = if self.fault.lasts { 0 } else { count.seen };
                (seed, &key, attempt).hash(&mut hasher);
                let draw = hasher.finish();
                // The upper half decides whether, the lower half which.
                if (draw >> 32) as f64 / f64::from(u32::MAX) >= share {
                    return None;
                }
                which = draw & 0xffff_ffff;
            }
            count.used += 1;
        }
        self.used += 1;
        let kinds = &self.fault.kinds;
        let place = usize::try_from(which).unwrap_or_default() % kinds.len().max(1);
        Some(kinds.get(place).cloned().unwrap_or(FaultKind::Status(502, Body::Json)))
    }
}

#[cfg(test)]
mod tests {
    use super::wildcard;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("/user", "/user", true),
            ("/user", "/users", false),
            ("/repos/*", "/repos/a/b", true),
            ("/repos/*", "/orgs/a", false),
            ("*/protection", "/repos/a/b/branches/main/protection", true),
            ("/repos/*/branches/*/protection", "/repos/a/b/branches/main/protection", true),
            ("/repos/*/branches/*/protection", "/repos/a/b/branches/main", false),
            ("*", "", true),
            ("/orgs/*?*page=2*", "/orgs/a/repos?per_page=100&page=2", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(wildcard(pattern, text), expected, "{pattern} on {text}");
        }
    }
}
