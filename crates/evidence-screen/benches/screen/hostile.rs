//! Texts made to be slow: evidence never looks like this, but an attacker could put it into a file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::form::{Form, SIZE, hex, in_lines, noise, repeat};

pub(crate) const FORMS: &[Form] = &[
    hostile("ghs_", || "ghs_".repeat(SIZE / 4)),
    hostile("eyJhbGciOiJ.", || "eyJhbGciOiJ.".repeat(SIZE / 12)),
    hostile("a://a:a@", || "a://a:a@".repeat(SIZE / 8)),
    hostile("token: ", || "token: ".repeat(SIZE / 7)),
    hostile(":A", || ":A".repeat(SIZE / 2)),
    hostile("@", || "@".repeat(SIZE)),
    hostile("percent signs", || "%".repeat(SIZE)),
    hostile("every byte as %XX", || repeat(|number| format!("%{:02X}", 33 + noise(number) % 90))),
    hostile("%XX three times over", || repeat(|number| format!("%2525{:02X}", 33 + noise(number) % 90))),
    hostile("every byte as \\u00XX", || repeat(|number| format!("\\u00{:02x}", 33 + noise(number) % 90))),
    hostile("backslashes", || "\\".repeat(SIZE)),
    hostile("escapes 600 bytes apart", || repeat(|_| format!("{}%41", "a ".repeat(300)))),
    hostile("newlines", || "\n".repeat(SIZE)),
    hostile("digits, one line", || repeat(|number| noise(number).to_string())),
    hostile("digits, lines of 8", || in_lines(&repeat(|number| noise(number).to_string()), 8)),
    hostile("digits, lines of 4", || in_lines(&repeat(|number| noise(number).to_string()), 4)),
    hostile("comment leaders", || "#//*>--;".repeat(SIZE / 8)),
    hostile("comments of one word", || repeat(|number| format!("# {}\n", hex(number, 12)))),
    hostile("base64 of text, one line", || STANDARD.encode(text(3 * SIZE / 4))),
    hostile("base64 of text, lines of 76", || in_lines(&STANDARD.encode(text(3 * SIZE / 4)), 76)),
    hostile("base64 of text, lines of 16", || in_lines(&STANDARD.encode(text(3 * SIZE / 4)), 16)),
    hostile("base64 twice", || nested(2, usize::MAX)),
    hostile("base64 three times", || nested(3, usize::MAX)),
    hostile("base64 three times, in lines of 60", || nested(3, 60)),
    hostile("base64 three times, in lines of 8", || nested(3, 8)),
    hostile("lines, base64 and percent in turn", mixed),
    hostile("words of capitals as in base32, one a line", capitals),
    hostile("every disguise in every line", disguised),
    hostile("-----BEGIN", || "-----BEGIN PRIVATE KEY-----".repeat(SIZE / 27)),
    hostile("AGE-SECRET-KEY-1", || "AGE-SECRET-KEY-1".repeat(SIZE / 16)),
    hostile("AGE-SECRET-KEY-1, one a line", || "AGE-SECRET-KEY-1\n".repeat(SIZE / 17)),
    hostile("ghp_", || "ghp_".repeat(SIZE / 4)),
    hostile("\\u0067", || "\\u0067".repeat(SIZE / 6)),
    hostile("base64 in escapes in base64", || STANDARD.encode(escaped(&STANDARD.encode(text(SIZE / 10))))),
    hostile("base64, escapes and percent, one a line", alternating),
    hostile("hexadecimal of text", || text(SIZE / 2).bytes().map(|byte| format!("{byte:02x}")).collect()),
    hostile("hexadecimal of text, with spaces", || {
        text(SIZE / 3).bytes().map(|byte| format!("{byte:02x} ")).collect()
    }),
    hostile("A", || "A".repeat(SIZE)),
    hostile("A, one a line", || "A\n".repeat(SIZE / 2)),
    hostile("zeros", || "0".repeat(SIZE)),
    hostile("small letters", || "q".repeat(SIZE)),
    hostile("ampersands", || "&".repeat(SIZE)),
    hostile("characters that show nothing", || "\0".repeat(SIZE)),
];

const fn hostile(name: &'static str, make: fn() -> String) -> Form {
    Form { name, clean: false, make }
}

fn text(length: usize) -> String {
    let mut text = repeat(|number| format!("line {number} of the file, area {}\n", hex(number, 6)));
    text.truncate(length);
    text
}

fn nested(times: u32, width: usize) -> String {
    let mut length = SIZE;
    (0..times).for_each(|_| length = length * 3 / 4);
    let mut text = text(length);
    for _ in 0..times {
        text = STANDARD.encode(&text);
        if width < text.len() {
            text = in_lines(&text, width);
        }
    }
    text
}

fn mixed() -> String {
    let text = in_lines(&STANDARD.encode(text(SIZE / 4)), 24);
    let text: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
    in_lines(&STANDARD.encode(text), 24)
}

fn capitals() -> String {
    repeat(|number| {
        let letters = noise(number).to_string().replace(['0', '1', '8', '9'], "Q");
        format!("SERVICEPAYMENTSGATEWAYEUROPE{letters} @acme/team-{number}\n")
    })
}

fn disguised() -> String {
    repeat(|number| {
        format!(
            "a{number}\\141=41%41\u{200b}b{number}\tc{number}=\n\nMEQHA3DBNFXCA5DFPB2CA33GEBZW63LFEBWGK3THORUA{number}\n"
        )
    })
}

fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("\\u{byte:04x}")).collect()
}

fn alternating() -> String {
    repeat(|number| {
        let line = format!("line {number} of the file, area {}", hex(number, 6));
        let percent: String = line.bytes().map(|byte| format!("%{byte:02X}")).collect();
        format!("{}\n{}\n{percent}\n", STANDARD.encode(&line), escaped(&STANDARD.encode(&percent)))
    })
}
