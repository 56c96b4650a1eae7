/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any octets as Kubernetes objects, with options that the first octet chooses:
 * errors of one line, and always a sound image.
 */
#include "resolver/kubernetes/kubernetes.h"
#include "tests/fuzz/source.h"

static void
choose(struct mesh_source *source, uint8_t options)
{
	static char own[] = "own", other[] = "n";
	static char *namespaces[] = { own, other };

	source->pods = options & 0x01 ? PODS_VERIFIED : PODS_DISABLED;
	if (options & 0x20)
		source->namespaces = (struct mesh_texts){ namespaces, 2 };
}

/* The same objects from two clusters and networks, of which we are in one. */
static void
read_twice(struct mesh *mesh, const struct source_text *text,
    struct builder *b, struct diag *diag)
{
	static char n[] = "n", m[] = "m";
	struct mesh_source sources[2] = { *text->source, *text->source };
	struct source_set *set = source_kubernetes_begin(b, diag);

	check(set != NULL);
	sources[0].cluster = sources[0].network = n;
	sources[1].cluster = sources[1].network = m;
	mesh->cluster = m;
	for (unsigned int i = 0; i < 2; i++) {
		struct source_text part = *text;

		part.source = &sources[i];
		check(source_kubernetes_add(set, &part) == 0);
	}
	check(source_kubernetes_end(set, true) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mesh_source source = { .line = 1 };
	struct mesh mesh;
	struct source_text text = { .path = "fuzz.json", .mesh = &mesh,
	    .source = &source };
	struct diag diag = DIAG_INIT;
	struct builder *b;

	if (size == 0)
		return 0;
	choose(&source, data[0]);
	text.data = (const char *)data + 1;
	text.length = size - 1;
	fuzz_mesh(&mesh);
	b = builder_new(&mesh);
	check(b != NULL);
	if (data[0] & 0x80)
		read_twice(&mesh, &text, b, &diag);
	else
		check(source_kubernetes_read(&text, b, &diag) == 0);
	fuzz_finish(b, &diag, 2);
	return 0;
}
