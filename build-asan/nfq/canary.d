build-asan/nfq/canary.o: nfq/canary.c nfq/canary.h policy/config.h \
 policy/log.h resolver/diag.h resolver/mesh.h resolver/name.h \
 policy/resolv_conf.h nfq/intercept.h nfq/packet.h policy/decide.h \
 resolver/answer.h resolver/finding.h resolver/question.h \
 resolver/table.h resolver/rr.h resolver/wire.h rules/ruleset.h \
 rules/address_set.h
nfq/canary.h:
policy/config.h:
policy/log.h:
resolver/diag.h:
resolver/mesh.h:
resolver/name.h:
policy/resolv_conf.h:
nfq/intercept.h:
nfq/packet.h:
policy/decide.h:
resolver/answer.h:
resolver/finding.h:
resolver/question.h:
resolver/table.h:
resolver/rr.h:
resolver/wire.h:
rules/ruleset.h:
rules/address_set.h:
