//! All matches, or a sample of them.

use evidence_view::{Draw, Drawn, Seed};

use crate::question::{Refused, SampleOf};

/// Rows, each with the hash that decides its position in a sample.
pub(crate) type Chosen<T> = Vec<(Option<String>, T)>;

/// All rows, or a sample of them.
pub(crate) fn choose<T>(
    rows: impl Iterator<Item = T>,
    sample: Option<SampleOf>,
    identity: impl Fn(&T) -> String,
) -> Result<Chosen<T>, Refused> {
    let Some(SampleOf { seed, count }) = sample else {
        return Ok(rows.map(|row| (None, row)).collect());
    };
    let seed = Seed::new(&seed).map_err(|error| Refused {
        message: error.to_string(),
        help: "choose a seed that can be typed again, such as the name of the audit",
    })?;
    let mut draw = Draw::new(seed, count);
    for row in rows {
        draw.offer(&identity(&row), || row);
    }
    Ok(draw.finish().drawn.into_iter().map(|Drawn { sha256, row, .. }| (Some(sha256), row)).collect())
}
