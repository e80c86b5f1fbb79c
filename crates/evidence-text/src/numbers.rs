//! Numbers, as people read them.

/// Defines the conversions of numbers that are never negative.
macro_rules! saturating {
    ($($name:ident: $type:ty, $what:literal);+) => {
        $(
            #[doc = $what]
            pub fn $name(count: impl TryInto<$type>) -> $type {
                count.try_into().unwrap_or(<$type>::MAX)
            }
        )+
    };
}

saturating! {
    saturating_u64: u64, "A count as documents store it, 64 bits on every machine; the largest number if it does not fit.";
    saturating_usize: usize, "A count as memory has it; the largest number if it does not fit.";
    saturating_u32: u32, "A count in 32 bits; the largest number if it does not fit.";
    saturating_i64: i64, "A count as times and databases have it; the largest number if it does not fit."
}

/// `53596623` as `53,596,623`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size in decimal units, as `bundle.max_size_mb` counts: `812 B`, `12.4 kB`, `52.3 MB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [(&str, u128); 4] =
        [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    let exact = u128::from(number);
    for (unit, size) in UNITS {
        // From 999,950 B on, one decimal would print 1000.0 kB.
        if exact >= size - size / 20_000 {
            let tenths = (exact * 10 + size / 2) / size;
            let whole = saturating_u64(tenths / 10);
            return format!("{}.{} {unit}", thousands(whole), tenths % 10);
        }
    }
    format!("{number} B")
}

/// `1 repository`, `14 repositories`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

/// `45 s`, `12 min 05 s`, `1 h 02 min`.
pub fn duration(seconds: i64) -> String {
    let seconds = seconds.max(0);
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=3_599 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(53_596_623), "53,596,623");
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(949), "949 B");
        assert_eq!(bytes(12_449), "12.4 kB");
        assert_eq!(bytes(999_950), "1.0 MB");
        assert_eq!(bytes(52_300_000), "52.3 MB");
        assert_eq!(bytes(u64::MAX), "18,446,744.1 TB");
        assert_eq!(counted(1, "file", "files"), "1 file");
        assert_eq!(counted(2_000, "file", "files"), "2,000 files");
        assert_eq!(duration(59), "59 s");
        assert_eq!(duration(725), "12 min 05 s");
        assert_eq!(duration(3_725), "1 h 02 min");
    }
}
