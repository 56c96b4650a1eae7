# SPDX-License-Identifier: GPL-2.0-or-later
#
# make            the programs, in build/
# make demo       install what is needed, build, show it at work (root)
# make demo-feed  the same for joining a mesh (root)
# make quick      unit tests, scenarios, lint: between edits (a minute)
# make check      install what is needed, build, run every test (root; 8 minutes
#                 with two CPUs)
# make unit       only the unit tests; make lint only the analyses
# make check-compilers  gcc, clang and cppcheck over all, and what messages cost (4 minutes)
# make check-analysers  clang-tidy and gcc -fanalyzer over all (10 minutes)
# make check-long what of the tests takes many minutes: longer loads, more of them
#                 (root; 15 minutes)
# make fuzz       60 seconds of each fuzz target (FUZZ_SECONDS=...)
# make install    DESTDIR and prefix as usual
# make deb        Debian packages, in build/packages/
# make rpm        RPM packages, in build/packages/
# make check-packages  both, and that they hold the same
# make coverage   lines that unit and net tests run, by room (root; 10 minutes;
#                 COVERAGE=unit for the unit tests alone)
# make bench      measure it beside other servers (root); bench-quick: in a minute
# make bench-check  instructions for a question, against the baseline
# make check-vm   install and try the .deb in a virtual machine (root)
#
# V=1 shows the commands.  CC, CFLAGS, LDFLAGS, BUILD are yours to set;
# HARDEN=, WERROR= and SANITIZE= change what is added to them.

# None of make's own rules is used; without them it has little to look through.
MAKEFLAGS += -r

CC	?= gcc
PKG_CONFIG ?= pkg-config
BUILD	?= build
prefix	?= /usr
sysconfdir ?= /etc
libexecdir ?= $(prefix)/libexec
unitdir	?= $(prefix)/lib/systemd/system
bashdir	?= $(prefix)/share/bash-completion/completions
zshdir	?= $(prefix)/share/zsh/site-functions
mandir	?= $(prefix)/share/man
docdir	?= $(prefix)/share/doc/nfdns
DESTDIR	?=
JOBS	?= $(shell nproc)
VERSION	:= 0.1.0

CFLAGS	?= -O2 -g
WARN	:= -Wall -Wextra -Wshadow -Wmissing-prototypes -Wconversion -Wformat=2 \
	   -Wcast-qual -Wstrict-prototypes -Wundef
WERROR	?=
# Control-flow enforcement is an option of x86 compilers only.
CET	:= $(if $(filter x86_64-% i%86-%,$(shell $(CC) -dumpmachine 2>/dev/null)),-fcf-protection=full)
HARDEN	?= -fPIE -fstack-protector-strong -fstack-clash-protection \
	   $(CET) -D_FORTIFY_SOURCE=2
HARDEN_LD ?= -pie -Wl,-z,relro,-z,now,-z,noexecstack,--as-needed
SANITIZE ?=

LIBRARIES := libnetfilter_queue libmnl libnftnl ldns libconfig \
	     libidn2 libxxhash libcap-ng libseccomp libnghttp2 openssl libcares \
	     yaml-0.1 jansson

ifeq ($(V),1)
Q	:=
else
Q	:= @
endif
say	= $(if $(Q),@printf '  %-5s %s\n' $(1) $(2))

