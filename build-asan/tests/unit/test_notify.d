build-asan/tests/unit/test_notify.o: tests/unit/test_notify.c \
 tests/check.h nfq/notify.h
tests/check.h:
nfq/notify.h:
