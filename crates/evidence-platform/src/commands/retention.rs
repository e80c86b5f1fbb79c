//! The commands about retention: what is due, its deletion, and holds by tag.

use super::output::{put, say};
use crate::cli::{HoldCommand, RetentionCommand};
use crate::error::Error;
use crate::service::{Operator, Service};
use crate::store::{Due, TagHold};

pub(super) async fn retention(service: &Service, command: RetentionCommand) -> Result<(), Error> {
    let operator = Operator::of(service);
    let now = service.clock().now();
    match command {
        RetentionCommand::List { organization, within } => {
            let due = operator.due(organization.as_deref(), within, u32::MAX).await?;
            for Due { slug, bundle_id, collected_at, retention_until, size_bytes, held, .. } in &due {
                let state = match (held, *retention_until <= now) {
                    (true, _) => "held",
                    (false, true) => "due",
                    (false, false) => "soon",
                };
                let line =
                    format!("{slug}  {bundle_id}  collected {collected_at}  kept until {retention_until}");
                say(&format!("{line}  {size_bytes} bytes  {state}"))?;
            }
            let is_due = |due: &&Due| !due.held && due.retention_until <= now;
            let (count, held) =
                (due.iter().filter(is_due).count(), due.iter().filter(|due| due.held).count());
            let bundles = if count == 1 { "bundle" } else { "bundles" };
            say(&format!("{count} {bundles} due, {held} held"))
        }
        RetentionCommand::Purge { organization, yes } => {
            let due = operator.due(organization.as_deref(), 0, u32::MAX).await?;
            let count = due.iter().filter(|due| !due.held).count();
            if !yes {
                let bundles =
                    if count == 1 { "1 bundle is".to_owned() } else { format!("{count} bundles are") };
                say(&format!("{bundles} due; nothing is deleted without --yes"))?;
                return put("see them with `evidence-platform retention list`\n");
            }
            let purged = operator.purge(organization.as_deref()).await?;
            let bundles = if purged.bundles == 1 { "bundle" } else { "bundles" };
            say(&format!("deleted {} {bundles} ({} bytes)", purged.bundles, purged.bytes))
        }
    }
}

pub(super) async fn hold(service: &Service, command: HoldCommand) -> Result<(), Error> {
    let operator = Operator::of(service);
    match command {
        HoldCommand::Set { organization, tag, reason } => {
            let added = operator.hold_tag(&organization, &tag, &reason).await?;
            say(&format!("{} {tag}", if added { "held:" } else { "held already:" }))
        }
        HoldCommand::Release { organization, tag } => {
            operator.release_tag(&organization, &tag).await?;
            say(&format!("released: {tag}"))
        }
        HoldCommand::List { organization } => {
            for TagHold { tag, reason, created_at, bundles } in operator.tag_holds(&organization).await? {
                let word = if bundles == 1 { "bundle" } else { "bundles" };
                say(&format!("{tag}  since {created_at}  {bundles} {word}  {reason}"))?;
            }
            Ok(())
        }
    }
}
