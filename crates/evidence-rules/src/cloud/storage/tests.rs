use super::*;
use crate::rule::Status;

fn block(ignore: Field<bool>, restrict: Field<bool>) -> Block {
    Block {
        block_public_acls: Field::Value(false),
        ignore_public_acls: ignore,
        block_public_policy: Field::Value(true),
        restrict_public_buckets: restrict,
    }
}

fn all() -> Block {
    let on = Field::Value(true);
    Block { block_public_acls: on.clone(), ..block(on.clone(), on) }
}

fn refused(part: &str) -> Vec<PartNotRead> {
    vec![PartNotRead { part: part.to_string(), reason: "permission_denied".to_string() }]
}

fn judged(access: &PublicAccess) -> (Status, &'static str) {
    let verdict = judge(access);
    (verdict.status, verdict.reason.code)
}

/// The three things that a verdict needs to know, each true, false or hidden: 0, 1 and 2 stand for closed, hidden and open.
fn worst(policy: u8, restrict: u8, list: u8, ignore: u8) -> u8 {
    policy.min(restrict).max(list.min(ignore))
}

/// Every state of the policy, the list, and both blocks: what is public for certain fails, what is closed for certain passes.
#[test]
fn the_whole_domain() {
    let policies = [
        (Field::Value(PolicyStatus { is_public: Field::Value(false) }), 0),
        (Field::Null, 0),
        (Field::Value(PolicyStatus::default()), 1),
        (Field::Absent, 1),
        (Field::Value(PolicyStatus { is_public: Field::Value(true) }), 2),
    ];
    let grant =
        |group: &str| Field::Value(vec![PublicGrant { group: group.to_string(), ..PublicGrant::default() }]);
    let lists = [
        (Field::Value(Vec::new()), 0),
        (grant("http://acs.amazonaws.com/groups/s3/LogDelivery"), 0),
        (Field::Absent, 1),
        (grant(EVERYONE[0]), 2),
        (grant(EVERYONE[1]), 2),
    ];
    // What a block leaves: nothing, perhaps something, everything.
    let flags = [(Field::Value(true), 0), (Field::Absent, 1), (Field::Null, 1), (Field::Value(false), 2)];
    let mut blocks: Vec<(Field<Block>, u8, u8)> = vec![(Field::Null, 2, 2), (Field::Absent, 1, 1)];
    for (ignore, of_list) in &flags {
        for (restrict, of_policy) in &flags {
            blocks.push((Field::Value(block(ignore.clone(), restrict.clone())), *of_list, *of_policy));
        }
    }
    let mut cases = 0;
    for (policy, by_policy) in &policies {
        for (list, by_list) in &lists {
            for (account, list_of_account, policy_of_account) in &blocks {
                for (own, list_of_own, policy_of_own) in &blocks {
                    let bucket = Bucket {
                        name: "b".to_string(),
                        block: own.clone(),
                        policy: policy.clone(),
                        grants: list.clone(),
                        ..Bucket::default()
                    };
                    let buckets = Field::Value(vec![bucket]);
                    let access = PublicAccess { account: account.clone(), buckets, not_read: Vec::new() };
                    let (ignore, restrict) =
                        (list_of_account.min(list_of_own), policy_of_account.min(policy_of_own));
                    let expected = match worst(*by_policy, *restrict, *by_list, *ignore) {
                        0 => Status::Pass,
                        1 => Status::NotVerifiable,
                        _ => Status::Fail,
                    };
                    assert_eq!(judged(&access).0, expected, "{access:?}");
                    cases += 1;
                }
            }
        }
    }
    assert_eq!(cases, 5 * 5 * 18 * 18);
}

/// Drata does not read the account's block and fails accounts that have it.
#[test]
fn the_block_of_the_account_closes_every_bucket() {
    let access = PublicAccess { account: Field::Value(all()), ..PublicAccess::default() };
    assert_eq!(judged(&access), (Status::Pass, "ok"));
    let public = Bucket {
        policy: Field::Value(PolicyStatus { is_public: Field::Value(true) }),
        block: Field::Null,
        grants: Field::Value(Vec::new()),
        ..Bucket::default()
    };
    let access = PublicAccess { buckets: Field::Value(vec![public]), ..access };
    assert_eq!(judged(&access), (Status::Pass, "ok"));
}

#[test]
fn what_was_not_read_has_its_reason() {
    // The buckets are not needed if the account blocks everything, and only then.
    for account in [Field::Null, Field::Absent, Field::Value(Block::default())] {
        let access = PublicAccess { account, not_read: refused(part::BUCKETS), ..PublicAccess::default() };
        assert_eq!(judged(&access), (Status::NotVerifiable, "permission_denied"), "{access:?}");
    }
    let closed =
        Bucket { block: Field::Value(block(Field::Value(true), Field::Value(true))), ..Bucket::default() };
    let public = || Bucket {
        name: "open".to_string(),
        block: Field::Null,
        policy: Field::Value(PolicyStatus { is_public: Field::Value(true) }),
        grants: Field::Value(Vec::new()),
        ..Bucket::default()
    };
    // The account's block is refused: closed by their own settings passes, public looks are open.
    let with = |buckets: Vec<Bucket>| PublicAccess {
        buckets: Field::Value(buckets),
        not_read: refused(part::BLOCK),
        ..PublicAccess::default()
    };
    assert_eq!(judged(&with(vec![closed.clone()])), (Status::Pass, "ok"));
    assert_eq!(judged(&with(vec![closed.clone(), public()])), (Status::NotVerifiable, "permission_denied"));
    assert_eq!(judged(&with(Vec::new())), (Status::NotApplicable, "nothing_in_scope"));
    // A bucket is refused, and another is public.
    let hidden = Bucket { not_read: refused(part::BLOCK), policy: Field::Absent, ..public() };
    let account =
        |buckets| PublicAccess { account: Field::Null, buckets: Field::Value(buckets), not_read: Vec::new() };
    assert_eq!(judged(&account(vec![hidden.clone(), closed.clone()])).0, Status::NotVerifiable);
    assert_eq!(judged(&account(vec![hidden, public()])), (Status::Fail, "storage_public"));
    assert_eq!(judged(&account(vec![closed])), (Status::Pass, "ok"));
}
