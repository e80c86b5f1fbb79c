//! The frameworks and controls the tool knows.
//!
//! Closed sets: a new control is a new variant, and every match in the tool then asks what it means.
//! This module never judges anything; `evaluate` does.

use std::fmt;

/// A compliance framework (`framework` in the configuration).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Framework {
    /// SOC 2, type 1: the design of controls at one point in time.
    Soc2Type1,
}

impl Framework {
    /// Every framework, in the order messages list them.
    pub const ALL: &'static [Framework] = &[Framework::Soc2Type1];

    /// The name used in the configuration and in every document.
    pub const fn id(self) -> &'static str {
        match self {
            Framework::Soc2Type1 => "soc2_type1",
        }
    }

    /// The framework with this name, if the tool supports it.
    pub fn from_id(id: &str) -> Option<Framework> {
        Framework::ALL.iter().copied().find(|framework| framework.id() == id)
    }
}

impl fmt::Display for Framework {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// A control of the trust services criteria.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Control {
    /// Logical access controls.
    Cc6_1,
    /// Access removal and modification.
    Cc6_6,
    /// Change management.
    Cc7_2,
}

impl Control {
    /// Every control, in the order documents list them.
    pub const ALL: &'static [Control] = &[Control::Cc6_1, Control::Cc6_6, Control::Cc7_2];

    /// Their identifiers, in the same order.
    pub const IDS: &'static [&'static str] = &[Control::Cc6_1.id(), Control::Cc6_6.id(), Control::Cc7_2.id()];

    /// The identifier used in the configuration and in every document.
    pub const fn id(self) -> &'static str {
        match self {
            Control::Cc6_1 => "CC6.1",
            Control::Cc6_6 => "CC6.6",
            Control::Cc7_2 => "CC7.2",
        }
    }

    /// What the control is about, in the words of the specification.
    pub fn title(self) -> &'static str {
        match self {
            Control::Cc6_1 => "Logical access controls",
            Control::Cc6_6 => "Access removal and modification",
            Control::Cc7_2 => "Change management",
        }
    }

    /// The control with this identifier, if the tool knows it.
    pub fn from_id(id: &str) -> Option<Control> {
        Control::ALL.iter().copied().find(|control| control.id() == id)
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
