//! What an account has beside users, trails and log groups: security groups, buckets, databases and detectors.

/// An inbound rule of a security group.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) protocol: String,
    /// The first and last port; none for all protocols.
    pub(super) ports: Option<(u32, u32)>,
    /// Networks of IPv4 and IPv6, and ids of prefix lists.
    pub(super) sources: Vec<String>,
}

/// A security group.
#[derive(Clone, Debug)]
pub struct SecurityGroup {
    pub(super) id: String,
    pub(super) rules: Vec<Rule>,
}

impl SecurityGroup {
    /// A group that lets nothing in. It lets everything out, and has a name, a description and a tag.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), rules: Vec::new() }
    }

    /// Lets these networks or prefix lists (`pl-...`) reach ports.
    #[must_use]
    pub fn open(mut self, protocol: &str, ports: (u32, u32), sources: &[&str]) -> Self {
        let sources = sources.iter().map(|source| (*source).to_owned()).collect();
        self.rules.push(Rule { protocol: protocol.to_owned(), ports: Some(ports), sources });
        self
    }

    /// Lets these networks or prefix lists reach everything.
    #[must_use]
    pub fn open_all(mut self, sources: &[&str]) -> Self {
        let sources = sources.iter().map(|source| (*source).to_owned()).collect();
        self.rules.push(Rule { protocol: "-1".to_owned(), ports: None, sources });
        self
    }
}

/// A block of public access: the four settings in the provider's order.
#[derive(Clone, Copy, Debug)]
pub struct AccessBlock(pub [bool; 4]);

impl AccessBlock {
    /// All four settings on.
    pub const ALL: Self = Self([true; 4]);
    /// All four settings off.
    pub const NONE: Self = Self([false; 4]);
}

/// A bucket.
#[derive(Clone, Debug)]
pub struct Bucket {
    pub(super) name: String,
    pub(super) region: String,
    pub(super) block: Option<AccessBlock>,
    pub(super) policy_is_public: Option<bool>,
    pub(super) groups: Vec<String>,
}

impl Bucket {
    /// A bucket as the provider makes them: with a block of its own, without a policy, for its owner only.
    pub fn new(name: impl Into<String>, region: impl Into<String>) -> Self {
        let (name, region) = (name.into(), region.into());
        Self { name, region, block: Some(AccessBlock::ALL), policy_is_public: None, groups: Vec::new() }
    }

    /// Sets its block, or removes it.
    #[must_use]
    pub fn block(self, block: Option<AccessBlock>) -> Self {
        Self { block, ..self }
    }

    /// Gives it a policy.
    #[must_use]
    pub fn policy(self, is_public: bool) -> Self {
        Self { policy_is_public: Some(is_public), ..self }
    }

    /// Lets a group read it, such as `AllUsers`.
    #[must_use]
    pub fn grant(mut self, group: &str) -> Self {
        self.groups.push(group.to_owned());
        self
    }
}

/// A database: an instance, or a cluster. Fields are the provider's, by their names.
#[derive(Clone, Debug)]
pub struct Database {
    pub(super) name: String,
    pub(super) is_cluster: bool,
    pub(super) fields: Vec<(String, String)>,
}

impl Database {
    /// An encrypted instance without a public address, whose backups are kept for a week.
    pub fn instance(name: impl Into<String>) -> Self {
        let made = Self { name: name.into(), is_cluster: false, fields: Vec::new() };
        made.with("Engine", "postgres")
            .with("StorageEncrypted", "true")
            .with("PubliclyAccessible", "false")
            .with("BackupRetentionPeriod", "7")
    }

    /// An encrypted cluster whose backups are kept for a week.
    pub fn cluster(name: impl Into<String>) -> Self {
        let made = Self { name: name.into(), is_cluster: true, fields: Vec::new() };
        made.with("Engine", "aurora-postgresql")
            .with("StorageEncrypted", "true")
            .with("BackupRetentionPeriod", "7")
    }

    /// Sets a field.
    #[must_use]
    pub fn with(mut self, field: &str, value: &str) -> Self {
        self.fields.retain(|(known, _)| known != field);
        self.fields.push((field.to_owned(), value.to_owned()));
        self
    }

    /// Leaves a field out.
    #[must_use]
    pub fn without(mut self, field: &str) -> Self {
        self.fields.retain(|(known, _)| known != field);
        self
    }
}

/// Everything that one region has.
#[derive(Clone, Debug, Default)]
pub(super) struct Resources {
    pub(super) groups: Vec<SecurityGroup>,
    pub(super) databases: Vec<Database>,
    /// The status of its detector, if it has one.
    pub(super) detector: Option<String>,
    /// The region does not offer detectors.
    pub(super) no_detectors: bool,
}
