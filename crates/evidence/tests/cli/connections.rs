//! Connections that fail the same way on every attempt: certificates, TLS, proxies. The tool tries once, and its help
//! names the cause.
//!
//! The hosts are real: a TLS server on loopback, with certificates generated here, in front of the sandbox; and a proxy
//! that answers CONNECT.

use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Instant;

use rcgen::{
    CertificateParams, CertifiedIssuer, DnType, Error, IsCa, KeyIdMethod, PublicKeyData, SignatureAlgorithm,
    SigningKey, date_time_ymd,
};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use sandbox::codehost::{Limits, Primary};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::common::{Lab, Run, acme, sound};

mod lasting;

/// No message may contain it.
const PROXY_PASSWORD: &str = "not-for-any-log-4711";

/// The certificate authority that the tests trust, and another.
static TRUSTED: LazyLock<CertifiedIssuer<'static, Key>> = LazyLock::new(|| authority("trusted"));
static STRANGE: LazyLock<CertifiedIssuer<'static, Key>> = LazyLock::new(|| authority("strange"));

fn authority(name: &str) -> CertifiedIssuer<'static, Key> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.serial_number = Some(1.into());
    params.key_identifier_method = KeyIdMethod::PreSpecified(name.into());
    CertifiedIssuer::self_signed(params, Key::generate()).unwrap()
}

/// A certificate's key. rcgen's own keys would add a certificate parser to Cargo.lock.
struct Key {
    pkcs8: Vec<u8>,
    pair: EcdsaKeyPair,
}

impl Key {
    fn generate() -> Key {
        let (algorithm, random) = (&ECDSA_P256_SHA256_ASN1_SIGNING, SystemRandom::new());
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap().as_ref().to_vec();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, &pkcs8, &random).unwrap();
        Key { pkcs8, pair }
    }
}

impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &rcgen::PKCS_ECDSA_P256_SHA256
    }
}

impl SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let signature = self.pair.sign(&SystemRandom::new(), message);
        signature.map(|signature| signature.as_ref().to_vec()).map_err(|_| Error::RemoteKeyError)
    }
}

/// A server's certificate: its issuer, its name, and its first and last year.
struct Certificate {
    issuer: &'static CertifiedIssuer<'static, Key>,
    name: &'static str,
    years: (i32, i32),
}

impl Certificate {
    fn good() -> Certificate {
        Certificate { issuer: &TRUSTED, name: "localhost", years: (2020, 2100) }
    }

    fn config(&self) -> Arc<ServerConfig> {
        let mut params = CertificateParams::new(vec![self.name.to_string()]).unwrap();
        (params.not_before, params.not_after) =
            (date_time_ymd(self.years.0, 1, 1), date_time_ymd(self.years.1, 1, 1));
        params.serial_number = Some(2.into());
        let key = Key::generate();
        let certificate = params.signed_by(&key, self.issuer).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.pkcs8.into()))
            .unwrap();
        Arc::new(config)
    }
}

/// How a server handles a connection.
#[derive(Clone)]
enum Does {
    /// TLS with this certificate, in front of the other server.
    Tls(Arc<ServerConfig>, SocketAddr),
    /// Sends these bytes, whatever the request.
    Says(&'static [u8]),
    /// A proxy: one status per CONNECT request, the last one for all further requests. 200 connects.
    Proxy(&'static [u16]),
}

/// A server on loopback for the lifetime of the process.
struct Host {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Host {
    fn new(does: Does) -> Host {
        let listener = StdListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let (connections, heard) = (Arc::new(AtomicUsize::new(0)), Arc::<Mutex<Vec<String>>>::default());
        let host = Host {
            address: listener.local_addr().unwrap(),
            connections: connections.clone(),
            heard: heard.clone(),
        };
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    let number = connections.fetch_add(1, Ordering::SeqCst);
                    tokio::spawn(serve(stream, does.clone(), number, heard.clone()));
                }
            });
        });
        host
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    fn url(&self) -> String {
        format!("https://localhost:{}", self.address.port())
    }
}

async fn serve(
    mut stream: TcpStream,
    does: Does,
    number: usize,
    heard: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    match does {
        Does::Tls(config, behind) => {
            let mut stream = TlsAcceptor::from(config).accept(stream).await.ok()?;
            let mut behind = TcpStream::connect(behind).await.ok()?;
            copy_bidirectional(&mut stream, &mut behind).await.ok()?;
        }
        Does::Says(bytes) => {
            let mut buffer = [0; 1024];
            let _ = stream.read(&mut buffer).await.ok()?;
            stream.write_all(bytes).await.ok()?;
            // A reset would discard the answer.
            while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
        }
        Does::Proxy(answers) => {
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(stream.read_u8().await.ok()?);
            }
            let request = String::from_utf8(request).unwrap();
            let target = request.split(' ').nth(1).unwrap_or_default().replace("localhost", "127.0.0.1");
            heard.lock().unwrap().push(request);
            let status = *answers.get(number).or(answers.last())?;
            stream.write_all(format!("HTTP/1.1 {status} Said So\r\n\r\n").as_bytes()).await.ok()?;
            if status == 200 {
                let mut target = TcpStream::connect(target).await.ok()?;
                copy_bidirectional(&mut stream, &mut target).await.ok()?;
            }
        }
    }
    Some(())
}

/// A lab that reaches its code host at `url` and trusts the tests' authority.
fn lab(url: &str) -> Lab {
    lab_of(Lab::new(acme().repository(sound("web"))), url)
}

fn lab_of(lab: Lab, url: &str) -> Lab {
    lab.write("ca.pem", TRUSTED.pem());
    lab.named().with(|config| config.source("api_url", url).source("ca_file", "ca.pem"))
}

/// A code host behind TLS with this certificate.
fn behind(certificate: &Certificate) -> (Lab, Host) {
    let lab = Lab::new(acme().repository(sound("web")));
    let host = Host::new(Does::Tls(certificate.config(), lab.server.address()));
    let lab = lab_of(lab, &host.url());
    (lab, host)
}

/// A run whose connection fails permanently: it ends at the first attempt.
#[track_caller]
fn fails_once(lab: &Lab, host: &Host, connections: usize) -> Run {
    let began = Instant::now();
    let run = lab.collect(&[]).exits(2).leaves_nothing().says_not("attempts").says_not(PROXY_PASSWORD);
    let took = began.elapsed().as_secs_f64();
    println!(
        "{} connections, {took:.1} s: {}",
        host.connections(),
        run.stderr.lines().last().unwrap_or_default()
    );
    assert_eq!(host.connections(), connections, "{}", run.stderr);
    run
}

#[test]
fn a_certificate_of_the_configured_authority_is_trusted() {
    let (lab, _host) = behind(&Certificate::good());
    lab.collect(&[]).exits(0);
}

#[test]
fn certificates_that_no_retry_makes_better() {
    let good = Certificate::good;
    for (certificate, says) in [
        (Certificate { issuer: &STRANGE, ..good() }, ["untrusted authority", "sources.codehost.ca_file"]),
        (Certificate { name: "code.example", ..good() }, ["code.example", "sources.codehost.api_url"]),
        (Certificate { years: (2020, 2021), ..good() }, ["expired at 2021-01-01", "renew"]),
        (Certificate { years: (2090, 2100), ..good() }, ["not valid before 2090-01-01", "clock"]),
    ] {
        let (lab, host) = behind(&certificate);
        fails_once(&lab, &host, 1).says(says[0]).says(says[1]);
    }
}

/// An alert for an unsupported version, and an answer in TLS 1.1.
#[test]
fn a_server_whose_tls_is_too_old() {
    let alert: &[u8] = &[21, 3, 1, 0, 2, 2, 70];
    let mut hello = vec![22, 3, 2, 0, 42, 2, 0, 0, 38, 3, 2];
    hello.extend([7; 32]);
    hello.extend([0, 0xc0, 0x13, 0]);
    for says in [alert, hello.leak()] {
        let host = Host::new(Does::Says(says));
        fails_once(&lab(&host.url()), &host, 1).says("TLS 1.2");
    }
}

fn through(proxy: &Host, lab: Lab) -> Lab {
    lab.env("HTTPS_PROXY", &format!("http://carol:{PROXY_PASSWORD}@{}", proxy.address))
}

#[test]
fn a_proxy_that_asks_for_credentials() {
    let proxy = Host::new(Does::Proxy(&[407]));
    let (lab, host) = behind(&Certificate::good());
    fails_once(&through(&proxy, lab), &proxy, 1).says("407").says("HTTPS_PROXY").says("user and password");
    assert_eq!(host.connections(), 0);
}

/// The tool asks the proxy once more for the status, which the HTTP client does not report.
#[test]
fn a_proxy_that_refuses() {
    let proxy = Host::new(Does::Proxy(&[403]));
    let (lab, host) = behind(&Certificate::good());
    fails_once(&through(&proxy, lab), &proxy, 2)
        .says("the proxy 127.0.0.1:")
        .says("(HTTPS_PROXY) refuses")
        .says("403")
        .says("allow localhost");
    assert_eq!(host.connections(), 0);
}

/// A proxy may reach a host a second after it could not.
#[test]
fn a_proxy_that_fails_for_a_moment() {
    let proxy = Host::new(Does::Proxy(&[503, 503, 200]));
    let (lab, host) = behind(&Certificate::good());
    let run = through(&proxy, lab).collect(&[]).exits(0).says_not(PROXY_PASSWORD);
    assert!(host.connections() > 0, "{}", run.stderr);
    let heard = proxy.heard.lock().unwrap().clone();
    assert!(
        heard.iter().all(|request| request.to_lowercase().contains("proxy-authorization: basic")),
        "{heard:?}"
    );
}

/// If a variable is set but does not name a proxy, the tool must not send the token directly.
#[test]
fn a_proxy_variable_that_cannot_be_used() {
    let (mut lab, host) = behind(&Certificate::good());
    let secret = format!("carol:{PROXY_PASSWORD}");
    for (name, value) in [
        ("HTTPS_PROXY", "::nonsense::".to_string()),
        ("https_proxy", "ftp://proxy.example:21".to_string()),
        ("ALL_PROXY", format!("gopher://{secret}@proxy.example")),
        ("all_proxy", format!("socks5h://{secret}@proxy.example:1080")),
        ("HTTPS_PROXY", "http://".to_string()),
        ("HTTPS_PROXY", format!("http://{secret}@proxy.example:port")),
        ("HTTPS_PROXY", " http://proxy.example".to_string()),
    ] {
        let changed = lab.env(name, &value);
        let run = changed.collect(&[]).exits(1).leaves_nothing().says(name).says_not(PROXY_PASSWORD);
        assert!(
            !run.stderr.contains(value.trim_start_matches("http://").trim()) || value == "http://",
            "{}",
            run.stderr
        );
        changed.collect(&["--dry-run"]).exits(1);
        assert_eq!(host.connections(), 0, "{name}={value}");
        // The variable does not matter for hosts that it does not apply to.
        let spared = changed.env("NO_PROXY", "example.org, localhost");
        spared.collect(&["-o", "spared"]).exits(0);
        host.connections.store(0, Ordering::SeqCst);
        lab = spared.without_env(name).without_env("NO_PROXY");
    }
    // Proxies for other addresses, empty variables, and HTTP hosts on loopback.
    for (name, value) in [("HTTP_PROXY", "::nonsense::"), ("HTTPS_PROXY", ""), ("FTP_PROXY", "::nonsense::")]
    {
        lab = lab.env(name, value);
        lab.collect(&["-o", name]).exits(0);
        lab = lab.without_env(name);
    }
    let plain = Lab::new(acme().repository(sound("web"))).env("ALL_PROXY", "::nonsense::");
    plain.collect(&[]).exits(0);
}

/// The first of two spellings counts, as everywhere, and a proxy for HTTPS before one for everything.
#[test]
fn one_of_several_proxy_variables() {
    let proxy = Host::new(Does::Proxy(&[200]));
    let good = format!("http://{}", proxy.address);
    for (set, code) in [
        (
            &[("HTTPS_PROXY", good.as_str()), ("https_proxy", "::nonsense::"), ("ALL_PROXY", "::nonsense::")]
                [..],
            0,
        ),
        (&[("HTTPS_PROXY", ""), ("https_proxy", "::nonsense::"), ("ALL_PROXY", &good)], 0),
        (&[("HTTPS_PROXY", "::nonsense::"), ("https_proxy", &good), ("ALL_PROXY", &good)], 1),
        // In a CGI program reqwest ignores proxy variables, since a visitor's header can set one. This is not CGI.
        (&[("HTTPS_PROXY", &good), ("REQUEST_METHOD", "GET")], 0),
    ] {
        let (mut lab, _host) = behind(&Certificate::good());
        set.iter().for_each(|(name, value)| lab.set_env(name, value));
        let before = proxy.connections();
        lab.collect(&[]).exits(code);
        assert_eq!(proxy.connections() > before, code == 0, "{set:?}");
    }
}

