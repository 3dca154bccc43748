/* Engines that share the memory of a device: how much each gives, and engines that send false
 * reports or none, or request without end. */
#include "supervisor/engines_fixture.h"

#include "cleanup.h"
#include "clock.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>

enum { ENGINES = 3 };

static int sockets[ENGINES];

static void say(unsigned engine, const char *word)
{
	engine_send(sockets[engine], word);
	Sycl__V1__Packet *packet = client_receive(sockets[engine]);
	cr_assert(ne(ptr, packet, NULL), "after '%s' engine %u is gone", word, engine);
	cr_assert(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_WAKE));
	packet_free(packet);
}

/* Each session has an engine with a device open, and uses so many MiB of its 64. */
static void start_holders_with(const char *configuration, const unsigned *held_mib, unsigned count)
{
	start_engines_with("double", configuration);
	for (unsigned i = 0; i < count; i++) {
		char word[32];
		CLEANUP(free_pointer) char *facts = client_open(&service, &sockets[i]);
		cr_assert(ne(ptr, facts, NULL));
		say(i, "open");
		(void)snprintf(word, sizeof(word), "hold %u", held_mib[i]);
		say(i, word);
	}
}

static void start_holders(const unsigned *held_mib, unsigned count)
{
	start_holders_with(
		"[service]\nstandby = no\nspill = yes\n[isolation]\nisolation = session\n",
		held_mib, count);
}

static void end_holders(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		close_fd(&sockets[i]);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Returns the MiB that others freed for it. */
static unsigned long ask(unsigned engine, unsigned mib)
{
	char word[32];
	(void)snprintf(word, sizeof(word), "need %u", mib);
	engine_send(sockets[engine], word);
	Sycl__V1__Packet *packet = client_receive(sockets[engine]);
	cr_assert(ne(ptr, packet, NULL), "engine %u is gone", engine);
	cr_assert(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_WELCOME));
	unsigned long freed_mib = packet->welcome->session;
	packet_free(packet);
	return freed_mib;
}

Test(engines, TG15_one_that_holds_more_than_its_part_of_a_device_gives)
{
	start_holders((const unsigned[]){64, 0}, 2);
	cr_expect(eq(ulong, ask(1, 10), 10ul));
	cr_expect(eq(ulong, ask(1, 22), 22ul));
	say(1, "hold 32");
	/* Now both have their part. */
	cr_expect(eq(ulong, ask(1, 1), 0ul));
	cr_expect(eq(ulong, ask(0, 1), 0ul));
	end_holders(2);
}

Test(engines, TG15_nobody_gives_where_spilling_is_off)
{
	start_holders_with("[service]\nstandby = no\n[isolation]\nisolation = session\n",
			   (const unsigned[]){64, 0}, 2);
	cr_expect(eq(ulong, ask(1, 10), 0ul));
	end_holders(2);
}

Test(engines, TG15_one_that_asks_for_more_than_its_part_gets_nothing)
{
	start_holders((const unsigned[]){64, 0}, 2);
	cr_expect(eq(ulong, ask(1, 33), 0ul));
	cr_expect(eq(ulong, ask(1, 31), 31ul));
	end_holders(2);
}

Test(engines, TG15_several_engines_give_when_one_does_not_have_enough)
{
	start_holders((const unsigned[]){32, 32, 0}, 3);
	/* A third is 21 MiB: each of the two has 11 MiB more. */
	cr_expect(ge(ulong, ask(2, 20), 20ul));
	end_holders(3);
}

Test(engines, TG15_nobody_waits_for_one_that_replies_to_no_request_for_memory)
{
	start_holders((const unsigned[]){64, 0, 0}, 3);
	say(0, "mute");
	cr_expect(eq(ulong, ask(1, 10), 0ul));
	/* Its reply is missing, so no later case waits for it, or for its end. */
	for (unsigned i = 0; i < 20; i++)
		cr_expect(eq(ulong, ask(2, 10), 0ul));
	end_holders(3);
}

