//! The kinds of secrets, generated at random from their documented formats. None of them is real.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use fastrand::Rng;

/// A kind of secret.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// The rule that must find it in the plain form.
    pub(crate) rule: &'static str,
    make: fn(&mut Rng) -> Secret,
    /// Whether it is still recognisable when split into lines.
    pub(crate) may_be_cut: bool,
}

impl Kind {
    pub(crate) fn make(&self, random: &mut Rng) -> Secret {
        (self.make)(random)
    }
}

/// A secret, with the text around it.
#[derive(Clone, Debug)]
pub(crate) struct Secret {
    /// The complete text, including the parts that identify it as a secret.
    pub(crate) text: String,
    /// The part that must not appear anywhere.
    pub(crate) core: String,
}

impl Secret {
    fn plain(text: String) -> Secret {
        Secret { core: text.clone(), text }
    }

    fn within(before: &str, core: String, after: &str) -> Secret {
        Secret { text: format!("{before}{core}{after}"), core }
    }
}

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

fn of(random: &mut Rng, alphabets: &[&str], count: usize) -> String {
    let letters: Vec<char> = alphabets.iter().flat_map(|alphabet| alphabet.chars()).collect();
    (0..count).map(|_| *random.choice(&letters).unwrap()).collect()
}

fn alnum(random: &mut Rng, count: usize) -> String {
    of(random, &[LOWER, UPPER, DIGITS], count)
}

fn word(random: &mut Rng, count: usize) -> String {
    of(random, &[LOWER, UPPER, DIGITS, "_-"], count)
}

fn hex(random: &mut Rng, count: usize) -> String {
    of(random, &[DIGITS, "abcdef"], count)
}

fn digits(random: &mut Rng, count: usize) -> String {
    of(random, &[DIGITS], count)
}

fn bytes(random: &mut Rng, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.u8(..)).collect()
}

/// The last six characters of the code host's tokens: the CRC-32 of the preceding characters, in base 62.
fn with_checksum(prefix: &str, random: &mut Rng, count: usize) -> String {
    let text = alnum(random, count);
    let mut crc = flate2::Crc::new();
    crc.update(text.as_bytes());
    let letters: Vec<char> = format!("{DIGITS}{UPPER}{LOWER}").chars().collect();
    let mut rest = crc.sum() as usize;
    let mut sum = Vec::new();
    for _ in 0..6 {
        sum.push(letters[rest % 62]);
        rest /= 62;
    }
    let sum: String = sum.iter().rev().collect();
    format!("{prefix}{text}{sum}")
}

