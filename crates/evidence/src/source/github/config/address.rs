//! `api_url`: the address of the API, from the file or from `CODEHOST_API_URL`.

use url::Url;

use super::{API_URL, SECTION};
use evidence_settings::declare::Format;
use evidence_settings::decode::{Decoder, Placed};
use evidence_settings::format;
use evidence_settings::problem::{Complaint, Place};
use evidence_settings::secret::quote;

/// The variable that overrides `api_url`.
const VARIABLE: &str = "CODEHOST_API_URL";

/// The key, as messages name it.
const KEY: &str = "sources.codehost.api_url";

/// Hosts of other products, which this source cannot read.
const OTHERS: &[(&str, &str)] =
    &[("gitlab.com", "GitLab"), ("bitbucket.org", "Bitbucket"), ("dev.azure.com", "Azure DevOps")];

/// `CODEHOST_API_URL` if it is set, else `api_url`; and which of them it is.
pub(super) fn effective(
    decoder: &mut Decoder<'_, '_>,
    from_file: Option<Placed<String>>,
) -> Option<(Url, &'static str)> {
    let Some(value) = (decoder.variables)(VARIABLE) else {
        let Placed { value, place, path } = from_file?;
        let url = format::url(&value).ok()?;
        return match mistaken(&url) {
            None => Some((url, KEY)),
            Some(complaint) => {
                decoder.problems.add(place, path, complaint);
                None
            }
        };
    };
    let checked = match value.to_str() {
        None => Err(Complaint::new("it is not UTF-8 text").help("correct or unset the variable")),
        Some(text) => format::check(Format::Url, text).and_then(|()| format::url(text)).and_then(|url| {
            check(&url, |url| format!("write `export {VARIABLE}={url}`, or unset the variable"))?;
            Ok(url)
        }),
    };
    match checked {
        Ok(url) => Some((url, VARIABLE)),
        Err(complaint) => {
            let message =
                format!("the environment variable {VARIABLE} overrides this key: {}", complaint.message);
            let key = API_URL.path_in(&SECTION);
            decoder.problems.add(Place::Nowhere, key, Complaint { message, ..complaint });
            None
        }
    }
}

/// What is wrong with an address in the file, if it cannot be that of an API.
pub(super) fn mistaken(url: &Url) -> Option<Complaint> {
    check(url, |url| format!("write `api_url: {url}`")).err()
}

/// Refuses the addresses of pages for people, of parts of the API, and of other products. `right` is the line that
/// works, from the address.
fn check(url: &Url, right: impl FnOnce(&str) -> String) -> Result<(), Complaint> {
    let host = url.host_str().unwrap_or_default();
    let shown = quote(url.as_str().trim_end_matches('/'));
    if let Some((_, name)) = OTHERS.iter().find(|(other, _)| is_at(host, other)) {
        return Err(Complaint::new(format!("{shown} is {name}, which this version cannot read"))
            .help("remove the line to use GitHub, or name the API of a GitHub server"));
    }
    let Some(api) = api_host(host) else { return Ok(()) };
    if api != host {
        return Err(Complaint::new(format!("{shown} is the website, not the API"))
            .help(right(&format!("https://{api}"))));
    }
    if url.path() != "/" && !url.path().is_empty() {
        return Err(Complaint::new(format!("{shown} is more than the address of the API"))
            .help(right(&format!("https://{api}"))));
    }
    Ok(())
}

/// The API's host for a host of the provider; `None` for a server of one's own.
fn api_host(host: &str) -> Option<String> {
    if is_at(host, "github.com") || host == "api.github.com" {
        return Some("api.github.com".to_owned());
    }
    let account = host.strip_suffix(".ghe.com")?;
    // The account is the last name: `api.acme`, `acme`, `uploads.acme`.
    Some(format!("api.{}.ghe.com", account.rsplit('.').next()?))
}

fn is_at(host: &str, domain: &str) -> bool {
    host.strip_prefix("www.").unwrap_or(host) == domain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_works() {
        for (address, right) in [
            ("https://api.github.com", None),
            ("https://api.acme.ghe.com", None),
            ("https://code.example.com/api/v3", None),
            ("https://notgithub.com", None),
            ("https://xapi.github.com", None),
            ("http://127.0.0.1:9", None),
            ("https://github.com", Some("https://api.github.com")),
            ("https://www.github.com", Some("https://api.github.com")),
            ("https://github.com/acme", Some("https://api.github.com")),
            ("https://api.github.com/orgs/acme", Some("https://api.github.com")),
            ("https://api.github.com/graphql", Some("https://api.github.com")),
            ("https://acme.ghe.com", Some("https://api.acme.ghe.com")),
            ("https://acme.ghe.com/acme", Some("https://api.acme.ghe.com")),
            ("https://api.acme.ghe.com/api/v3", Some("https://api.acme.ghe.com")),
            ("https://gitlab.com/api/v4", Some("remove the line")),
        ] {
            let found = check(&format::url(address).unwrap(), |url| format!("write {url}."));
            match right {
                None => assert_eq!(found, Ok(()), "{address}"),
                Some(text) => {
                    let help = found.unwrap_err().help.unwrap();
                    assert!(
                        help.starts_with(&format!("write {text}.")) || help.starts_with(text),
                        "{address}: {help}"
                    );
                }
            }
        }
    }
}
