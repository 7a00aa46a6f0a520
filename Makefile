# The two commands. Each sets up all it needs.
#
#   make check   explores every built-in scenario completely; needs cargo
#   make test    proves that model, Redis and text agree, on every server version;
#                installs the servers first, unless LOCKSTEP_TEST_SERVERS names some, and
#                Redisson (JDK 17, Maven), unless LOCKSTEP_REDISSON names where it is
#
# Longer, and not part of CI:
#
#   make soak    the kind of lock that exists for tests, and many more random files, worlds, scenarios and histories;
#                asks the second engine about the largest worlds, too; measures how often the defects of the museum happen
#                without a gate; writes reports/redisson.md and reports/load.md
#
# And two that write: `make reports` makes reports/ and the generated parts of the documents anew, from real runs;
# `make bench` measures, and makes reports/performance.md.

.PHONY: check test tests-beside soak reports bench

# What `make soak` draws at random: files that are changed, worlds whose searches are compared with and without normal forms
# and for every law (tests whose names say that nobody thought of them), graphs whose loops are also looked for by trying everything,
# scenarios and histories that are replayed.
SOAK_FILES ?= 1000000
SOAK_WORLDS ?= 10000
SOAK_GRAPHS ?= 100000
SOAK_SCENARIOS ?= 1000
SOAK_HISTORIES ?= 10
# Random histories of each kind of lock on one node, on each version.
SOAK_KIND_HISTORIES ?= 5000
# Random histories with replicas and failovers, of all kinds together, as many of each, on each version: 200 or more of each.
SOAK_REPLICA_HISTORIES ?= 3000
# Random histories of each world on which model and servers once differed.
SOAK_WORLD_HISTORIES ?= 200
# Free runs of real servers on each version, about one and a half a second on each.
SOAK_FREE_RUNS ?= 3500

# Runs of one history on real Redisson that must be equal: with a JVM each, and in one JVM.
SOAK_FRESH_JVMS ?= 20
SOAK_WARM_RUNS ?= 80
# Random histories of each scenario that Redisson can follow, on each server: more than 1,000 on a split network, and on none.
SOAK_REDISSON_HISTORIES ?= 50
# Worlds that nobody thought of, on the version of Redisson that each names.
SOAK_REDISSON_WORLDS ?= 400
# Random histories for each other value of a switch of the protocol, on each version: reports/redisson.md.
SOAK_SWITCH_HISTORIES ?= 25
# More versions on which the museum is examined, and how often each history is replayed.
SOAK_MUSEUM_VERSIONS ?= 4.3.1 3.52.0 3.43.0
SOAK_MUSEUM_TIMES ?= 20
# How long each load of reports/load.md runs that depends on chance, in seconds on each version, and the watchdog of its clients.
SOAK_LOAD_SECONDS ?= 120
SOAK_LOAD_WATCHDOG_MS ?= 600
# Start states on which each script of Redisson's and ours are compared, on each server version.
SOAK_REDISSON_SCRIPTS ?= 5000

servers = servers="$${LOCKSTEP_TEST_SERVERS:-$$(tools/servers)}" && export LOCKSTEP_TEST_SERVERS="$$servers"
redisson = redisson="$${LOCKSTEP_REDISSON:-$$(tools/redisson/install)}" && export LOCKSTEP_REDISSON="$$redisson"

check:
	cargo run --release --locked -q -p lockstep-sim -- check

