build-asan/tests/unit/test_sandbox.o: tests/unit/test_sandbox.c \
 tests/check.h nfq/child.h nfq/sandbox.h policy/config.h policy/log.h \
 resolver/diag.h resolver/mesh.h resolver/name.h
tests/check.h:
nfq/child.h:
nfq/sandbox.h:
policy/config.h:
policy/log.h:
resolver/diag.h:
resolver/mesh.h:
resolver/name.h:
