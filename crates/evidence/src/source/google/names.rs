//! Names: of this source, of the members of its population, and in the configuration those of customers, administrators
//! and domains.

use crate::observation::SourceName;

/// The name of this source.
pub(super) const NAME: SourceName = SourceName::new("altcloud");

/// The kind of a user in the population.
pub(super) const USER: &str = "user";

/// The provider's alias for the administrator's own customer.
pub(super) const MY_CUSTOMER: &str = "my_customer";

/// The longest name of a domain (RFC 1035, section 2.3.4).
const LONGEST_DOMAIN: usize = 253;

/// The longest part of an address before its `@` (RFC 5321, section 4.5.3.1).
const LONGEST_LOCAL_PART: usize = 64;

/// Whether the text is safe as part of a path.
pub(super) fn is_customer(text: &str) -> bool {
    text == MY_CUSTOMER
        || (text.strip_prefix('C').is_some_and(|rest| {
            (1..=63).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        }))
}

/// Whether the text is an e-mail address.
pub(super) fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    (1..=LONGEST_LOCAL_PART).contains(&local.len())
        && local.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'@')
        && is_domain(&domain.to_ascii_lowercase())
}

/// A domain in lower case, with at least one dot.
pub(super) fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= LONGEST_DOMAIN && text.contains('.') && text.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_customer_an_address_and_a_domain() {
        for (text, is) in [
            ("my_customer", true),
            ("C01abc2de", true),
            ("C", false),
            ("my_customers", false),
            ("C01/../roles", false),
            ("c01abc", false),
        ] {
            assert_eq!(is_customer(text), is, "{text}");
        }
        for (text, is) in [
            ("auditor@acme.example", true),
            ("o'neil+x@Acme.Example", true),
            ("auditor", false),
            ("@acme.example", false),
            ("a b@acme.example", false),
            ("a@b@acme.example", false),
            ("auditor@acme", false),
        ] {
            assert_eq!(is_address(text), is, "{text}");
        }
        for (text, is) in [
            ("acme.example", true),
            ("xn--bcher-kva.example", true),
            ("acme", false),
            ("acme..example", false),
            ("-a.example", false),
            ("https://acme.example", false),
            ("acme.example/x", false),
            ("", false),
        ] {
            assert_eq!(is_domain(text), is, "{text}");
        }
    }
}
