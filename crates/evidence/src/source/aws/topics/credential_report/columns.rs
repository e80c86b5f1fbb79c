//! The report itself: comma-separated values in base64, whose columns are found by name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::source::aws::host::xml::{self, field, required, required_text};
use evidence_http::ParseError;
use evidence_rules::cloud::credentials::{CredentialReport, CredentialRow, is_documented};
use evidence_rules::field::Field;

/// `GetCredentialReport`
pub(crate) fn report(bytes: &[u8]) -> Result<CredentialReport, ParseError> {
    let shape = |text: &str| ParseError::Shape(text.to_string());
    let root = xml::root(bytes, "GetCredentialReportResponse")?;
    let result = required(&root, "GetCredentialReportResult")?;
    let packed: String = required_text(result, "Content")?.split_whitespace().collect();
    let content = BASE64.decode(packed).map_err(|_| shape("Content is not base64"))?;
    let content = String::from_utf8(content).map_err(|_| shape("the report is not UTF-8 text"))?;
    Ok(CredentialReport { generated_time: time(field(result, "GeneratedTime")?), users: users(&content)? })
}

/// A time, or `null` for anything else.
fn time(field: Field<String>) -> Field<String> {
    match field {
        Field::Value(text) if !is_documented(&text) => Field::Null,
        other => other,
    }
}

/// The rows of the table. Columns without a place in the record are dropped.
fn users(content: &str) -> Result<Vec<CredentialRow>, ParseError> {
    let shape = |text: String| ParseError::Shape(text);
    let mut lines = content.lines().filter(|line| !line.trim().is_empty());
    let names = cells(lines.next().unwrap_or_default())?;
    for (index, name) in names.iter().enumerate() {
        if names.iter().skip(index + 1).any(|other| other == name) {
            return Err(shape(format!("the report has two columns {}", evidence_text::single_line(name))));
        }
    }
    let mut rows = Vec::new();
    for line in lines {
        let cells = cells(line)?;
        if cells.len() != names.len() {
            return Err(shape(format!("a row of the report has {} of {} cells", cells.len(), names.len())));
        }
        let cell = |name: &str| names.iter().position(|known| known == name).and_then(|at| cells.get(at));
        let column = |name: &str| match cell(name) {
            None => Field::Absent,
            Some(text) if is_documented(text) => Field::Value(text.clone()),
            Some(_) => Field::Null,
        };
        let user = cell("user").filter(|user| !user.is_empty());
        rows.push(CredentialRow {
            user: user.ok_or_else(|| shape("a row of the report names no user".to_string()))?.clone(),
            user_creation_time: column("user_creation_time"),
            password_enabled: column("password_enabled"),
            password_last_used: column("password_last_used"),
            password_last_changed: column("password_last_changed"),
            mfa_active: column("mfa_active"),
            access_key_1_active: column("access_key_1_active"),
            access_key_1_last_rotated: column("access_key_1_last_rotated"),
            access_key_1_last_used_date: column("access_key_1_last_used_date"),
            access_key_2_active: column("access_key_2_active"),
            access_key_2_last_rotated: column("access_key_2_last_rotated"),
            access_key_2_last_used_date: column("access_key_2_last_used_date"),
        });
    }
    Ok(rows)
}

/// The cells of a line. Names of users may contain commas, so a cell may be in quotes, with quotes in it doubled.
fn cells(line: &str) -> Result<Vec<String>, ParseError> {
    let mut cells = vec![String::new()];
    let (mut quoted, mut rest) = (false, line.chars().peekable());
    while let Some(character) = rest.next() {
        let Some(cell) = cells.last_mut() else { break };
        match character {
            '"' if quoted && rest.peek() == Some(&'"') => {
                rest.next();
                cell.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if cell.is_empty() => quoted = true,
            ',' if !quoted => cells.push(String::new()),
            other => cell.push(other),
        }
    }
    if quoted {
        return Err(ParseError::Shape("a quote in the report has no end".to_string()));
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(text: &str) -> Field<String> {
        Field::Value(text.to_string())
    }

    #[test]
    fn columns_are_found_by_name_and_others_are_dropped() {
        let text = "arn,new_column,mfa_active,user,password_enabled\n\
                    arn:aws:iam::1:user/a,AKIASECRET,true,\"a,\"\"b\"\"\",maybe\n\n";
        let rows = users(text).unwrap();
        let expected = CredentialRow {
            user: "a,\"b\"".to_string(),
            mfa_active: field("true"),
            password_enabled: Field::Null,
            ..CredentialRow::default()
        };
        assert_eq!(rows, [expected]);
        assert!(users("user\n").unwrap().is_empty());
    }

    #[test]
    fn another_form_is_not_guessed_at() {
        for (text, says) in [
            ("user,user\na,b\n", "two columns user"),
            ("user,arn\na\n", "1 of 2 cells"),
            ("user,arn\na,b,c\n", "3 of 2 cells"),
            ("arn\na\n", "names no user"),
            ("user\n\"\"\n", "names no user"),
            ("user\n\"a\n", "has no end"),
        ] {
            let error = users(text).unwrap_err();
            assert!(matches!(&error, ParseError::Shape(words) if words.contains(says)), "{text}: {error:?}");
        }
    }
}
