/*
 * The wake protocol of one session (shared/wake.h, docs/protocol.md), as a model that spin checks in every order.
 *
 * Two processes: the client sends MESSAGES requests and sleeps until it has as many replies; the engine sleeps until
 * there is a request. Both rings hold CAPACITY records, so each side also sleeps for want of room. Nobody spins.
 *
 * Memory is that of a processor with store buffers (TSO): what a process stores is seen by the other only later, in
 * order; a fence waits until its own buffer is empty; an exchange acts on memory with the buffer empty. The one load of
 * a word that the process stores itself is wake_cancel_sleep's, which sees what lies in its own buffer first; the others
 * need not look there. This is the one reordering that can lose a wake-up; weaker processors reorder more, and there the
 * same fences forbid the same thing.
 *
 * A lost wake-up is a state in which a process sleeps for ever: spin reports it as an invalid end state.
 *
 * Mutants, each of which spin must find wrong: NO_CLAIM_FENCE, NO_SLEEP_FENCE (the two fences of wake.h),
 * NO_RECHECK (sleeping without a look after the flag is set), NO_ROOM_WAKE (the reader forgets who waits for room),
 * LATE_AWAITS (client_awaits is stored after the fence), NO_STALL_WAKE (a client that awaits something else is not woken
 * when replies find no room).
 *
 * A client that has sent all its requests sleeps for the last reply alone, as for a slot; in this model the count of
 * replies is the slot.
 */
#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef CAPACITY
#define CAPACITY 1
#endif
#define BUFFER 4

#define CLIENT 0
#define ENGINE 1

mtype = { SUBMIT_HEAD, SUBMIT_TAIL, REPLY_HEAD, REPLY_TAIL,
	  ENGINE_SLEEPS, CLIENT_SLEEPS, CLIENT_WANTS_ROOM, ENGINE_WANTS_ROOM, CLIENT_AWAITS };

byte memory[10];                    /* by mtype, from 1 */
chan stores[2] = [BUFFER] of { mtype, byte };

bit bell;                           /* the eventfd under an edge-triggered watcher: it rang since the last look */
byte datagrams;                     /* in the client's socket; DATAGRAMS of them fill it */
#define DATAGRAMS 2

#define STORE(word, value) stores[self]!word, value
#define FENCE() empty(stores[self])

proctype store_buffer(byte self)
{
	mtype word;
	byte value;
end:
	do
	:: atomic { stores[self]?word, value -> memory[word] = value }
	od
}

/* session_wake_client: `forced` is NOTIFY_ANY. */
inline wake_client(forced)
{
#ifndef NO_CLAIM_FENCE
	FENCE();
#endif
	if
	:: memory[CLIENT_SLEEPS] == 0
	:: else ->
		awaits = memory[CLIENT_AWAITS];
		if
		:: forced || awaits == 0 || answered >= awaits -> claim_and_wake(CLIENT_SLEEPS)
		:: else
		fi
	fi
}

/* wake_claim, and the wake-up: by the client a ring of the bell, by the engine a datagram (EAGAIN is as good). */
inline claim_and_wake(word)
{
#ifndef NO_CLAIM_FENCE
	FENCE();
#endif
	if
	:: memory[word] == 0
	:: else ->
		atomic {
			empty(stores[self]);
			claimed = memory[word];
			memory[word] = 0
		}
		if
		:: claimed && self == CLIENT -> bell = 1
		:: claimed && self == ENGINE -> atomic { if :: datagrams < DATAGRAMS -> datagrams++ :: else fi }
		:: else
		fi;
		claimed = 0
	fi
}

inline sleep_fence()
{
#ifndef NO_SLEEP_FENCE
	FENCE()
#else
	skip
#endif
}

/* wake_cancel_sleep, right after the flag was put up: it stores only where it does not find the flag down already. */
inline cancel_sleep(word)
{
	if
	:: stores[self]??[word, 1] || memory[word] != 0 -> STORE(word, 0)
	:: else
	fi
}

proctype client()
{
	byte self = CLIENT;
	byte sent, received, head, tail;
	bit claimed, wants_room;

	do
	:: received == MESSAGES -> break
	:: else ->
		/* Take what replies there are, give their room back. */
		head = memory[REPLY_HEAD];
		if
		:: head != received ->
			received = head;
			STORE(REPLY_TAIL, received);
#ifndef NO_ROOM_WAKE
			claim_and_wake(ENGINE_WANTS_ROOM);
#endif
			goto again
		:: else
		fi;
		/* Send if there is room. */
		tail = memory[SUBMIT_TAIL];
		if
		:: sent < MESSAGES && sent - tail < CAPACITY ->
			sent++;
			STORE(SUBMIT_HEAD, sent);
			claim_and_wake(ENGINE_SLEEPS);
			goto again
		:: else
		fi;
		/* Nothing to do: set the flags, look again, sleep. */
		wants_room = (sent < MESSAGES);
#ifndef LATE_AWAITS
		STORE(CLIENT_AWAITS, (wants_room -> 0 : MESSAGES));
#endif
		STORE(CLIENT_SLEEPS, 1);
		if
		:: wants_room -> STORE(CLIENT_WANTS_ROOM, 1)
		:: else
		fi;
		sleep_fence();
#ifndef NO_RECHECK
		head = memory[REPLY_HEAD];
		tail = memory[SUBMIT_TAIL];
#ifdef LATE_AWAITS
		STORE(CLIENT_AWAITS, (wants_room -> 0 : MESSAGES));
#endif
		if
		:: head != received || (wants_room && sent - tail < CAPACITY) -> goto awake
		:: else
		fi;
#endif
		/* poll returns when a datagram is there; the client may read one or all. */
		atomic { datagrams > 0 -> if :: datagrams-- :: datagrams = 0 fi };
awake:
		cancel_sleep(CLIENT_SLEEPS);
		if
		:: wants_room -> cancel_sleep(CLIENT_WANTS_ROOM)
		:: else
		fi;
again:
		skip
	od
}

proctype engine()
{
	byte self = ENGINE;
	byte taken, answered, head, tail, awaits;
	bit claimed, wants_room;

	do
	:: answered == MESSAGES -> break
	:: else ->
		/* Answer what was taken. A full reply ring: this session is no longer read. */
		tail = memory[REPLY_TAIL];
		if
		:: answered < taken && answered - tail < CAPACITY ->
			answered++;
			STORE(REPLY_HEAD, answered);
			wake_client(0);
			goto again
		:: else
		fi;
		head = memory[SUBMIT_HEAD];
		if
		:: answered == taken && head != taken ->
			taken++;
			STORE(SUBMIT_TAIL, taken);
#ifndef NO_ROOM_WAKE
			claim_and_wake(CLIENT_WANTS_ROOM);
#endif
			goto again
		:: else
		fi;
		wants_room = (answered < taken);
#ifndef NO_STALL_WAKE
		if
		:: wants_room -> wake_client(1)
		:: else
		fi;
#endif
		if
		:: wants_room -> STORE(ENGINE_WANTS_ROOM, 1)
		:: else -> STORE(ENGINE_SLEEPS, 1)
		fi;
		sleep_fence();
#ifndef NO_RECHECK
		head = memory[SUBMIT_HEAD];
		tail = memory[REPLY_TAIL];
		if
		:: (!wants_room && head != taken) || (wants_room && answered - tail < CAPACITY) -> goto awake
		:: else
		fi;
#endif
		atomic { bell -> bell = 0 };
awake:
		if
		:: wants_room -> cancel_sleep(ENGINE_WANTS_ROOM)
		:: else -> cancel_sleep(ENGINE_SLEEPS)
		fi;
again:
		skip
	od;
	/* Room is never more than there is, and nothing is answered that was not asked. */
	assert(taken == MESSAGES)
}

init
{
	atomic {
		memory[CLIENT_AWAITS] = MESSAGES + 1; /* what an earlier wait left behind, which never comes */
		run store_buffer(CLIENT);
		run store_buffer(ENGINE);
		run client();
		run engine()
	}
}
