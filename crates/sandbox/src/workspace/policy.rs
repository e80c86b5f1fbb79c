//! A policy of the customer, and its form in answers.

use super::shape::opaque;
use serde_json::{Map, Value, json};

/// A policy: a setting for an organizational unit, or for a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    pub(super) setting: String,
    value: Value,
    pub(super) unit: String,
    group: Option<String>,
    order: Option<f64>,
    system: bool,
    licence: bool,
}

impl Policy {
    /// A policy that an administrator set for everyone: `security.password` and its value.
    pub fn new(setting: impl Into<String>, value: Value) -> Self {
        let (unit, order) = ("/".to_owned(), Some(1.0));
        Self { setting: setting.into(), value, unit, group: None, order, system: false, licence: false }
    }

    /// For an organizational unit and those below it, by its path.
    pub fn unit(mut self, path: impl Into<String>) -> Self {
        self.unit = path.into();
        self
    }

    /// For a group, by its id.
    pub fn group(mut self, id: impl Into<String>) -> Self {
        self.group = Some(id.into());
        self
    }

    /// Its place among the policies of the same setting, if the answer shows one: the highest counts.
    pub fn order(mut self, order: Option<f64>) -> Self {
        self.order = order;
        self
    }

    /// One of the provider's own.
    pub fn system(mut self) -> Self {
        self.system = true;
        self
    }

    /// Only for users with a certain licence.
    pub fn for_licence(mut self) -> Self {
        self.licence = true;
        self
    }

    pub(super) fn body(&self, customer: &str) -> Value {
        let unit = unit_id(&self.unit);
        let mut query =
            format!("entity.org_units.exists(org_unit, org_unit.org_unit_id == orgUnitId('{unit}'))");
        if let Some(group) = &self.group {
            query.push_str(&format!(" && entity.groups.exists(group, group.group_id == groupId('{group}'))"));
        }
        if self.licence {
            query.push_str(
                " && entity.licenses.exists(license, license in ['/product/101001/sku/1010010001'])",
            );
        }
        let mut of = Map::from_iter([
            ("query".to_owned(), query.into()),
            ("orgUnit".to_owned(), format!("orgUnits/{unit}").into()),
        ]);
        if let Some(group) = &self.group {
            of.insert("group".to_owned(), format!("groups/{group}").into());
        }
        if let Some(order) = self.order {
            of.insert("sortOrder".to_owned(), order.into());
        }
        json!({
            "name": format!("policies/{}", hex::encode(opaque(&format!("{self:?}"), 12))),
            "customer": format!("customers/{customer}"),
            "policyQuery": of,
            "setting": { "type": format!("settings/{}", self.setting), "value": self.value },
            "type": if self.system { "SYSTEM" } else { "ADMIN" },
        })
    }
}

/// The id of a unit, without what each interface writes before it.
pub(super) fn unit_id(path: &str) -> String {
    format!("03ph8a2z{}", hex::encode(opaque(path, 6)))
}
