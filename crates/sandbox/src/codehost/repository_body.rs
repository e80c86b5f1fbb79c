//! Repositories as JSON, in the size and order of the host: about 5 kB each, most of it URLs.

use super::access::Who;
use super::organization_body::{WEB, account_id, node_id, simple_account};
use super::world::World;
use super::{Organization, Permission, Repository, Visibility};
use crate::clock::iso_date;
use crate::json::{Object, escaped};
use crate::sha1;

/// A repository in a listing. `new` is the API version that dropped a few members.
pub(super) fn listed(
    o: &mut Object<'_>,
    world: &World,
    organization: Option<&Organization>,
    repository: &Repository,
    who: &Who,
    new: bool,
) {
    common(o, world, organization, repository, new);
    permissions(o, organization, repository, who);
    // The schema allows this token in listings. It is a secret: a client that stores answers would store it too.
    if repository.is_private() {
        o.str("temp_clone_token", &clone_token(repository));
    }
    if who.administers(organization, repository) {
        security(o, repository);
    }
    o.object("custom_properties", |o| {
        repository.properties.iter().for_each(|(name, value)| o.raw(name, value.as_bytes()));
    });
}

/// `GET /repos/{owner}/{repo}`.
pub(super) fn full(
    o: &mut Object<'_>,
    world: &World,
    organization: Option<&Organization>,
    repository: &Repository,
    who: &Who,
    new: bool,
) {
    common(o, world, organization, repository, new);
    permissions(o, organization, repository, who);
    if repository.is_private() {
        o.str("temp_clone_token", &clone_token(repository));
    } else {
        o.null("temp_clone_token");
    }
    if who.pushes(organization, repository) {
        for setting in ["allow_squash_merge", "allow_merge_commit", "allow_rebase_merge"] {
            o.bool(setting, true);
        }
        o.bool("allow_auto_merge", false);
        o.bool("delete_branch_on_merge", false);
        o.bool("allow_update_branch", false);
        if !new {
            o.bool("use_squash_pr_title_as_default", false);
        }
        o.str("squash_merge_commit_message", "COMMIT_MESSAGES");
        o.str("squash_merge_commit_title", "COMMIT_OR_PR_TITLE");
        o.str("merge_commit_message", "PR_TITLE");
        o.str("merge_commit_title", "MERGE_MESSAGE");
    }
    o.object("custom_properties", |o| {
        repository.properties.iter().for_each(|(name, value)| o.raw(name, value.as_bytes()));
    });
    if let Some(organization) = organization {
        o.object("organization", |o| {
            simple_account(o, &world.url, &organization.login, organization.number(), true);
        });
    }
    if who.administers(organization, repository) {
        security(o, repository);
    }
    o.num("network_count", 0);
    o.num("subscribers_count", 4);
}

fn common(
    o: &mut Object<'_>,
    world: &World,
    organization: Option<&Organization>,
    repository: &Repository,
    new: bool,
) {
    let (url, owner, name) = (world.url.as_str(), repository.owner.as_str(), repository.name.as_str());
    let id = repository.number();
    o.id("id", id);
    o.str("node_id", &node_id("R", id));
    o.str("name", name);
    o.text("full_name", &[owner, "/", name]);
    o.bool("private", repository.is_private());
    o.object("owner", |o| {
        let number = organization.map_or_else(|| account_id(owner), Organization::number);
        simple_account(o, url, owner, number, organization.is_some());
    });
    o.text("html_url", &[WEB, "/", owner, "/", name]);
    o.str_or_null("description", repository.description.as_deref());
    o.bool("fork", repository.fork);
    let base = escaped(&[url, "/repos/", owner, "/", name].concat());
    o.joined("url", &[&base]);
    for (key, rest) in URLS {
        o.joined(key, &[&base, rest]);
    }
    let born = 1_546_300_800 + i64::try_from(id % 200_000_000).unwrap_or_default();
    o.str("created_at", &iso_date(born));
    o.str("updated_at", &iso_date(born + 5_184_000));
    o.str("pushed_at", &iso_date(born + 5_183_112));
    o.text("git_url", &["git://codehost.example/", owner, "/", name, ".git"]);
    o.text("ssh_url", &["git@codehost.example:", owner, "/", name, ".git"]);
    o.text("clone_url", &[WEB, "/", owner, "/", name, ".git"]);
    o.text("svn_url", &[WEB, "/", owner, "/", name]);
    o.null("homepage");
    // The host recalculates it hourly, so a new repository has 0 too: that does not prove that it is empty.
    o.id("size", if repository.empty { 0 } else { repository.size });
    o.num("stargazers_count", 0);
    o.num("watchers_count", 0);
    o.str_or_null("language", repository.language.as_deref());
    o.bool("has_issues", true);
    o.bool("has_projects", true);
    if !new {
        o.bool("has_downloads", true);
    }
    o.bool("has_wiki", false);
    o.bool("has_pages", false);
    o.bool("has_discussions", false);
    o.num("forks_count", 0);
    o.null("mirror_url");
    o.bool("archived", repository.archived);
    o.bool("disabled", repository.disabled);
    o.num("open_issues_count", 0);
    o.null("license");
    o.bool("allow_forking", true);
    o.bool("is_template", repository.template);
    o.bool("web_commit_signoff_required", false);
    o.array("topics", |a| repository.topics.iter().for_each(|topic| a.str(topic)));
    let visibility = match repository.visibility {
        Visibility::Public => "public",
        Visibility::Private => "private",
        Visibility::Internal => "internal",
    };
    if !world.host.old_server {
        o.str("visibility", visibility);
    }
    o.num("forks", 0);
    o.num("open_issues", 0);
    o.num("watchers", 0);
    o.str("default_branch", &repository.default_branch);
}

/// The user's role here, not the token's permissions: a token without any permission shows the same.
fn permissions(o: &mut Object<'_>, organization: Option<&Organization>, repository: &Repository, who: &Who) {
    if who.token().is_none() {
        return;
    }
    let role = who.permission(organization, repository);
    o.object("permissions", |o| {
        for (key, least) in [
            ("admin", Permission::Admin),
            ("maintain", Permission::Maintain),
            ("push", Permission::Push),
            ("triage", Permission::Triage),
            ("pull", Permission::Pull),
        ] {
            o.bool(key, role >= least);
        }
    });
}

fn security(o: &mut Object<'_>, repository: &Repository) {
    let [scanning, push] = repository.secret_scanning;
    o.object("security_and_analysis", |o| {
        for (feature, status) in [
            ("secret_scanning", scanning),
            ("secret_scanning_push_protection", push),
            ("dependabot_security_updates", Some("disabled")),
            ("secret_scanning_non_provider_patterns", Some("disabled")),
            ("secret_scanning_validity_checks", Some("disabled")),
        ] {
            if let Some(status) = status {
                o.object(feature, |o| o.str("status", status));
            }
        }
    });
}

/// A stable text in the form of a token.
fn clone_token(repository: &Repository) -> String {
    let id = sha1::name_id(&format!("{}/{} clone", repository.owner, repository.name)).to_uppercase();
    format!("A{}", id.get(..28).unwrap_or_default())
}

const URLS: &[(&str, &str)] = &[
    ("forks_url", "/forks"),
    ("keys_url", "/keys{/key_id}"),
    ("collaborators_url", "/collaborators{/collaborator}"),
    ("teams_url", "/teams"),
    ("hooks_url", "/hooks"),
    ("issue_events_url", "/issues/events{/number}"),
    ("events_url", "/events"),
    ("assignees_url", "/assignees{/user}"),
    ("branches_url", "/branches{/branch}"),
    ("tags_url", "/tags"),
    ("blobs_url", "/git/blobs{/sha}"),
    ("git_tags_url", "/git/tags{/sha}"),
    ("git_refs_url", "/git/refs{/sha}"),
    ("trees_url", "/git/trees{/sha}"),
    ("statuses_url", "/statuses/{sha}"),
    ("languages_url", "/languages"),
    ("stargazers_url", "/stargazers"),
    ("contributors_url", "/contributors"),
    ("subscribers_url", "/subscribers"),
    ("subscription_url", "/subscription"),
    ("commits_url", "/commits{/sha}"),
    ("git_commits_url", "/git/commits{/sha}"),
    ("comments_url", "/comments{/number}"),
    ("issue_comment_url", "/issues/comments{/number}"),
    ("contents_url", "/contents/{+path}"),
    ("compare_url", "/compare/{base}...{head}"),
    ("merges_url", "/merges"),
    ("archive_url", "/{archive_format}{/ref}"),
    ("downloads_url", "/downloads"),
    ("issues_url", "/issues{/number}"),
    ("pulls_url", "/pulls{/number}"),
    ("milestones_url", "/milestones{/number}"),
    ("notifications_url", "/notifications{?since,all,participating}"),
    ("labels_url", "/labels{/name}"),
    ("releases_url", "/releases{/id}"),
    ("deployments_url", "/deployments"),
];
