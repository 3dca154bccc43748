/* SPDX-License-Identifier: Apache-2.0 */
/* What a program was made of: each text that was compiled, with its headers in it, or module, and
 * its options. That is also what its binary has. */
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

void parts_clear(struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		free(parts->list[i].source);
		free(parts->list[i].options);
	}
	free(parts->list);
	free(parts->link_options);
	*parts = (struct parts){0, NULL, NULL};
}

bool parts_add(struct parts *parts, struct source source, const char *options, size_t options_bytes)
{
	struct part *list = realloc(parts->list, (parts->count + 1) * sizeof(*list));
	if (!list)
		return false;
	parts->list = list;
	struct part *part = &list[parts->count++];
	part->source = malloc(source.count + 1);
	part->source_bytes = source.count;
	part->is_il = source.is_il;
	if (part->source) {
		if (source.count > 0)
			memcpy(part->source, source.bytes, source.count);
		part->source[source.count] = 0;
	}
	part->options = strndup(options ? options : "", options ? options_bytes : 0);
	return part->source && part->options;
}

bool parts_add_all(struct parts *parts, const struct parts *more)
{
	for (size_t i = 0; i < more->count; i++) {
		const struct part *part = &more->list[i];
		const struct source source = {part->source, part->source_bytes, part->is_il};
		if (!parts_add(parts, source, part->options, strlen(part->options)))
			return false;
	}
	return true;
}