# Tests that look at very many worlds themselves. All others, and the unit tests, leave that to what is built: unoptimised they are
# there in a fifth of the time, and run as fast. The unit tests are built with the features that the whole workspace has, so that the
# model and its libraries are not built again. There are no tests in documentation.
SEARCHING = safety liveness
# The first two wait for free servers, which go by the machine's own time; all three are begun first.
EARLY = inclusion lock_loss reports
OTHERS = $(filter-out $(SEARCHING) $(EARLY),$(patsubst tests/%/main.rs,%,$(wildcard tests/*/main.rs)))
UNIT = -p lockstep-model -p lockstep-redis -p lockstep-sim --features lockstep-sim/mutants,lockstep-model/schema
test_all = cargo test --locked --no-fail-fast
# A shell lets what it starts beside itself ignore Ctrl-C; this is to end by it, too.
beside = env --default-signal=INT,QUIT
# In a recipe `$(MAKE)` itself would make `make -n` run it.
this = $(MAKE) --no-print-directory
unoptimised = --config 'profile.dev.package.$(1).opt-level=0'

# Built as a whole first, since the tests run the binary and what it carries; beside it, what they need is fetched. Then there are two
# lanes, so that no core waits for the last test of a program or for a compiler: in one, most programs that drive servers, with four
# tests at a time for each core, since they wait more than they compute; in the other, those that compute or go by the machine's own
# time, with one for each core. What these say stands in .tools/beside.log, and is shown at the end.
test: BESIDE_THREADS := $(or $(RUST_TEST_THREADS),$(shell nproc))
test: export RUST_TEST_THREADS ?= $(shell echo $$((4 * $$(nproc))))
test:
	$(beside) cargo build --workspace --locked $(call unoptimised,lockstep-tests) & building=$$!; \
	{ mkdir -p .tools && $(servers) && $(redisson); } || { wait $$building; exit 1; }; \
	wait $$building && \
	{ \
		failed=0; \
		RUST_TEST_THREADS=$(BESIDE_THREADS) $(beside) $(this) tests-beside >.tools/beside.log 2>&1 & others=$$!; \
		$(test_all) -p lockstep-tests $(OTHERS:%=--test %) $(call unoptimised,lockstep-tests) || failed=1; \
		echo 'What the other tests say stands in .tools/beside.log; all of it is shown when they have ended.'; \
		wait $$others || failed=1; \
		cat .tools/beside.log; \
		exit $$failed; \
	}

# The second lane of `make test`, which has set up what these need.
tests-beside:
	failed=0; \
	$(test_all) -p lockstep-tests $(EARLY:%=--test %) $(call unoptimised,lockstep-tests) || failed=1; \
	$(test_all) $(UNIT) --lib $(call unoptimised,lockstep-sim) || failed=1; \
	$(test_all) -p lockstep-tests $(SEARCHING:%=--test %) || failed=1; \
	exit $$failed

soak:
	$(servers) && \
	$(redisson) && \
	tools/redisson/install $(SOAK_MUSEUM_VERSIONS) && \
	LOCKSTEP_MUSEUM_VERSIONS="$(SOAK_MUSEUM_VERSIONS)" LOCKSTEP_MUSEUM_TIMES=$(SOAK_MUSEUM_TIMES) \
	LOCKSTEP_REDISSON_FRESH=$(SOAK_FRESH_JVMS) LOCKSTEP_REDISSON_WARM=$(SOAK_WARM_RUNS) \
	LOCKSTEP_SWITCH_HISTORIES=$(SOAK_SWITCH_HISTORIES) \
	LOCKSTEP_REDISSON_WORLDS=$(SOAK_REDISSON_WORLDS) \
	LOCKSTEP_REDISSON_HISTORIES=$(SOAK_REDISSON_HISTORIES) LOCKSTEP_REDISSON_SCRIPTS=$(SOAK_REDISSON_SCRIPTS) \
	LOCKSTEP_EVERY_SERVER=1 \
		cargo test --locked -p lockstep-tests --test redisson && \
	LOCKSTEP_LOAD_SECONDS=$(SOAK_LOAD_SECONDS) LOCKSTEP_LOAD_WATCHDOG_MS=$(SOAK_LOAD_WATCHDOG_MS) \
		cargo test --locked -p lockstep-tests --test redisson the_page_on_loads && \
	LOCKSTEP_KIND_HISTORIES=$(SOAK_KIND_HISTORIES) LOCKSTEP_REPLICA_HISTORIES=$(SOAK_REPLICA_HISTORIES) \
		LOCKSTEP_WORLD_HISTORIES=$(SOAK_WORLD_HISTORIES) LOCKSTEP_EVERY_SERVER=1 \
		cargo test --locked -p lockstep-tests --features toy --test conformance && \
	cargo build --workspace --locked && \
	LOCKSTEP_CHECKED_EVERY=1 cargo test --locked -p lockstep-tests --test cli two_runs && \
	LOCKSTEP_MUTATED_FILES=$(SOAK_FILES) cargo test --locked --workspace --lib changed_files && \
	LOCKSTEP_FREE_RUNS=$(SOAK_FREE_RUNS) cargo test --locked -p lockstep-tests --test inclusion && \
	LOCKSTEP_REPAIRS_EVERY=1 LOCKSTEP_CELLS_EVERY=1 cargo test --locked -p lockstep-tests --test reports repairs && \
	LOCKSTEP_SECOND_OPINION_ON_ALL=1 cargo test --locked -p lockstep-tests --test reports -- state_space anomalies && \
	LOCKSTEP_DRAW_SCENARIOS=$(SOAK_WORLDS) \
		cargo test --locked -p lockstep-tests --test safety nobody_thought_of && \
	LOCKSTEP_COMPARED_STATES=1000000 \
		LOCKSTEP_ALL_PAIRS=1 \
		cargo test --locked -p lockstep-tests --test safety -- engine:: normal_forms:: frontier:: capacities:: && \
	LOCKSTEP_COMPARED_STATES=1000000 LOCKSTEP_GRAPHS=$(SOAK_GRAPHS) \
		cargo test --locked -p lockstep-tests --test liveness -- threads:: brute_force:: strong:: verdicts:: && \
	LOCKSTEP_DRAW_SCENARIOS=$(SOAK_SCENARIOS) LOCKSTEP_DRAW_HISTORIES=$(SOAK_HISTORIES) \
		cargo test --locked -p lockstep-tests --test conformance random_scenarios

reports:
	$(servers) && \
	$(redisson) && \
	cargo build --workspace --locked && \
	LOCKSTEP_WRITE_REPORTS=1 cargo test --locked -p lockstep-tests --test reports && \
	LOCKSTEP_WRITE_REPORTS=1 cargo test --locked -p lockstep-tests --test inclusion a_record_of_real_servers && \
	LOCKSTEP_WRITE_REPORTS=1 cargo test --locked -p lockstep-tests --test redisson -- the_page_on_the_museum the_page_on_departures

bench:
	cargo bench --locked -p lockstep-sim --bench engines -- --write
