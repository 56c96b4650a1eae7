build-asan/tests/unit/test_control.o: tests/unit/test_control.c \
 tests/check.h nfq/control.h policy/audit.h policy/decide.h \
 resolver/answer.h resolver/finding.h resolver/name.h resolver/question.h \
 resolver/table.h resolver/mesh.h
tests/check.h:
nfq/control.h:
policy/audit.h:
policy/decide.h:
resolver/answer.h:
resolver/finding.h:
resolver/name.h:
resolver/question.h:
resolver/table.h:
resolver/mesh.h:
