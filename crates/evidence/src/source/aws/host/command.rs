//! Credentials from a program: the contract of the provider's own `credential_process`.
//!
//! The program prints a JSON object with `Version` 1, `AccessKeyId`, `SecretAccessKey`, and for temporary credentials
//! `SessionToken` and `Expiration`. It runs without a shell, with the variables of this process.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::sign::Credentials;
use evidence_http::single_line;

/// How long the program may take: single sign-on asks hosts of its own.
const LONGEST: Duration = Duration::from_secs(60);

/// The most bytes that are read of its output.
const LIMIT: u64 = 64 * 1024;

/// Runs the program.
///
/// # Errors
///
/// Fails if it cannot be started, does not end in time, fails, or prints something else. The text has its own last words on
/// standard error, and nothing of its output.
pub(crate) fn run(command: &[String]) -> Result<Credentials, String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("`credentials_command` is empty".to_string());
    };
    let shown = single_line(program);
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start {shown}: {error}"))?;
    let output = child.stdout.take().map(reader);
    let errors = child.stderr.take().map(reader);
    let status = wait(&mut child, LONGEST).map_err(|text| format!("{shown} {text}"))?;
    let read = |reader: Option<std::thread::JoinHandle<Zeroizing<Vec<u8>>>>| {
        reader.and_then(|reader| reader.join().ok()).unwrap_or_default()
    };
    let (output, errors) = (read(output), read(errors));
    if !status.success() {
        let errors = String::from_utf8_lossy(&errors);
        let last = errors.lines().rev().find(|line| !line.trim().is_empty()).map(single_line);
        let said = last.map(|last| format!(": {last}")).unwrap_or_default();
        return Err(format!("{shown} ends with {}{said}", code(status)));
    }
    parse(&output).map_err(|what| format!("{shown} {what}"))
}

fn code(status: std::process::ExitStatus) -> String {
    status.code().map_or_else(|| "a signal".to_string(), |code| format!("exit code {code}"))
}

/// Reads in a thread of its own, so that a program that writes much does not wait for this one.
fn reader(stream: impl Read + Send + 'static) -> std::thread::JoinHandle<Zeroizing<Vec<u8>>> {
    std::thread::spawn(move || {
        let mut bytes = Zeroizing::new(Vec::new());
        // What was read before a failure is judged by its form.
        let _ = stream.take(LIMIT).read_to_end(&mut bytes);
        bytes
    })
}

fn wait(child: &mut Child, longest: Duration) -> Result<std::process::ExitStatus, String> {
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if began.elapsed() < longest => std::thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("did not end within {} seconds", longest.as_secs()));
            }
            Err(error) => return Err(format!("cannot be waited for: {error}")),
        }
    }
}

/// Reads what a credential process prints. The error contains nothing of it.
fn parse(output: &[u8]) -> Result<Credentials, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Printed {
        version: u64,
        access_key_id: String,
        secret_access_key: String,
        session_token: Option<String>,
        expiration: Option<String>,
    }
    let printed: Printed = serde_json::from_slice(output).map_err(|error| {
        // Texts of the library can quote values.
        let place = format!("line {}, column {}", error.line(), error.column());
        format!("does not print credentials as `credential_process` documents them ({place})")
    })?;
    if printed.version != 1 {
        return Err(format!("prints `Version` {}; this version knows 1", printed.version));
    }
    let secret = Zeroizing::new(printed.secret_access_key);
    let token = printed.session_token.map(Zeroizing::new);
    let token = token.as_ref().map(|token| token.as_str()).filter(|token| !token.is_empty());
    let credentials = Credentials::new(&printed.access_key_id, &secret, token)
        .map_err(|error| format!("prints invalid credentials: {error}"))?;
    let expires = printed.expiration.filter(|text| !text.is_empty()).map(|text| text.parse::<Timestamp>());
    match expires.transpose() {
        Ok(expires) => Ok(credentials.until(expires)),
        Err(_) => Err("prints an `Expiration` that is not a time".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Credentials, String> {
        run(&["sh".to_string(), "-c".to_string(), script.to_string()])
    }

    const PRINTED: &str = r#"{"Version": 1, "AccessKeyId": "ASIAMADEUP", "SecretAccessKey": "s3cret",
        "SessionToken": "t0ken", "Expiration": "2026-11-24T09:00:00Z"}"#;

    #[test]
    fn what_a_program_prints_is_taken() {
        let credentials = shell(&format!("echo noise >&2; echo '{PRINTED}'")).unwrap();
        assert_eq!(credentials.access_key_id(), "ASIAMADEUP");
        assert_eq!(credentials.secrets(), ["s3cret", "t0ken"]);
        assert_eq!(credentials.expires().unwrap().to_string(), "2026-11-24T09:00:00Z");
        let long_lived = r#"{"Version": 1, "AccessKeyId": "AKIAMADEUP", "SecretAccessKey": "s3cret"}"#;
        let credentials = shell(&format!("echo '{long_lived}'")).unwrap();
        assert_eq!((credentials.has_token(), credentials.expires()), (false, None));
    }

    #[test]
    fn a_program_that_fails_is_named_with_its_last_words_and_never_its_output() {
        for (script, said) in [
            (
                "echo s3cret; echo 'The SSO session has expired' >&2; exit 255",
                "exit code 255: The SSO session has",
            ),
            ("kill -9 $$", "a signal"),
            ("echo s3cret", "does not print credentials"),
            (&PRINTED.replace("\"Version\": 1", "\"Version\": 2"), "`Version` 2"),
            (&PRINTED.replace("2026-11-24T09:00:00Z", "soon"), "not a time"),
            (&PRINTED.replace("s3cret", "s3cret s3cret"), "invalid credentials"),
        ] {
            let script =
                if script.starts_with('{') { format!("echo '{script}'") } else { script.to_string() };
            let error = shell(&script).unwrap_err();
            assert!(error.contains(said), "{script}: {error}");
            assert!(!error.contains("s3cret"), "{error}");
        }
        let error = run(&["/no/such/program".to_string()]).unwrap_err();
        assert!(error.starts_with("cannot start /no/such/program"), "{error}");
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let error = wait(&mut child, Duration::from_millis(50)).unwrap_err();
        assert!(error.starts_with("did not end within"), "{error}");
    }
}
