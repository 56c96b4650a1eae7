# SPDX-License-Identifier: GPL-2.0-or-later
#
# make            both programs, in build/
# make demo       install what is needed, build, show it at work (root)
# make check      install what is needed, build, run every test (root)
# make fuzz       60 seconds of each fuzz target (FUZZ_SECONDS=...)
# make install    DESTDIR and prefix as usual
#
# V=1 shows the commands.  CC, CFLAGS, LDFLAGS, BUILD are yours to set;
# HARDEN=, WERROR= and SANITIZE= change what is added to them.

CC	?= gcc
PKG_CONFIG ?= pkg-config
BUILD	?= build
prefix	?= /usr
DESTDIR	?=
VERSION	:= 0.1.0

CFLAGS	?= -O2 -g
WARN	:= -Wall -Wextra -Wshadow -Wmissing-prototypes -Wconversion -Wformat=2 \
	   -Wcast-qual -Wstrict-prototypes -Wundef
WERROR	?=
HARDEN	?= -fPIE -fstack-protector-strong -fstack-clash-protection \
	   -fcf-protection=full -D_FORTIFY_SOURCE=2
HARDEN_LD ?= -pie -Wl,-z,relro,-z,now,-z,noexecstack,--as-needed
SANITIZE ?=

LIBRARIES := libnetfilter_queue libmnl libnftnl ldns libconfig jansson \
	     libxxhash libcap-ng libseccomp

ifeq ($(V),1)
Q	:=
else
Q	:= @
endif
say	= $(if $(Q),@printf '  %-5s %s\n' $(1) $(2))

# Goals that build nothing do not need the libraries, and those that install
# them must run before they are looked for.
LATE_GOALS := demo check deps clean lint fuzz
ifneq ($(filter-out $(LATE_GOALS),$(or $(MAKECMDGOALS),all)),)
MISSING := $(foreach l,$(LIBRARIES),$(if $(shell $(PKG_CONFIG) --exists $(l) 2>/dev/null && echo y),,$(l)))
ifneq ($(strip $(MISSING)),)
$(error cannot find $(MISSING) through $(PKG_CONFIG): run packaging/install-deps, or install the development packages of these libraries)
endif
LIB_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBRARIES))
LIB_LIBS   := $(shell $(PKG_CONFIG) --libs $(LIBRARIES))
endif

ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -DNFDNS_VERSION='"$(VERSION)"' -I. \
	     $(WARN) $(WERROR) $(HARDEN) $(SANITIZE) $(LIB_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(HARDEN_LD) $(SANITIZE) $(LDFLAGS)
ALL_LIBS = $(LIB_LIBS) -lpthread

SHELVES	:= resolver policy rules nfq
MAINS	:= nfq/nfdnsd.c nfq/nfdns.c
SOURCES	:= $(filter-out $(MAINS),$(sort $(foreach s,$(SHELVES),$(wildcard $(s)/*.c))))
OBJECTS	:= $(SOURCES:%.c=$(BUILD)/%.o)
LIBRARY	:= $(BUILD)/libnfdns.a
PROGRAMS := $(BUILD)/nfdnsd $(BUILD)/nfdns
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*.c))
TOOLS	:= $(patsubst tests/tools/%.c,$(BUILD)/tools/%,$(wildcard tests/tools/*.c))

all: $(PROGRAMS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(LIBRARY): $(OBJECTS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(PROGRAMS): $(BUILD)/%: $(BUILD)/nfq/%.o $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LIBS)

$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LIBS)

$(BUILD)/tools/%: $(BUILD)/tests/tools/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LIBS)

unit-tests: $(UNIT_TESTS)
tools: $(TOOLS)

deps:
	$(Q)packaging/install-deps

# Each test prints "PASS|FAIL|SKIP name: ..." lines; tests/run adds them up.
check: deps
	$(Q)$(MAKE) --no-print-directory WERROR=-Werror all unit-tests tools
	$(Q)BUILD=$(BUILD) tests/run

unit: unit-tests
	$(Q)BUILD=$(BUILD) tests/run --only unit

lint:
	$(Q)BUILD=$(BUILD) tests/run --only lint

demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)BUILD=$(BUILD) tests/demo

fuzz: deps
	$(Q)BUILD=$(BUILD) tests/fuzz/run --seconds $(or $(FUZZ_SECONDS),60)

install: all
	install -Dm755 $(BUILD)/nfdnsd $(DESTDIR)$(prefix)/sbin/nfdnsd
	install -Dm755 $(BUILD)/nfdns $(DESTDIR)$(prefix)/sbin/nfdns

clean:
	rm -rf $(BUILD)

-include $(shell [ -d $(BUILD) ] && find $(BUILD) -name '*.d')

.PHONY: all check clean demo deps fuzz install lint tools unit unit-tests
.SECONDARY:
