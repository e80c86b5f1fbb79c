//! Limits that several clients share: a credential has one budget, however many clients use it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::gate::Gate;
use super::settings::ClientSettings;

/// The gates of credentials, by a name for each credential. Clients that use the same one wait together.
#[derive(Clone, Default)]
pub struct Budgets(Arc<Mutex<BTreeMap<String, Arc<Gate>>>>);

impl fmt::Debug for Budgets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The names identify credentials.
        f.write_str("Budgets")
    }
}

impl Budgets {
    /// The gate of this credential. The first client that asks for it decides the settings.
    pub(super) fn gate(&self, name: &str, settings: &ClientSettings) -> Arc<Gate> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = gates.entry(name.to_string()).or_insert_with(|| Arc::new(Gate::new(settings)));
        Arc::clone(gate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_gate_for_each_credential() {
        let (budgets, settings) = (Budgets::default(), ClientSettings::default());
        let first = budgets.gate("a", &settings);
        assert!(Arc::ptr_eq(&first, &budgets.clone().gate("a", &settings)));
        assert!(!Arc::ptr_eq(&first, &budgets.gate("b", &settings)));
        assert_eq!(format!("{budgets:?}"), "Budgets");
    }
}
