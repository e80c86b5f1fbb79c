//! Who may have how much of something at once: half of it at most for one organization, so that none keeps out the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::id::OrganizationId;

/// Something of which there is only so much.
#[derive(Debug)]
pub(super) struct Shares {
    most: usize,
    taken: Mutex<HashMap<OrganizationId, usize>>,
}

/// A part of it. Given back when dropped.
#[derive(Debug)]
pub(super) struct Share {
    of: Arc<Shares>,
    organization: OrganizationId,
}

impl Shares {
    pub(super) fn new(most: usize) -> Arc<Shares> {
        Arc::new(Shares { most: most.max(1), taken: Mutex::default() })
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<OrganizationId, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a part, if there is one left for this organization.
    pub(super) fn take(self: &Arc<Shares>, organization: &OrganizationId) -> Option<Share> {
        let mut taken = self.locked();
        let all: usize = taken.values().sum();
        let own = taken.get(organization).copied().unwrap_or_default();
        if all >= self.most || own >= self.most.div_ceil(2) {
            return None;
        }
        taken.insert(organization.clone(), own.saturating_add(1));
        Some(Share { of: Arc::clone(self), organization: organization.clone() })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.of.locked();
        if let Some(count) = taken.get_mut(&self.organization) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                taken.remove(&self.organization);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_organization_gets_half_and_all_get_all() {
        let shares = Shares::new(4);
        let names: Vec<_> = ["a", "b", "c"].map(|name| OrganizationId::stored(name.to_owned())).into();
        let first: Vec<_> = (0..2).map(|_| shares.take(&names[0]).unwrap()).collect();
        assert!(shares.take(&names[0]).is_none());
        let second = [shares.take(&names[1]).unwrap(), shares.take(&names[2]).unwrap()];
        assert!(shares.take(&names[2]).is_none(), "all are taken");
        drop(first);
        assert!(shares.take(&names[0]).is_some());
        drop(second);
        assert!(shares.locked().is_empty());
    }
}