/// The same for an upload.
#[test]
fn an_upload_fails_once_too() {
    let strange = Certificate { issuer: &STRANGE, ..Certificate::good() };
    let nowhere = StdListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let tls = Host::new(Does::Tls(strange.config(), nowhere));
    let proxy = Host::new(Does::Proxy(&[407]));
    let lab = Lab::new(acme().repository(sound("web")))
        .env("EVIDENCE_API_KEY", "evp_CliTestsUploadKeyIsNotARealSecret43");
    lab.collect(&[]).exits(0);
    let bundle = format!("evidence-bundles/{}", lab.output()[0]);
    let upload =
        |lab: &Lab, url: &str| lab.run(&["upload", &bundle, "--config", "evidence.yaml", "--endpoint", url]);
    let run = upload(&lab, &tls.url())
        .exits(6)
        .says("untrusted authority")
        .says("SSL_CERT_FILE")
        .says_not("attempts");
    assert_eq!(tls.connections(), 1, "{}", run.stderr);
    // The machine's own store, replaced.
    lab.write("other.pem", STRANGE.pem());
    let trusting = lab.env("SSL_CERT_FILE", "other.pem");
    upload(&trusting, &tls.url()).exits(6).says_not("untrusted authority");
    let lab = through(&proxy, trusting);
    upload(&lab, "https://localhost:9").exits(6).says("407").says("HTTPS_PROXY").says_not(PROXY_PASSWORD);
    assert_eq!(proxy.connections(), 1);
    let lab = lab.env("HTTPS_PROXY", "::nonsense::");
    upload(&lab, "https://localhost:9").exits(1).says("HTTPS_PROXY").says_not("nonsense");
    // The tool reports it before it collects anything.
    let section = "upload:\n  api_url: https://localhost:9\n";
    let lab = lab.with(|config| config.rest(section));
    lab.server.clear_log();
    lab.collect(&["--upload", "-o", "again"]).exits(1).says("HTTPS_PROXY");
    assert_eq!(lab.requested(), Vec::<String>::new());
}

/// A wait may take an hour, so each prints one line, even with `--quiet`.
#[test]
fn a_quiet_run_says_until_when_it_waits() {
    let limit = Limits::primary(Primary::new(5_000, 50).reset_in(3));
    let lab = Lab::new(acme().repository(sound("web")).limits(limit));
    let run = lab.collect(&["--quiet"]).exits(0);
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 1, "{}", run.stderr);
    let line = lines[0];
    assert!(line.contains("codehost") && line.contains("wait") && line.contains(" until "), "{line}");
    assert!(line.contains("Z: the hourly limit is nearly used up"), "{line}");
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
}

/// One line with the number of skipped requests replaces 300 identical lines.
#[test]
fn what_is_not_asked_is_one_line() {
    use sandbox::{Body, Fault, FaultKind, large_organization};
    let fault = Fault::on("*/protection").kind(FaultKind::Status(502, Body::Json));
    let lab = Lab::new(large_organization(300).fault(fault)).env("CODEHOST_TOKEN", sandbox::DEMO_TOKEN);
    let run = lab.collect(&[]).exits(3);
    let lines: Vec<&str> = run.stderr.lines().filter(|line| line.contains("skipped")).collect();
    assert!(run.stderr.lines().count() < 60, "{}", run.stderr);
    assert_eq!(lines.len(), 2, "{}", run.stderr);
    assert!(lines[0].contains("20 consecutive requests"), "{}", lines[0]);
    let last = lines[1];
    assert!(last.contains("branch protection") && last.contains("requests were skipped"), "{last}");
}
