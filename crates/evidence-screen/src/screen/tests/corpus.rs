//! A corpus that the patterns were not made from, with the least that must be found of it and the most that may be
//! found in its ordinary lines.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::*;

/// Issuers' forms.
const FORMS: &str = include_str!("corpus/forms.txt");
/// Values beside their word: `@` is a password, `#` a long value, `%` 32 hexadecimal digits.
const BESIDE: &str = include_str!("corpus/beside.txt");
/// Lines of evidence.
const ORDINARY: &str = include_str!("corpus/ordinary.txt");

/// Passwords that people choose or make.
const PASSWORDS: &[&str] = &["7Kq2vM9x", "Tr0ub4dor&3x", "Winter!2025", "hunter2hunter2", "p4ssW0rT_99"];

fn forms() -> Vec<String> {
    let mut random = Rng::with_seed(4_711);
    FORMS.lines().map(|line| template::fill(line, &mut random)).collect()
}

fn beside() -> Vec<String> {
    let mut random = Rng::with_seed(4_712);
    let value = |line: &str, random: &mut Rng| {
        let password = random.choice(PASSWORDS).unwrap();
        // The last sign of an address is the one before its host.
        let line =
            line.replace("@@", &format!("{password}\u{0}")).replace('@', password).replace('\u{0}', "@");
        template::fill(&line.replace('#', "<64 alnum>").replace('%', "<32 hex>"), random)
    };
    BESIDE.lines().map(|line| value(line, &mut random)).collect()
}

fn silent(texts: &[String]) -> Vec<&String> {
    texts.iter().filter(|text| screen().check(format!("# {text}\n").as_bytes()).is_empty()).collect()
}

#[test]
fn hardly_a_form_passes_in_silence() {
    let forms = forms();
    let silent = silent(&forms);
    println!("{} forms, {} in silence", forms.len(), silent.len());
    assert!(forms.len() >= 117 && silent.len() <= 3, "{silent:#?}");
}

#[test]
fn hardly_a_value_beside_its_word_passes_in_silence() {
    let texts = beside();
    let silent = silent(&texts);
    println!("{} values beside their word, {} in silence", texts.len(), silent.len());
    assert!(texts.len() >= 62 && silent.len() <= 3, "{silent:#?}");
}

/// Twelve ways to write each of 46 forms.
fn disguised(secret: &str) -> [String; 12] {
    let bytes = secret.as_bytes();
    let each = |write: &dyn Fn(u8) -> String| bytes.iter().map(|byte| write(*byte)).collect::<String>();
    let middle = secret.len() / 2;
    let (first, second) = secret.split_at(middle);
    let utf16: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide = |letter: char| char::from_u32(u32::from(letter) + 0xfee0).unwrap();
    [
        hex::encode(secret),
        each(&|byte| format!("&#{byte};")),
        each(&|byte| format!("&#x{byte:x};")),
        String::from_utf8(utf16.clone()).unwrap(),
        STANDARD.encode(utf16),
        format!("'{first}''{second}'"),
        format!("\"{first}\" + \"{second}\""),
        secret.chars().map(|letter| if letter.is_ascii_graphic() { wide(letter) } else { letter }).collect(),
        format!("{first}\\\n{second}"),
        each(&|byte| format!("%{byte:02x}")),
        STANDARD.encode(STANDARD.encode(secret)),
        format!("x\n# {first}\n# {second}"),
    ]
}

#[test]
fn hardly_a_disguise_hides() {
    let forms: Vec<String> = forms().into_iter().step_by(2).take(46).collect();
    let texts: Vec<String> = forms.iter().flat_map(|form| disguised(form)).collect();
    let missed: Vec<&String> =
        texts.iter().filter(|text| certain(&format!("* @acme/all # {text}\n")).is_empty()).collect();
    println!("{} disguises, {} missed", texts.len(), missed.len());
    assert!(texts.len() == 552 && missed.len() <= 20, "{}: {missed:#?}", missed.len());
}

#[test]
fn no_ordinary_line_of_the_corpus_is_excluded_and_few_are_suspected() {
    let (mut excluded, mut suspected) = (Vec::new(), Vec::new());
    for line in ORDINARY.lines() {
        for text in [line.to_string(), format!("# {line}\n* @acme/all\n")] {
            let findings = screen().check(text.as_bytes());
            let rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
            if findings.iter().any(|finding| finding.confidence == Confidence::High) {
                excluded.push((line, rules));
            } else if !rules.is_empty() && !suspected.iter().any(|(known, _)| *known == line) {
                suspected.push((line, rules));
            }
        }
    }
    println!("{} ordinary lines, {} suspected", ORDINARY.lines().count(), suspected.len());
    assert!(ORDINARY.lines().count() >= 239 && excluded.is_empty(), "{excluded:#?}");
    assert!(suspected.len() <= 6, "{suspected:#?}");
}
