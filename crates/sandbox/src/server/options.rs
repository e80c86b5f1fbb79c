//! Builder methods for serving that all hosts share.

/// The builder's methods that concern the engine, for a host with the fields `settings` and `clock_offset_seconds`.
macro_rules! engine_options {
    ($host:ty) => {
        impl $host {
            /// Delays every answer by this long.
            pub fn latency(mut self, latency: std::time::Duration) -> Self {
                self.settings.latency = latency;
                self
            }

            /// Adds a fault. The first one that matches a request and is not used up applies.
            pub fn fault(mut self, fault: crate::Fault) -> Self {
                self.settings.faults.push(fault);
                self
            }

            /// Sets the host's clock off by this much.
            pub fn clock_offset_seconds(mut self, seconds: i64) -> Self {
                self.clock_offset_seconds = seconds;
                self
            }

            /// Whether bodies are compressed for clients that accept it.
            pub fn compression(mut self, compression: bool) -> Self {
                self.settings.compression = compression;
                self
            }

            /// How many requests the log holds (the oldest go first); 0 for none.
            pub fn log_limit(mut self, requests: usize) -> Self {
                self.settings.log_limit = requests;
                self
            }

            /// The port, instead of any free one.
            pub fn port(mut self, port: u16) -> Self {
                self.settings.port = port;
                self
            }

            /// How long [`crate::FaultKind::Refuse`] lasts: 50 ms unless set.
            pub fn refused_for(mut self, pause: std::time::Duration) -> Self {
                self.settings.refused_for = pause;
                self
            }

            /// Adds a fault while serving.
            pub fn add_fault(&mut self, fault: crate::Fault) {
                self.settings.faults.push(fault);
            }

            /// Removes all faults.
            pub fn clear_faults(&mut self) {
                self.settings.faults.clear();
            }

            /// Sets the latency.
            pub fn set_latency(&mut self, latency: std::time::Duration) {
                self.settings.latency = latency;
            }
        }

        impl crate::server::Hosted for $host {
            fn settings(&self) -> &crate::server::Settings {
                &self.settings
            }

            fn clock_offset_seconds(&self) -> i64 {
                self.clock_offset_seconds
            }
        }
    };
}
pub(crate) use engine_options;
