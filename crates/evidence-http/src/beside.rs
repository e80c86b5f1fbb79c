//! A client of another interface of the same host, whose limits are its own.

use std::sync::Arc;

use jiff::SignedDuration;

use super::client::Client;
use super::request::Dialect;
use super::settings::ClientSettings;

impl Client {
    /// A client of another interface of the same host: it has the same credential and cache, shares counts, and passes a
    /// gate of its own, which all such clients of the credential share. It returns a fault of the host at once, because
    /// its caller then asks for less; `host_time_per_minute` is what the interface allows.
    #[must_use]
    pub fn beside(&self, dialect: Arc<dyn Dialect>, host_time_per_minute: SignedDuration) -> Client {
        let settings = ClientSettings {
            host_time_per_minute: Some(host_time_per_minute),
            faults_are_final: true,
            ..self.settings.clone()
        };
        let gate = self.gate.beside(&settings);
        let mut beside = self.sibling(dialect, Arc::clone(&self.credential));
        (beside.gate, beside.settings, beside.cache) = (gate, settings, self.cache.clone());
        beside
    }

    /// How long the host took for the requests of this client, if its time is limited.
    pub fn host_time(&self) -> SignedDuration {
        self.gate.host_time()
    }
}