# Goals that build nothing do not need the libraries, and those that install
# them must run before they are looked for.
LATE_GOALS := demo demo-feed check check-analysers check-compilers check-long quick coverage deps demo-deps demo-feed-deps clean lint fuzz bench bench-quick bench-check
ifneq ($(filter-out $(LATE_GOALS),$(or $(MAKECMDGOALS),all)),)
MISSING := $(foreach l,$(LIBRARIES),$(if $(shell $(PKG_CONFIG) --exists $(l) 2>/dev/null && echo y),,$(l)))
ifneq ($(strip $(MISSING)),)
$(error cannot find $(MISSING) through $(PKG_CONFIG): run packaging/install-deps, or install the development packages of these libraries)
endif
LIB_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBRARIES))
LIB_LIBS   := $(shell $(PKG_CONFIG) --libs $(LIBRARIES))
endif

ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -DNFDNS_VERSION_NUMBER=$(VERSION) -I. \
	     $(WARN) $(WERROR) $(HARDEN) $(SANITIZE) $(LIB_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(HARDEN_LD) $(SANITIZE) $(LDFLAGS)
ALL_LIBS = $(LIB_LIBS) -lpthread

SHELVES	:= resolver policy rules nfq
MAINS	:= nfq/nfdnsd.c nfq/nfdns.c nfq/nfdns-feed.c nfq/nfdns-tls.c
SOURCES	:= $(filter-out $(MAINS),$(sort $(foreach s,$(SHELVES),$(shell find $(s) -name "*.c"))))
OBJECTS	:= $(SOURCES:%.c=$(BUILD)/%.o)
LIBRARY	:= $(BUILD)/libnfdns.a
ARCHIVE	= ar rcs
PROGRAMS := $(MAINS:nfq/%.c=$(BUILD)/%)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(shell find tests/unit -name "test_*.c"))
TOOLS	:= $(patsubst tests/tools/%.c,$(BUILD)/tools/%,$(wildcard tests/tools/*.c))
FAULTY	:= $(BUILD)/faulty/nfdnsd
MADE_PAGES := $(patsubst packaging/man/%.in,$(BUILD)/man/%,$(wildcard packaging/man/*.in))
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))

all: $(PROGRAMS) $(MADE_PAGES)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(LIBRARY): $(OBJECTS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(ARCHIVE) $@ $^

# Manual pages with the reference of options, which the table has.
$(BUILD)/man/options: $(BUILD)/packaging/man/options.o $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LIBS)

$(MADE_PAGES): $(BUILD)/man/%.5: packaging/man/%.5.in $(BUILD)/man/options
	$(call say,MAN,$@)
	$(Q)$(BUILD)/man/options $* <$< >$@.new && mv $@.new $@

$(PROGRAMS): $(BUILD)/%: $(BUILD)/nfq/%.o $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LIBS)

# Optimizing what runs for a moment takes longer than that.
$(BUILD)/tests/unit/%.o: private ALL_CFLAGS += -O0 -U_FORTIFY_SOURCE

$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(BUILD)/tests/main.o $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIBRARY) $(ALL_LIBS)

# Memory that runs out: tests/no_memory.h.
$(filter %/test_cut,$(UNIT_TESTS)): private ALL_LDFLAGS += $(NO_MEMORY)
NO_MEMORY := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=reallocarray

# The one test that needs more than a file to read its input.
$(BUILD)/tests/nfq/packet/test_scenarios: $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/scenarios/*.c))

$(BUILD)/tools/%: $(BUILD)/tests/tools/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LIBS)

# nfdnsd as it is, but that certain questions crash or hang it, and fork(2) fails
# on demand: for the tests of what the supervisor does then.
$(FAULTY): private ALL_LDFLAGS += -Wl,--wrap=question_parse,--wrap=decide,--wrap=fork,--wrap=senders_put,--wrap=ruleset_build,--wrap=question_rules_add
$(FAULTY): $(BUILD)/nfq/nfdnsd.o $(BUILD)/tests/faulty/nfdnsd.o $(LIBRARY) $(BUILD)/nfdns $(BUILD)/nfdns-tls
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(ALL_LIBS)
	$(Q)ln -sf ../nfdns ../nfdns-tls $(@D)/

# A fuzz target with libFuzzer's main; and all of them in one program that only replays
# files: each has a name of its own there.
$(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/fuzz_%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(ALL_LIBS)

$(BUILD)/replay/%.o: tests/fuzz/fuzz_%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -DLLVMFuzzerTestOneInput=fuzz_$* -MMD -MP -c -o $@ $<

$(BUILD)/replay/replay: $(FUZZ_NAMES:%=$(BUILD)/replay/%.o) $(BUILD)/tests/fuzz/replay.o $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -rdynamic -o $@ $^ $(ALL_LIBS)

# Counts what messages cost; of use only where all is built by tests/fuzz/test_cost.
$(BUILD)/cost: $(BUILD)/tests/fuzz/cost.o $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LIBS)

unit-tests: $(UNIT_TESTS)
tools: $(TOOLS) $(FAULTY)
fuzz-targets: $(FUZZ_NAMES:%=$(BUILD)/fuzz/%)
replay: $(BUILD)/replay/replay

# What the analysers in tests/lint need to know.
print-cflags:
	@: $(info $(ALL_CFLAGS))

deps:
	$(Q)packaging/install-deps
demo-deps:
	$(Q)packaging/install-deps --demo
demo-feed-deps:
	$(Q)packaging/install-deps --demo-feed

# Each test prints "PASS|FAIL|SKIP name: ..." lines; tests/run adds them up.
check: deps
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) WERROR=-Werror all unit-tests tools
	$(call say,CC,with sanitizers)
	$(Q)BUILD=$(BUILD) tests/fuzz/targets.py
	$(Q)BUILD=$(BUILD) BUILT_WITH="$(CC) $(CFLAGS) -Werror" tests/run

check-long: deps
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) WERROR=-Werror all tools
	$(Q)BUILD=$(BUILD) tests/run --long --jobs 4

unit: unit-tests
	$(Q)BUILD=$(BUILD) tests/run --only unit

lint:
	$(Q)BUILD=$(BUILD) tests/run --only lint

# What one runs between edits.
quick: deps
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) WERROR=-Werror all unit-tests
	$(Q)BUILD=$(BUILD) tests/run --quick

check-compilers: deps
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) WERROR=-Werror all unit-tests tools
	$(Q)BUILD=$(BUILD) BUILT_WITH="$(CC) $(CFLAGS) -Werror" tests/run --apart

check-analysers: deps
	$(Q)BUILD=$(BUILD) tests/run --apart --long

# A build of its own.  A test that fails is shown, and what it has run counts.
COVERAGE ?= unit net
COVERAGE_BUILD := $(BUILD)-coverage
coverage: deps
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) BUILD=$(COVERAGE_BUILD) CFLAGS="-O0 -g" HARDEN=-fPIE HARDEN_LD=-pie SANITIZE="--coverage -fprofile-update=atomic" all unit-tests tools
	$(Q)find $(COVERAGE_BUILD) -name '*.gcda' -delete
	$(Q)export BUILD=$(COVERAGE_BUILD) GCOV_ERROR_FILE=/dev/null; $(foreach k,$(COVERAGE),tests/run --only $(k);) tests/coverage $(COVERAGE_FILES)

demo: demo-deps
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) all
	$(Q)BUILD=$(BUILD) tests/demo

demo-feed: demo-feed-deps
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) all
	$(Q)BUILD=$(BUILD) tests/demo_feed

bench bench-quick bench-check:
	$(Q)packaging/install-deps --bench
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) all tools
	$(Q)export BUILD=$(BUILD); $(BENCH_$(@))

# A table of a million names is compiled, mapped and looked up in as well.
BENCH_bench := tests/bench/bench && tests/bench/push && tests/bench/containers && tests/conformance/test_million --full
BENCH_bench-quick := tests/bench/bench --quick && tests/bench/push --quick && tests/bench/containers --quick
BENCH_bench-check := tests/bench/check

fuzz: deps
	$(Q)BUILD=$(BUILD) tests/fuzz/run --seconds $(or $(FUZZ_SECONDS),60)

# What is installed as it stands, "source:directory:name".  The programs name
# their config's place by themselves: CONFIG_DEFAULT_PATH in policy/config/config.h.
INSTALLED_DATA := \
	nfdnsd.conf:$(sysconfdir)/nfdns:nfdnsd.conf \
	hosts:$(sysconfdir)/nfdns:hosts \
	logrotate.conf:$(sysconfdir)/logrotate.d:nfdns \
	apparmor/nfdnsd:$(sysconfdir)/apparmor.d:nfdnsd \
	apparmor/nfdns-feed:$(sysconfdir)/apparmor.d:nfdns-feed \
	systemd/nfdnsd.service:$(unitdir):nfdnsd.service \
	systemd/nfdns-feed@.service:$(unitdir):nfdns-feed@.service \
	systemd/nfdns-feed-renew.path:$(unitdir):nfdns-feed-renew.path \
	systemd/nfdns-feed-renew.service:$(unitdir):nfdns-feed-renew.service \
	systemd/nfdns-metrics.socket:$(unitdir):nfdns-metrics.socket \
	systemd/nfdns-metrics@.service:$(unitdir):nfdns-metrics@.service \
	sysusers.conf:$(prefix)/lib/sysusers.d:nfdns.conf \
	tmpfiles.conf:$(prefix)/lib/tmpfiles.d:nfdns.conf \
	special-names.rpz:$(prefix)/share/nfdns:special-names.rpz \
	private-names.rpz:$(prefix)/share/nfdns:private-names.rpz \
	monitoring/nfdns.rules.yml:$(docdir)/examples:nfdns.rules.yml \
	monitoring/dashboard.json:$(docdir)/examples:dashboard.json \
	completion/nfdns.bash:$(bashdir):nfdns \
	completion/nfdnsd.bash:$(bashdir):nfdnsd \
	completion/nfdns-feed.bash:$(bashdir):nfdns-feed \
	completion/_nfdns:$(zshdir):_nfdns

INSTALLED_PAGES := $(foreach page,$(notdir $(wildcard packaging/doc/*.md)),\
	doc/$(page):$(docdir):$(page))
INSTALLED_MAN := $(foreach page,$(notdir $(wildcard packaging/man/*.[0-9])),\
	man/$(page):$(mandir)/man$(subst .,,$(suffix $(page))):$(page))

INSTALLED_MADE := $(foreach page,$(notdir $(MADE_PAGES)),\
	$(page):$(mandir)/man5:$(page))

INSTALLED := $(INSTALLED_DATA) $(INSTALLED_PAGES) $(INSTALLED_MAN)

install: all
	install -Dm755 $(BUILD)/nfdnsd $(DESTDIR)$(prefix)/sbin/nfdnsd
	install -Dm755 $(BUILD)/nfdns $(DESTDIR)$(prefix)/sbin/nfdns
	install -Dm755 $(BUILD)/nfdns-feed $(DESTDIR)$(prefix)/sbin/nfdns-feed
	install -Dm755 $(BUILD)/nfdns-tls $(DESTDIR)$(libexecdir)/nfdns/nfdns-tls
	install -Dm755 packaging/hand-over $(DESTDIR)$(libexecdir)/nfdns/hand-over
	install -Dm755 packaging/stopped $(DESTDIR)$(libexecdir)/nfdns/stopped
	$(foreach f,$(INSTALLED),install -Dm644 packaging/$(word 1,$(subst :, ,$f)) \
	    $(DESTDIR)$(word 2,$(subst :, ,$f))/$(word 3,$(subst :, ,$f)) && ) true
	$(foreach f,$(INSTALLED_MADE),install -Dm644 $(BUILD)/man/$(word 1,$(subst :, ,$f)) \
	    $(DESTDIR)$(word 2,$(subst :, ,$f))/$(word 3,$(subst :, ,$f)) && ) true

# What an administrator may have written stays: $(sysconfdir)/nfdns.
uninstall:
	rm -f $(addprefix $(DESTDIR)$(prefix)/sbin/,nfdnsd nfdns nfdns-feed)
	rm -rf $(DESTDIR)$(libexecdir)/nfdns $(DESTDIR)$(prefix)/share/nfdns $(DESTDIR)$(docdir)
	rm -f $(foreach f,$(filter-out %/nfdns:nfdnsd.conf %/nfdns:hosts,$(INSTALLED) $(INSTALLED_MADE)),\
	    $(DESTDIR)$(word 2,$(subst :, ,$f))/$(word 3,$(subst :, ,$f)))

deb:
	$(Q)packaging/install-deps --packaging
	$(Q)BUILD=$(BUILD) packaging/build-deb

rpm:
	$(Q)packaging/install-deps --packaging
	$(Q)BUILD=$(BUILD) packaging/build-rpm

check-packages: deb rpm
	$(Q)BUILD=$(BUILD) tests/packages

check-clients:
	$(Q)packaging/install-deps --clients
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) all
	$(Q)BUILD=$(BUILD) tests/run --only clients

check-vm:
	$(Q)packaging/install-deps --packaging --vm
	$(Q)BUILD=$(BUILD) tests/vm/run $(VM_OPTIONS)

clean:
	rm -rf $(BUILD)

-include $(shell [ -d $(BUILD) ] && find $(BUILD) -maxdepth 6 \( -path $(BUILD)/deb -o -path $(BUILD)/rpm -o -path $(BUILD)/vm \) -prune -o -type f -name '*.d' -print)

.PHONY: all bench bench-check bench-quick check check-analysers check-clients check-compilers check-long check-packages check-vm clean coverage deb demo demo-deps demo-feed demo-feed-deps deps fuzz fuzz-targets install lint \
	print-cflags replay tools uninstall unit unit-tests
.SECONDARY:
