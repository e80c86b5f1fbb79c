# Common tasks. `just` alone lists them; each is one command that can be typed as well.

_default:
    @just --list

# Collect from a made-up organization, verify the bundle, upload it to a platform
demo:
    cargo demo

# The same four times, and the platform keeps running; Ctrl-C ends it
look:
    cargo demo -- --keep

# The tests
test:
    cargo test --workspace

# Format, lints as errors
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# The tool, as users install it
install:
    cargo install --locked --path crates/evidence

# A host to try things against by hand; Ctrl-C ends it
serve port="8080":
    cargo run --quiet -p sandbox -- serve --scenario demo --port {{port}}

# Rewrite the parts of the documentation that are made from the code
docs:
    UPDATE_DOCS=1 cargo test -p evidence-screen
    UPDATE_DOCS=1 cargo test -p evidence --test configuration
    UPDATE_DOCS=1 cargo test -p evidence --test documents
    UPDATE_DOCS=1 cargo test -p evidence --test architecture

# Take the new snapshots; look at the difference before committing
snapshots:
    INSTA_UPDATE=always cargo test --workspace

# Licences and sources of the dependencies, and their number
deny:
    ci/supply.sh

# The format crate must not know the network
format-alone:
    ! cargo tree -p evidence-bundle -e normal --prefix none | grep -E '^(reqwest|hyper|tokio|rustls) '

# Measurements
bench:
    cargo bench -p evidence -p evidence-bundle

# The tool beside other ways to do the same job: hours; `just compare --quick` takes minutes
compare *options:
    bench/run {{options}}
