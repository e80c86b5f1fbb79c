//! How an answer names the customer that it is about, compared with the request.

use evidence_http::AskedAbout;
use evidence_rules::field::Field;

/// The provider's name for the customer of the administrator.
const ALIAS: &str = "my_customer";

/// The other customer that one of the items found belongs to. If the request does not name the customer, its first item does.
pub(crate) fn of_customer<'a>(
    found: impl Iterator<Item = &'a Field<String>>,
    about: &AskedAbout<'_>,
) -> Option<String> {
    let query = about.subject.split_once('?').map_or("", |(_, query)| query);
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let named = pairs.find(|(name, _)| ["customer", "customerId"].contains(name)).map(|(_, value)| value);
    let mut asked = named.filter(|customer| *customer != ALIAS);
    for customer in found.filter_map(Field::value) {
        let asked = *asked.get_or_insert(customer);
        if customer != asked {
            return Some(format!("the customer {customer} instead of {asked}"));
        }
    }
    None
}
