-- Where an organization wants to hear of events. The secret signs what is sent, so it cannot be kept as a hash.
CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organizations (id),
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    events TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX webhooks_by_organization ON webhooks (organization_id, created_at, id);

-- What is to be sent, written in the transaction of what happened. `next_at` is 0 once it is delivered or given up.
CREATE TABLE outbox (
    id TEXT NOT NULL PRIMARY KEY,
    webhook_id TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    delivered_at BIGINT NOT NULL,
    failure TEXT NOT NULL
);
CREATE INDEX outbox_by_time ON outbox (next_at, id);
CREATE INDEX outbox_by_webhook ON outbox (webhook_id, created_at);

-- Since when the organization was late when that was last reported.
ALTER TABLE organizations ADD COLUMN late_reported BIGINT;
