//! The tables of docs/scale.md, made from the arithmetic.

use evidence::forecast::schedule::{Phase, Terms, schedule};
use evidence_text::{duration, thousands};
use jiff::SignedDuration;

use super::organization::{EXEMPLARY, HALF, Organization, Run, USUAL, requests};

/// The sizes in the tables.
const SIZES: [u64; 6] = [50, 500, 5_000, 10_000, 50_000, 100_000];

/// The same job three times, for an organization with the usual mix.
pub(crate) fn runs() -> String {
    let mut table =
        "| repositories | naive: requests | naive | first run: requests | first run | re-run: requests | \
                     re-run | first run with `revalidate`: requests |\n|---:|---:|---:|---:|---:|---:|---:|---:|\n"
            .to_string();
    for repositories in SIZES {
        let organization = Organization { repositories, mix: USUAL };
        let (naive, first) = (organization.naive(), organization.ours(Run::First));
        let (keeping, again) = (organization.ours(Run::Keeping), organization.ours(Run::Again));
        table.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
            thousands(repositories),
            thousands(requests(&naive)),
            time(&naive, &Organization::naive_terms()),
            thousands(requests(&first)),
            time(&first, &organization.our_terms()),
            thousands(requests(&again)),
            time(&again, &organization.our_terms()),
            thousands(requests(&keeping)),
        ));
    }
    table
}

/// How the duration depends on the mix.
pub(crate) fn mixes() -> String {
    let mixes = [EXEMPLARY, USUAL, HALF];
    let heads = mixes.map(|mix| format!(" {0}: first run | {0}: re-run |", mix.name));
    let mut table =
        format!("| repositories |{}\n|---:|{}\n", heads.concat(), "---:|---:|".repeat(mixes.len()));
    for repositories in SIZES {
        let cells = mixes.map(|mix| {
            let organization = Organization { repositories, mix };
            let run = |run| time(&organization.ours(run), &organization.our_terms());
            format!(" {} | {} |", run(Run::First), run(Run::Again))
        });
        table.push_str(&format!("| {} |{}\n", thousands(repositories), cells.concat()));
    }
    table
}

/// The same data for the picture, in seconds and in small steps: docs/scale.csv.
pub(crate) fn curve() -> String {
    let mut lines = "repositories,naive,first run,re-run\n".to_string();
    let mut repositories = 50;
    while repositories <= 100_000 {
        let organization = Organization { repositories, mix: USUAL };
        let seconds = |phases: &[Phase], terms: &Terms| schedule(phases, terms).after.as_secs_f64();
        let naive = seconds(&organization.naive(), &Organization::naive_terms());
        let run = |run| seconds(&organization.ours(run), &organization.our_terms());
        let (first, again) = (run(Run::First), run(Run::Again));
        lines.push_str(&format!("{repositories},{naive:.1},{first:.1},{again:.1}\n"));
        // Steps of a twentieth that include the sizes of the table.
        let next = repositories + (repositories / 20 / 50 * 50).max(50);
        repositories = SIZES.into_iter().find(|size| repositories < *size && *size < next).unwrap_or(next);
    }
    lines
}

fn time(phases: &[Phase], terms: &Terms) -> String {
    let after = schedule(phases, terms).after;
    if after < SignedDuration::from_secs(100) {
        format!("{:.1} s", after.as_secs_f64())
    } else {
        duration(after.as_secs())
    }
}
