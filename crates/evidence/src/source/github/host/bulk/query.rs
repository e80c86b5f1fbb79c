//! The stored queries. Nothing else is ever sent to this interface: a query is a text of this program, and a request has only
//! variables beside it. `ci/graphql.sh` checks the texts against the schema that the host publishes.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::answer::Page;
use super::owners::OwnersNode;
use super::protection::ProtectionNode;
use crate::source::github::host::api::MIB;
use crate::source::github::host::kept::json_bytes;
use evidence_http::{Call, Keeping, ParseError, Request};

/// A query, and how its answers are read.
pub(crate) struct StoredQuery<T: 'static> {
    /// Its name in labels.
    pub(super) name: &'static str,
    /// Its text.
    pub(super) text: &'static str,
    pub(super) call: &'static Call<Page<T>>,
}

/// The protection of branches.
pub(super) static BRANCH_PROTECTION: StoredQuery<ProtectionNode> = StoredQuery {
    name: "branch-protection",
    text: include_str!("queries/branch_protection.graphql"),
    call: &BRANCH_PROTECTIONS,
};

/// CODEOWNERS files.
pub(super) static CODEOWNERS: StoredQuery<OwnersNode> = StoredQuery {
    name: "codeowners",
    text: include_str!("queries/codeowners.graphql"),
    call: &CODEOWNERS_FILES,
};

/// The classic rules of up to 50 repositories.
pub(crate) static BRANCH_PROTECTIONS: Call<Page<ProtectionNode>> = call(
    "`branch-protection`: classic rules that exist; `codeowners-default-rule`: files, and directories that have none (POST)",
    12,
);

/// The CODEOWNERS files of up to 50 repositories.
pub(crate) static CODEOWNERS_FILES: Call<Page<OwnersNode>> = call("`codeowners-default-rule`", 13);

const fn call<T: Serialize + DeserializeOwned>(purpose: &'static str, kind: u8) -> Call<Page<T>> {
    Call {
        name: "/graphql",
        purpose,
        times: "with `bulk: true`, once for each of the two per 50 repositories, and for parts of a page that was too much for the host",
        // A page that fails is asked again in parts; `pages` decides when to stop.
        kind: None,
        media_type: "application/json",
        // A page of 50 large files of owners and long directories; usual pages have 0.1 MB.
        limit: 32 * MIB,
        parse: Page::parse,
        subject: None,
        keep: Some(Keeping {
            // Every repository of a page is conclusive by itself, if nothing went wrong with the page.
            resumable: |reply| reply.as_ref().is_ok_and(|answered| answered.value.is_whole()),
            ..Keeping::new(kind, json_bytes)
        }),
    }
}

impl<T> StoredQuery<T> {
    /// The request with these variables. Its label names the query by the digest of its text, and the page by the digest
    /// of the variables.
    pub(super) fn request(&self, url: &Url, variables: &impl Serialize) -> Request {
        #[derive(Serialize)]
        struct Question<'a, V> {
            query: &'a str,
            variables: &'a V,
        }
        let page = hex::encode(Sha256::digest(json_bytes(variables)));
        // Enough to tell the pages of a run apart.
        let page = page.get(..16).unwrap_or_default();
        let label = format!("/graphql?query={}&sha256={}&page={page}", self.name, self.digest());
        let body = json_bytes(&Question { query: self.text, variables });
        self.call.post(url.clone(), label, body)
    }

    /// The digest of the text.
    pub(super) fn digest(&self) -> String {
        hex::encode(Sha256::digest(self.text))
    }
}

/// The address of the interface beside `base`, the address of the other one.
pub(super) fn address(base: &Url) -> Url {
    let path = base.path().trim_end_matches('/');
    let path = match path.strip_suffix("/api/v3") {
        // A self-hosted server.
        Some(before) => format!("{before}/api/graphql"),
        None => format!("{path}/graphql"),
    };
    let mut url = base.clone();
    url.set_path(&path);
    url
}

impl<T> Page<T> {
    fn parse(bytes: &[u8]) -> Result<Page<T>, ParseError>
    where
        T: DeserializeOwned,
    {
        Page::read(bytes)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_interface_is_beside_the_other_one() {
        for (base, expected) in [
            ("https://api.github.com/", "https://api.github.com/graphql"),
            ("https://api.acme.ghe.com", "https://api.acme.ghe.com/graphql"),
            ("https://code.example.com/api/v3", "https://code.example.com/api/graphql"),
            ("https://code.example.com/api/v3/", "https://code.example.com/api/graphql"),
            ("https://proxy.example.com/github/api/v3", "https://proxy.example.com/github/api/graphql"),
            ("http://127.0.0.1:8080/base", "http://127.0.0.1:8080/base/graphql"),
        ] {
            assert_eq!(address(&Url::parse(base).unwrap()).as_str(), expected);
        }
    }

    /// A query can only read, and no request has a text of its own.
    #[test]
    fn a_request_is_a_stored_query_and_variables() {
        for (text, name) in [(BRANCH_PROTECTION.text, "BranchProtection"), (CODEOWNERS.text, "Codeowners")] {
            let code: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
            assert!(code[0].starts_with(&format!("query {name}(")), "{}", code[0]);
            let starts = |word: &str| code.iter().filter(|line| line.starts_with(word)).count();
            assert_eq!((starts("query"), starts("mutation"), starts("subscription")), (1, 0, 0));
        }
        let url = Url::parse("https://api.github.com/graphql").unwrap();
        let variables = json!({ "ids": ["R_1\"}"] });
        let request = CODEOWNERS.request(&url, &variables);
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(body, json!({ "query": CODEOWNERS.text, "variables": variables }));
        let digest = CODEOWNERS.digest();
        assert!(request.label.starts_with(&format!("/graphql?query=codeowners&sha256={digest}&page=")));
        assert_ne!(request.label, CODEOWNERS.request(&url, &json!({ "ids": ["R_2"] })).label);
    }
}