Test(engines, TG15_a_claim_of_any_size_keeps_others_waiting_for_a_bounded_time)
{
	start_holders((const unsigned[]){1u << 30, 0, 60}, 3);
	say(0, "stall");
	cr_expect(eq(ulong, ask(1, 10), 0ul));
	/* Now the request goes to the other one. */
	cr_expect(eq(ulong, ask(1, 10), 10ul));
	end_holders(3);
}

Test(engines, TG15_one_that_asks_again_before_the_answer_is_answered_with_nothing)
{
	enum { ASKS = 100 };
	start_holders((const unsigned[]){64, 0}, 2);
	say(0, "stall");
	for (unsigned i = 0; i < ASKS; i++)
		engine_send(sockets[1], "need 10");
	for (unsigned i = 0; i < ASKS; i++) {
		Sycl__V1__Packet *packet = client_receive(sockets[1]);
		cr_assert(ne(ptr, packet, NULL), "it was ended at the answer %u", i);
		cr_expect(eq(u64, packet->welcome->session, 0));
		packet_free(packet);
	}
	say(1, "ping");
	end_holders(2);
}

Test(engines, TG15_one_that_frees_nothing_is_not_counted_on)
{
	start_holders((const unsigned[]){60, 40, 0}, 3);
	say(0, "keep");
	(void)ask(2, 5);
	/* The other one gives memory, though it has less. */
	cr_expect(eq(ulong, ask(2, 5), 5ul));
	end_holders(3);
}

Test(engines, TG15_one_that_only_says_that_it_frees_harms_nobody)
{
	start_holders((const unsigned[]){64, 0}, 2);
	say(0, "boast");
	cr_expect(eq(ulong, ask(1, 10), 10ul));
	say(1, "ping");
	say(0, "ping");
	end_holders(2);
}

Test(engines, TG15_one_that_dies_while_it_is_to_give_keeps_nobody_waiting)
{
	start_holders((const unsigned[]){64, 0}, 2);
	say(0, "mute");
	engine_send(sockets[1], "need 10");
	engine_send(sockets[0], "crash");
	Sycl__V1__Packet *packet = client_receive(sockets[1]);
	cr_assert(ne(ptr, packet, NULL));
	cr_expect(eq(ulong, (unsigned long)packet->welcome->session, 0ul));
	packet_free(packet);
	end_holders(2);
}

Test(engines, TG15_one_that_dies_while_it_asks_keeps_nobody_waiting)
{
	start_holders((const unsigned[]){64, 0, 0}, 3);
	say(0, "mute");
	engine_send(sockets[1], "need 10");
	engine_send(sockets[1], "crash");
	cr_expect(eq(ulong, ask(2, 10), 0ul));
	say(0, "ping");
	end_holders(3);
}

Test(engines, TG15_one_that_asks_for_memory_without_waiting_is_ended)
{
	start_holders((const unsigned[]){64, 0}, 2);
	say(0, "mute"); /* so the first case has begun when the others come */
	engine_send(sockets[1], "nag");
	while (true) {
		Sycl__V1__Packet *packet = client_receive(sockets[1]);
		if (!packet)
			break;
		packet_free(packet);
	}
	await_log("it sends messages that were not requested", 1);
	say(0, "ping");
	end_holders(2);
}

Test(engines, TG15_one_that_reports_memory_that_was_not_requested_is_ended)
{
	start_holders((const unsigned[]){64}, 1);
	engine_send(sockets[0], "volunteer");
	Sycl__V1__Packet *packet = client_receive(sockets[0]);
	if (packet) {
		packet_free(packet);
		cr_expect(eq(ptr, client_receive(sockets[0]), NULL));
	}
	await_log("it sends messages that were not requested", 1);
	end_holders(1);
}

Test(engines, TG15_one_that_asks_very_often_is_answered_with_nothing)
{
	enum { ASKS = 65 };
	start_holders((const unsigned[]){64, 0}, 2);
	unsigned long freed_mib = 0;
	/* It never uses the memory that it got. If it requests as often as it may, it is refused
	 * within a second, or the other one has nothing left to give. */
	for (unsigned i = 0; i < ASKS; i++)
		freed_mib += ask(1, 1);
	cr_expect(le(ulong, freed_mib, 33ul));
	cr_expect(eq(ulong, ask(1, 1), 0ul));
	end_holders(2);
}
