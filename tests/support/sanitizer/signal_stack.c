/*
 * A thread that gets a signal stack of the heap, as LLVM gives to PoCL's threads on many machines,
 * and ends with it. AddressSanitizer then dies on any machine, unless it leaves signal stacks alone
 * (options.c).
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { STACK_BYTES = 1 << 20 };

static void *set_signal_stack(void *memory)
{
	stack_t stack = {.ss_sp = memory, .ss_size = STACK_BYTES};
	return sigaltstack(&stack, NULL) == 0 ? memory : NULL;
}

int main(void)
{
	pthread_t thread;
	void *memory = malloc(STACK_BYTES), *given = NULL;
	if (!memory || pthread_create(&thread, NULL, set_signal_stack, memory) != 0 ||
	    pthread_join(thread, &given) != 0 || !given) {
		(void)fprintf(stderr, "no thread with a signal stack of its own\n");
		return 1;
	}
	free(memory);
	return 0;
}
