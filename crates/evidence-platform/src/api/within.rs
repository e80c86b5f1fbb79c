//! The organization that the address of a page names, for keys of a group.

use http::Uri;
use http::uri::PathAndQuery;

/// The organization of a page's address: `/organizations/acme/bundles` is `/bundles` of acme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Within(pub(crate) String);

impl Within {
    /// Takes the organization out of the address of a request, if it has one.
    pub(crate) fn take<B>(request: &mut http::Request<B>) {
        let target = request.uri().path_and_query().map_or("", |target| target.as_str());
        let Some((slug, rest)) = target.strip_prefix("/organizations/").and_then(|rest| rest.split_once('/'))
        else {
            return;
        };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if slug.is_empty() || !slug.bytes().all(plain) || rest.starts_with("api/") {
            return;
        }
        let Ok(target) = PathAndQuery::try_from(format!("/{rest}")) else { return };
        let within = Within(slug.to_owned());
        let mut parts = request.uri().clone().into_parts();
        parts.path_and_query = Some(target);
        let Ok(uri) = Uri::from_parts(parts) else { return };
        *request.uri_mut() = uri;
        request.extensions_mut().insert(within);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_organization_leaves_the_address() {
        let split = |target: &str| {
            let mut request = http::Request::builder().uri(target).body(()).unwrap();
            Within::take(&mut request);
            let within = request.extensions().get::<Within>().map(|Within(slug)| slug.clone());
            (within, request.uri().to_string())
        };
        let acme = |rest: &str| (Some("acme".to_owned()), rest.to_owned());
        assert_eq!(split("/organizations/acme/bundles?a=b"), acme("/bundles?a=b"));
        assert_eq!(split("/organizations/acme/"), acme("/"));
        assert_eq!(split("/organizations/acme/organizations/b/x"), acme("/organizations/b/x"));
        for same in [
            "/bundles",
            "/organizations",
            "/organizations/acme",
            "/organizations//bundles",
            "/organizations/%2e/bundles",
            "/organizations/acme/api/v1/bundles",
        ] {
            assert_eq!(split(same), (None, same.to_owned()));
        }
    }
}
