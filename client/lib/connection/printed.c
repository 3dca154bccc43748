#include "connection/printed.h"

#include "connection/connection.h"

#include <stdlib.h>
#include <string.h>

static bool output_has_room(struct printed *output, size_t bytes)
{
	if (bytes > PRINTED_KEPT_MAX - output->bytes)
		return false;
	if (bytes <= output->room - output->bytes)
		return true;
	size_t room = output->room < 4096 ? 4096 : output->room * 2;
	while (room < output->bytes + bytes)
		room *= 2;
	char *text = realloc(output->text, room);
	if (!text)
		return false;
	output->text = text;
	output->room = room;
	return true;
}

void printed_receive(struct connection *c, const Sycl__V1__Reply *reply)
{
	struct printed *output = &c->printed;
	const ProtobufCBinaryData *text = &reply->output->text;
	output->is_cut |= reply->output->is_cut;
	if (text->len > 0 && output_has_room(output, text->len)) {
		memcpy(output->text + output->bytes, text->data, text->len);
		output->bytes += text->len;
	} else if (text->len > 0) {
		output->is_cut = true;
	}
	atomic_store_explicit(&c->has_printed, true, memory_order_release);
}

struct printed printed_take(struct connection *c)
{
	replies_take_in(c);
	if (!atomic_load_explicit(&c->has_printed, memory_order_acquire))
		return (struct printed){.text = NULL};
	(void)pthread_mutex_lock(&c->state_lock);
	struct printed taken = c->printed;
	c->printed = (struct printed){.text = NULL};
	atomic_store_explicit(&c->has_printed, false, memory_order_relaxed);
	(void)pthread_mutex_unlock(&c->state_lock);
	return taken;
}

void printed_fini(struct printed *output)
{
	free(output->text);
	*output = (struct printed){.text = NULL};
}
