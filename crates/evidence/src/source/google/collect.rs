//! The collection: reads everything that the topics need concurrently, then judges it.

use futures_util::future::{join, join_all};

use super::session::AltCloudSession;
use super::users;
use crate::source::CollectionItem;
use evidence_text::saturating_u64;

/// Every item: first the population, then the results, topic by topic.
pub(super) async fn collect(
    AltCloudSession { host, users, answers, .. }: &AltCloudSession,
) -> Vec<CollectionItem> {
    let topics = join_all(answers.iter().map(|(_, answers)| answers.read(host)));
    let (users, topics) = join(users::read(host, users), topics).await;
    let found: Vec<CollectionItem> = topics.into_iter().flat_map(|inspect| inspect(&users)).collect();
    let expected = saturating_u64(found.iter().filter(|item| item.is_inspection()).count());
    let population = users::population(&host.config, &users, expected);
    std::iter::once(population).chain(found).collect()
}
