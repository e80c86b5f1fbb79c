mod about;
mod kept;
mod shapes;

/// An app asks for the permissions of the table, so a topic that is not in it could not be read.
#[test]
fn every_topic_is_in_the_table_of_permissions() {
    for topic in super::TOPICS {
        assert!(crate::source::github::host::app::permissions::knows(topic.name), "{}", topic.name);
    }
}
