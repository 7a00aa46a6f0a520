# The two commands. Each sets up all it needs.
#
#   make check   exhausts every built-in scenario; needs cargo
#   make test    proves that model, Redis and text agree, on every server version;
#                installs the servers first, unless LOCKSTEP_TEST_SERVERS names some
#
# And two that write: `make reports` makes reports/ and the generated parts of README.md anew, from real runs;
# `make bench` measures, and makes reports/performance.md.

.PHONY: check test reports bench

check:
	cargo run --release --locked -q -p lockstep-sim -- check

# Built as a whole first: the tests run the binary and what it carries.
test:
	servers="$${LOCKSTEP_TEST_SERVERS:-$$(tools/servers)}" && export LOCKSTEP_TEST_SERVERS="$$servers" && \
	cargo build --workspace --locked && \
	cargo test --workspace --locked

reports:
	servers="$${LOCKSTEP_TEST_SERVERS:-$$(tools/servers)}" && export LOCKSTEP_TEST_SERVERS="$$servers" && \
	cargo build --workspace --locked && \
	LOCKSTEP_WRITE_REPORTS=1 cargo test --locked -p lockstep-tests --test reports

bench:
	cargo bench --locked -p lockstep-sim --bench engines -- --write