fn web_token(random: &mut Rng) -> String {
    let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
    let claims = format!(r#"{{"sub":"{}","iat":{}}}"#, hex(random, 12), random.u32(1_600_000_000..));
    let signature = URL_SAFE_NO_PAD.encode(bytes(random, 32));
    format!("{header}.{}.{signature}", URL_SAFE_NO_PAD.encode(claims))
}

fn pem(label: &str, random: &mut Rng, count: usize) -> Secret {
    let body = STANDARD.encode(bytes(random, count));
    let lines: Vec<&str> =
        body.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    let text = format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"));
    Secret { text, core: lines[0].to_string() }
}

const BECH32: &str = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";

/// An age identity with its format's checksum (BIP 173).
fn age(random: &mut Rng) -> String {
    let bits: Vec<u8> =
        bytes(random, 32).iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    let mut data: Vec<u32> = bits
        .chunks(5)
        .map(|five| (0..5).fold(0, |value, place| value << 1 | u32::from(*five.get(place).unwrap_or(&0))))
        .collect();
    let human = "age-secret-key-";
    let mut values: Vec<u32> = human.bytes().map(|byte| u32::from(byte) >> 5).collect();
    values.push(0);
    values.extend(human.bytes().map(|byte| u32::from(byte) & 31));
    values.extend(&data);
    values.extend([0; 6]);
    let polymod = values.iter().fold(1u32, |sum, value| {
        let top = sum >> 25;
        let generators = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
        let sum = ((sum & 0x1ff_ffff) << 5) ^ value;
        generators
            .iter()
            .enumerate()
            .fold(sum, |sum, (bit, with)| sum ^ if top >> bit & 1 == 1 { *with } else { 0 })
    }) ^ 1;
    data.extend((0..6).map(|place| polymod >> (5 * (5 - place)) & 31));
    let letters: Vec<char> = BECH32.chars().collect();
    let text: String = data.iter().map(|value| letters[*value as usize]).collect();
    format!("AGE-SECRET-KEY-1{text}")
}

macro_rules! kind {
    ($name:literal, $rule:literal, $make:expr) => {
        Kind { name: $name, rule: $rule, make: $make, may_be_cut: true }
    };
}

/// Every kind in the table of documented formats.
pub(crate) static KINDS: &[Kind] = &[
    kind!("code host, classic", "code-host-token", |r| Secret::plain(with_checksum(
        concat!("gh", "p_"),
        r,
        30
    ))),
    kind!("code host, application", "code-host-token", |r| Secret::plain(with_checksum(
        concat!("gh", "o_"),
        r,
        30
    ))),
    kind!("code host, user of an app", "code-host-token", |r| Secret::plain(with_checksum(
        concat!("gh", "u_"),
        r,
        30
    ))),
    kind!("code host, refresh", "code-host-token", |r| Secret::plain(with_checksum(
        concat!("gh", "r_"),
        r,
        70
    ))),
    kind!("code host, short refresh", "code-host-token", |r| Secret::plain(with_checksum(
        concat!("gh", "r_"),
        r,
        30
    ))),
    kind!("code host, fine-grained", "code-host-fine-grained-token", |r| {
        Secret::plain(format!("github{}_{}_{}", "_pat", alnum(r, 22), alnum(r, 59)))
    }),
    kind!("code host, installation", "code-host-installation-token", |r| {
        Secret::plain(with_checksum(concat!("gh", "s_"), r, 30))
    }),
    kind!("code host, installation with a web token", "code-host-installation-token", |r| {
        Secret::plain(format!("gh{}_{}_{}", "s", digits(r, 6), web_token(r)))
    }),
    kind!("other code host, personal", "other-code-host-token", |r| {
        Secret::plain(format!("gl{}-{}", "pat", word(r, 20)))
    }),
    kind!("other code host, runner", "other-code-host-token", |r| {
        Secret::plain(format!("gl{}-{}", "rt", word(r, 20)))
    }),
    kind!("work management", "workspace-api-token", |r| {
        Secret::plain(format!("ATA{}{}={}", "TT3", word(r, 177), of(r, &[DIGITS, "ABCDEF"], 8)))
    }),
    kind!("cloud, access key id", "cloud-access-key-id", |r| {
        Secret::plain(format!("AK{}{}", "IA", of(r, &[UPPER, "234567"], 16)))
    }),
    kind!("cloud, temporary key id", "cloud-access-key-id", |r| {
        Secret::plain(format!("AS{}{}", "IA", of(r, &[UPPER, "234567"], 16)))
    }),
    kind!("cloud, bearer key id", "cloud-access-key-id", |r| {
        Secret::plain(format!("AB{}{}", "IA", of(r, &[UPPER, "234567"], 16)))
    }),
    kind!("cloud, context key id", "cloud-access-key-id", |r| {
        Secret::plain(format!("AC{}{}", "CA", of(r, &[UPPER, "234567"], 16)))
    }),
    kind!("cloud, secret access key", "cloud-secret-access-key", |r| {
        Secret::within("secret_access_key = ", of(r, &[LOWER, UPPER, DIGITS, "/+"], 40), "")
    }),
    kind!("cloud, API key", "cloud-api-key", |r| Secret::plain(format!("AI{}{}", "za", word(r, 35)))),
    kind!("cloud, account key id", "cloud-account-key-id", |r| {
        Secret::plain(format!("LT{}{}", "AI", alnum(r, 20)))
    }),
    kind!("cloud, droplets", "cloud-droplet-token", |r| Secret::plain(format!(
        "dop{}{}",
        "_v1_",
        hex(r, 64)
    ))),
    kind!("cloud, client secret", "cloud-client-secret", |r| {
        let (start, digit, rest) = (alnum(r, 3), digits(r, 1), r.usize(31..35));
        Secret::plain(format!("{start}{digit}{}{}", "Q~", of(r, &[LOWER, UPPER, DIGITS, "_~.-"], rest)))
    }),
    kind!("private key", "private-key", |r| pem(concat!("PRIVATE", " KEY"), r, 48)),
    kind!("private key, RSA", "private-key", |r| pem(concat!("RSA PRIVATE", " KEY"), r, 608)),
    kind!("private key, EC", "private-key", |r| pem(concat!("EC PRIVATE", " KEY"), r, 121)),
    kind!("private key, SSH", "private-key", |r| pem(concat!("OPENSSH PRIVATE", " KEY"), r, 290)),
    kind!("private key, encrypted", "private-key", |r| pem(concat!("ENCRYPTED PRIVATE", " KEY"), r, 140)),
    kind!("private key, PGP", "private-key", |r| pem(concat!("PGP PRIVATE", " KEY BLOCK"), r, 300)),
    kind!("private key, the beginning alone", "private-key", |r| {
        let body = STANDARD.encode(bytes(r, 36));
        Secret::within(concat!("-----BEGIN RSA PRIVATE", " KEY-----\n"), body, "")
    }),
    kind!("file encryption", "age-secret-key", |r| Secret::plain(age(r))),
    kind!("web token", "json-web-token", |r| Secret::plain(web_token(r))),
    kind!("chat, bot", "chat-token", |r| {
        Secret::plain(format!("xo{}-{}-{}-{}", "xb", digits(r, 12), digits(r, 13), alnum(r, 24)))
    }),
    kind!("chat, user", "chat-token", |r| {
        let parts = [digits(r, 12), digits(r, 12), digits(r, 13), hex(r, 32)];
        Secret::plain(format!("xo{}-{}", "xp", parts.join("-")))
    }),
    kind!("chat, app", "chat-token", |r| {
        let id = of(r, &[UPPER, DIGITS], 10);
        Secret::plain(format!("xa{}-1-A{id}-{}-{}", "pp", digits(r, 13), hex(r, 64)))
    }),
    kind!("chat, webhook", "chat-webhook", |r| {
        let ids = [of(r, &[UPPER, DIGITS], 8), of(r, &[UPPER, DIGITS], 8)];
        let core = format!("T{}/B{}/{}", ids[0], ids[1], alnum(r, 24));
        Secret::within(concat!("https://hooks.", "slack.com/services/"), core, "")
    }),
    kind!("chat, another webhook", "chat-webhook", |r| {
        let core = format!("{}/{}", digits(r, 18), word(r, 68));
        Secret::within(concat!("https://discord", ".com/api/webhooks/"), core, "")
    }),
    kind!("mail, API key", "mail-api-key", |r| Secret::plain(format!(
        "S{}.{}.{}",
        "G",
        word(r, 22),
        word(r, 43)
    ))),
    kind!("mail, sending key", "mail-sending-key", |r| {
        Secret::within("mailgun_key = ", format!("ke{}-{}", "y", hex(r, 32)), "")
    }),
    kind!("chat, bot of another kind", "bot-token", |r| {
        let (id, rest) = (r.u32(100_000_000..), word(r, 34));
        Secret::plain(format!("{id}:{}{rest}", "A"))
    }),
    kind!("payment, live", "payment-key", |r| Secret::plain(format!("sk{}_{}", "_live", alnum(r, 24)))),
    kind!("payment, restricted", "payment-key", |r| Secret::plain(format!("rk{}_{}", "_live", alnum(r, 99)))),
    kind!("payment, test", "payment-key", |r| Secret::plain(format!("sk{}_aB{}", "_test", alnum(r, 22)))),
    kind!("payment, access token", "payment-access-token", |r| {
        Secret::plain(format!("sq0{}-{}", "atp", word(r, 22)))
    }),
    kind!("packages, npm", "package-token-npm", |r| Secret::plain(with_checksum(concat!("np", "m_"), r, 30))),
    kind!("packages, PyPI", "package-token-pypi", |r| {
        let length = r.usize(50..120);
        Secret::plain(format!("pypi-AgE{}{}", "IcHlwaS5vcmc", word(r, length)))
    }),
    kind!("packages, RubyGems", "package-token-rubygems", |r| {
        Secret::plain(format!("ruby{}_{}", "gems", hex(r, 48)))
    }),
    kind!("AI service", "ai-key", |r| Secret::plain(format!(
        "s{}-{}T3Blbk{}{}",
        "k",
        alnum(r, 20),
        "FJ",
        alnum(r, 20)
    ))),
    kind!("AI service, of a project", "ai-key", |r| {
        Secret::plain(format!("s{}-proj-{}T3Blbk{}{}", "k", word(r, 74), "FJ", word(r, 74)))
    }),
    kind!("AI service, another", "ai-api-key", |r| Secret::plain(format!(
        "sk{}-api03-{}AA",
        "-ant",
        word(r, 93)
    ))),
    kind!("AI models", "ai-model-hub-token", |r| Secret::plain(format!(
        "h{}_{}",
        "f",
        of(r, &[LOWER, UPPER], 34)
    ))),
    kind!("secret store", "vault-token", |r| {
        let length = r.usize(90..121);
        Secret::plain(format!("hv{}.{}", "s", word(r, length)))
    }),
    kind!("infrastructure", "infrastructure-token", |r| {
        let length = r.usize(60..71);
        Secret::plain(format!("{}.atlas{}.{}", alnum(r, 14), "v1", word(r, length)))
    }),
    kind!("data platform", "data-platform-token", |r| Secret::plain(format!("da{}{}", "pi", hex(r, 32)))),
    kind!("secret manager", "secret-manager-token", |r| Secret::plain(format!(
        "dp{}.{}",
        ".pt",
        alnum(r, 43)
    ))),
    kind!("dashboards", "dashboard-token", |r| Secret::plain(format!(
        "gl{}_{}_{}",
        "sa",
        alnum(r, 32),
        hex(r, 8)
    ))),
    kind!("errors", "error-tracker-token", |r| Secret::plain(format!("snt{}_{}", "ryu", hex(r, 64)))),
    kind!("monitoring", "monitoring-key", |r| {
        Secret::plain(format!("NR{}-{}", "AK", of(r, &[UPPER, DIGITS], 27)))
    }),
    kind!("application platform", "platform-key", |r| Secret::plain(format!("HR{}-AA{}", "KU", word(r, 58)))),
    kind!("shop", "shop-token", |r| Secret::plain(format!("sh{}_{}", "pat", hex(r, 32)))),
    kind!("issue tracker", "tracker-key", |r| Secret::plain(format!("lin{}_{}", "_api", alnum(r, 40)))),
    kind!("API client", "api-client-key", |r| Secret::plain(format!(
        "PM{}-{}-{}",
        "AK",
        hex(r, 24),
        hex(r, 34)
    ))),
    kind!("password manager", "password-manager-token", |r| {
        let length = r.usize(250..400);
        Secret::plain(format!("op{}_eyJ{}", "s", alnum(r, length)))
    }),
    Kind {
        name: "password in a URL",
        rule: "url-credentials",
        make: |r| Secret::within("https://deploy:", alnum(r, 16), "@host.example/path"),
        may_be_cut: false,
    },
    Kind {
        name: "token in a URL",
        rule: "url-token",
        make: |r| Secret::within("https://host.example/file?token=", alnum(r, 28), ""),
        may_be_cut: false,
    },
    Kind {
        name: "access token in a URL",
        rule: "url-token",
        make: |r| Secret::within("https://host.example/file?x=1&access_token=", alnum(r, 28), ""),
        may_be_cut: false,
    },
];
