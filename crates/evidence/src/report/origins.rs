//! The head of a run: which variable's value goes where.

use crate::origin::Origin;

/// The hosts of one line: they differ only in their second label, such as a region.
struct Hosts {
    sender: &'static str,
    variables: String,
    /// The origin before and after the label.
    around: (String, String),
    labels: Vec<String>,
}

/// `  codehost  CODEHOST_TOKEN  https://api.github.com`: one aligned line for each sender, variable and origin. Origins
/// of several regions share a line, as `https://logs.{eu-west-1,us-east-1}.amazonaws.com`.
pub(super) fn lines(origins: &[Origin]) -> Vec<String> {
    let mut lines: Vec<Hosts> = Vec::new();
    for origin in origins {
        let Origin { sender, url, variables, .. } = origin;
        let text = url.origin().ascii_serialization();
        let (around, label) = parted(&text).unwrap_or_else(|| ((text.clone(), String::new()), String::new()));
        let variables = variables.join(", ");
        let same = |line: &&mut Hosts| {
            line.sender == *sender && line.variables == variables && line.around == around
        };
        match lines.iter_mut().find(same) {
            Some(line) if line.labels.contains(&label) => {}
            Some(line) => line.labels.push(label),
            None => lines.push(Hosts { sender, variables, around, labels: vec![label] }),
        }
    }
    let width = lines.iter().map(|line| line.variables.len()).max().unwrap_or_default();
    let line = |Hosts { sender, variables, around: (before, after), labels }: &Hosts| {
        let label = match labels.as_slice() {
            [only] => only.clone(),
            several => format!("{{{}}}", several.join(",")),
        };
        format!("  {sender:<9} {variables:<width$}  {before}{label}{after}")
    };
    lines.iter().map(line).collect()
}

/// What is around the second of at least four labels of a name, and that label.
fn parted(origin: &str) -> Option<((String, String), String)> {
    let host = origin.strip_prefix("https://")?;
    let (first, rest) = host.split_once('.')?;
    let (label, after) = rest.split_once('.')?;
    let is_name = after.ends_with(|end: char| end.is_ascii_alphabetic());
    let around = (format!("https://{first}."), format!(".{after}"));
    (is_name && after.contains('.')).then(|| (around, label.to_string()))
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    #[test]
    fn each_origin_and_its_variables_aligned() {
        let origin = |sender, url, variables: &[&str]| Origin {
            sender,
            url: Url::parse(url).unwrap(),
            variables: variables.iter().map(|name| (*name).to_string()).collect(),
            named_by: None,
        };
        let of_cloud = |url| origin("cloud", url, &["CLOUD_ACCESS_KEY_ID", "CLOUD_SESSION_TOKEN"]);
        let lines = lines(&[
            origin("codehost", "https://api.github.com/", &["CODEHOST_TOKEN"]),
            of_cloud("https://sts.eu-west-1.amazonaws.com/"),
            of_cloud("https://iam.amazonaws.com/"),
            of_cloud("https://iam.amazonaws.com/"),
            of_cloud("https://logs.eu-west-1.amazonaws.com/"),
            of_cloud("https://logs.us-east-1.amazonaws.com/"),
            of_cloud("https://logs.eu-west-1.amazonaws.com/"),
            origin("altcloud", "https://127.0.0.1:8443/a", &["GOOGLE"]),
            origin("altcloud", "https://127.1.0.1/a", &["GOOGLE"]),
            origin("platform", "http://[::1]:8321/base", &["EVIDENCE_API_KEY_FILE"]),
            origin("platform", "https://a.b.example.com:8443/", &["EVIDENCE_API_KEY_FILE"]),
        ]);
        assert_eq!(
            lines,
            [
                "  codehost  CODEHOST_TOKEN                            https://api.github.com",
                "  cloud     CLOUD_ACCESS_KEY_ID, CLOUD_SESSION_TOKEN  https://sts.eu-west-1.amazonaws.com",
                "  cloud     CLOUD_ACCESS_KEY_ID, CLOUD_SESSION_TOKEN  https://iam.amazonaws.com",
                "  cloud     CLOUD_ACCESS_KEY_ID, CLOUD_SESSION_TOKEN  \
                 https://logs.{eu-west-1,us-east-1}.amazonaws.com",
                "  altcloud  GOOGLE                                    https://127.0.0.1:8443",
                "  altcloud  GOOGLE                                    https://127.1.0.1",
                "  platform  EVIDENCE_API_KEY_FILE                     http://[::1]:8321",
                "  platform  EVIDENCE_API_KEY_FILE                     https://a.b.example.com:8443",
            ]
        );
    }
}
