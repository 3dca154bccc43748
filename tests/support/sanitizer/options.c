/*
 * Options of AddressSanitizer for any machine. They are linked into every program with it, so that
 * engines, children of tests and programs started by hand have them, too. The environment's
 * ASAN_OPTIONS is applied after them.
 *
 * use_sigaltstack=0: LLVM, inside of PoCL, replaces a thread's signal stack by one of the heap if
 * it is smaller than SIGSTKSZ and 64 KiB. The sanitizer's stack is four times SIGSTKSZ, which
 * depends on the processor's registers. It is too small on every processor without AMX. At the
 * thread's end the sanitizer unmaps the current stack, a piece of the heap, and dies: "failed to
 * deallocate".
 *
 * intercept_tls_get_addr=0: otherwise the leak checker itself sometimes crashes ("Tracer caught
 * signal 11") in a process with PoCL's threads. It reads thread-local blocks that ended with their
 * thread.
 *
 * handle_segv=0 and the like, in the engine only: a kernel's fault ends an engine by a signal,
 * which users see. The sanitizer would report it and abort(), and the service does not attribute an
 * engine's abort() to a kernel.
 */

#ifdef RUNS_KERNELS
#define FAULTS ":handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0"
#else
#define FAULTS ""
#endif

const char *__asan_default_options(void); /* the sanitizer's name for it */

__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
	return "use_sigaltstack=0:intercept_tls_get_addr=0" FAULTS;
}
