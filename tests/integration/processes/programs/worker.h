/*
 * The client programs of the tests with several processes: one executable, with a sub-command for
 * each kind of client. They print lines on stdout for the test. A line on stdin lets a waiting one
 * continue. Exit status 0: everything was correct.
 */
#ifndef SYCL_TESTS_WORKER_H
#define SYCL_TESTS_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <syclclient.h>

struct worker {
	const char *endpoint; /* --endpoint; NULL: the library finds or starts a service */
	uint64_t seed;        /* --seed */
	uint64_t count;       /* --count; its meaning depends on the sub-command */
	unsigned device;      /* --device: the number of a fake device */
	bool fork_child;      /* --fork-child: a child that keeps every descriptor stays alive */
	sycl_platform platform;
	sycl_queue queue; /* in order, on the default device */
};

typedef int worker_command(struct worker *worker);

worker_command worker_mix;   /* checked mixture of kernels, fills, copies and host accessors */
worker_command worker_churn; /* unchecked work until it is killed */
worker_command
	worker_chaos; /* checked work, anew after each error, until a line ends the disturbances */
worker_command worker_endless; /* a kernel that never ends; waits for it */
worker_command worker_blocked; /* waits for a group that was sent to no device yet */
worker_command worker_steps;   /* one piece of checked work for each line of stdin, until it ends */
worker_command worker_cycles;  /* connect, work, disconnect, `count` times; prints a line after each
				  five hundred */
worker_command worker_open;    /* waits for a line, connects, works, prints its session */
worker_command worker_build_fails;   /* a source with a mistake */
worker_command worker_build_eats;    /* a source whose compilation uses all memory */
worker_command worker_build_endless; /* a source whose compilation does not end */
worker_command worker_null;          /* a kernel that writes through a null pointer */
worker_command worker_count;     /* `count` dependent kernels, none waited for before the last */
worker_command worker_gpu_steps; /* checked work on an NVIDIA GPU, `count` launches for each line of
				    stdin */
worker_command
	worker_gpu_illegal; /* a kernel that fails after a line of stdin: this and the next four */
worker_command worker_gpu_misaligned;
worker_command worker_gpu_asserts;
worker_command worker_gpu_traps;
worker_command worker_gpu_recurses;
worker_command worker_fault; /* kernels that fail on a CUDA device, on orders from stdin */
worker_command worker_share; /* shares memory and events of an NVIDIA GPU, on orders from stdin */
worker_command worker_task;  /* inside of a host task until a line comes, three times */
worker_command worker_usm;   /* allocations of every kind, over two connections, `count` times */
worker_command worker_calls; /* system calls of a kernel on the CPU device */
worker_command worker_breed; /* a kernel on the CPU device that starts up to `count` processes */
worker_command worker_breed_threads; /* the same with threads */
worker_command worker_eat;           /* a kernel on the CPU device that takes up to `count` MiB */
worker_command worker_sizes;         /* checked launches with many sizes of work-groups */
worker_command worker_loads;         /* a source that would run code where it is built */
worker_command worker_crowd;  /* `count` connections, every tenth works; a line between joining,
				 working and leaving */
worker_command worker_storm;  /* `count` connections, all greeted before the first answer is read */
worker_command worker_trips;  /* `count` launches, each waited for */
worker_command worker_stream; /* `count` launches, the last one waited for */
worker_command worker_take;   /* keeps a fake device busy, with kernels of `count` us */
worker_command worker_split;  /* launches that may be split, on a fake device, `count` times */
worker_command worker_split_portable; /* the same of a portable kernel, on the default device, of
					 several ranges */
worker_command worker_parts; /* after a line of stdin, `count` launches that take seconds and may be
				split; prints how they end */
worker_command worker_beside;    /* short checked work on a fake device for each line "work"; other
				    lines name a kernel to run */
worker_command worker_undrained; /* a session that fills both rings and reads no answer until a line
				    comes */

/* Connects and makes the queue. Prints "session N". Exits on an error. */
void worker_connect(struct worker *worker);
/* The same with a queue on a fake device; prints nothing. */
void worker_connect_fake(struct worker *worker, uint32_t properties);
void worker_disconnect(struct worker *worker);

/* Unless `result` is 0, exits with status 1 and prints the failed call and the library's
 * sentence. */
void worker_must(sycl_result result, const char *what);
/* Leaves with status 1 unless `holds`. */
void worker_check(bool holds, const char *what);
/* Prints a line, at once. */
__attribute__((format(printf, 1, 2))) void worker_say(const char *format, ...);
/* Prints "result CODE NAME SENTENCE" of a call that ended. */
void worker_say_result(sycl_result result);
/* Reads the next line of stdin; false: it has ended. */
bool worker_next_line(void);

/* The next number of the worker's own sequence; below `bound`. */
uint32_t worker_random(struct worker *worker, uint32_t bound);
/* Build a portable source and take one kernel of it. */
sycl_kernel worker_kernel(struct worker *worker, const char *source, const char *name);

#endif
