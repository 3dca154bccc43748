#include "account/claims_bound.h"

#include "base/text.h"

#include <stddef.h>
#include <string.h>

static size_t text_bytes_most(const char *name)
{
	static const char *const long_texts[] = {"extensions", "builtin_kernels",
						 "unavailable_reason"};
	for (size_t i = 0; i < sizeof(long_texts) / sizeof(*long_texts); i++)
		if (strcmp(name, long_texts[i]) == 0)
			return CLAIMS_TEXT_BYTES_MAX;
	return CLAIMS_NAME_BYTES_MAX;
}

static void bound_text(char *text, size_t most)
{
	/* protobuf-c represents an absent text by its own empty string, which is read-only. */
	if (!text || !*text)
		return;
	if (strlen(text) > most)
		text[most] = '\0';
	text_make_printable(text);
}

static void bound_count(size_t *count)
{
	if (*count > CLAIMS_VALUES_MAX)
		*count = CLAIMS_VALUES_MAX;
}

/* Facts have no message inside. */
static void bound_facts(ProtobufCMessage *facts)
{
	char *members = (char *)facts;
	facts->n_unknown_fields = 0;
	facts->unknown_fields = NULL;
	for (unsigned i = 0; i < facts->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &facts->descriptor->fields[i];
		void *member = members + field->offset;
		if (field->label == PROTOBUF_C_LABEL_REPEATED)
			bound_count((void *)(members + field->quantifier_offset));
		else if (field->type == PROTOBUF_C_TYPE_STRING)
			bound_text(*(char **)member, text_bytes_most(field->name));
		else if (field->type == PROTOBUF_C_TYPE_BYTES)
			bound_count(&((ProtobufCBinaryData *)member)->len);
	}
}

void claims_bound_topology(Sycl__V1__Topology *topology)
{
	topology->base.n_unknown_fields = 0;
	topology->base.unknown_fields = NULL;
	for (size_t i = 0; i < topology->n_devices; i++)
		bound_facts(&topology->devices[i]->base);
	for (size_t i = 0; i < topology->n_platforms; i++)
		bound_facts(&topology->platforms[i]->base);
}
