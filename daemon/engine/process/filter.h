/* Takes system calls from an engine for good: those that neither the engine nor a driver needs, and
 * that its user's code could misuse. */
#ifndef SYCL_ENGINE_FILTER_H
#define SYCL_ENGINE_FILTER_H

#include <stdbool.h>

/*
 * The filter holds for all threads of the process, also those of libraries, and for programs that
 * it executes. These calls fail with EPERM: tracing and memory of other processes, mounts,
 * namespaces, keyrings, bpf, userfaultfd, io_uring, perf events, modules, and others that filter.c
 * lists. clone3 fails with ENOSYS, as a filter cannot read its flags; the C library then uses
 * clone. Before the build helper is forked, so that it has the filter, too. Needs no_new_privs
 * (engine_privileges_limit) or root's rights. 0; -ENOSYS: this kernel or this kind of processor has
 * no such filters, and nothing has changed; -ESRCH: a thread has a filter of its own, and nothing
 * has changed; else a negative errno. Main thread, before others run code of a user.
 */
int engine_filter_install(void);

/* True if engine_filter_install has set the filter. */
bool engine_filter_is_installed(void);

/*
 * After engine_filter_install, once: fork, vfork, clone without CLONE_THREAD, execve and execveat
 * fail with EPERM, too. Where the first call of the C library's fork is refused, standard error
 * gets a sentence that names the setting. The kernel's log gets each refusal, where the kernel logs
 * those. 0; -ENOSYS only where engine_filter_install has returned it; -ESRCH and other errors as
 * above: the process can still start others, and must end.
 */
int engine_filter_forbid_processes(void);

#endif
