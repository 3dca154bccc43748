/* Entries for the journal: their fields, their size, and which users cannot read them. */
#include "base/journal.h"
#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ENTRY_BYTES = 8192, KINDS = 7, MANY = 100000 };

static char folder[] = "/tmp/sycl-journal.XXXXXX";
static char path[64];
static int reader = -1;

static void bind_reader(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	reader = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	cr_assert(zero(int, bind(reader, (struct sockaddr *)&address, sizeof(address))));
}

static void open_reader(void)
{
	cr_assert(ne(ptr, mkdtemp(folder), NULL));
	(void)snprintf(path, sizeof(path), "%s/socket", folder);
	bind_reader();
}

static void close_reader(void)
{
	close_fd(&reader);
	(void)unlink(path);
	(void)rmdir(folder);
}

TestSuite(journal, .init = open_reader, .fini = close_reader, .timeout = 30);

static const char *entry_of(const char *text, const struct log_fields *fields)
{
	static char entry[ENTRY_BYTES];
	CLEANUP(close_fd) int fd = journal_open(path);
	cr_assert(ge(int, fd, 0));
	cr_assert(journal_send(path, &fd, 4, "engine", text, fields));
	ssize_t count = recv(reader, entry, sizeof(entry) - 1, 0);
	cr_assert(gt(long, (long)count, 0));
	entry[count] = '\0';
	return entry;
}

static void must_have(const char *entry, const char *line)
{
	cr_expect(ne(ptr, (void *)(uintptr_t)strstr(entry, line), NULL), "'%s' is not in: %s", line,
		  entry);
}

Test(journal, an_entry_has_the_fields_that_apply)
{
	const struct log_fields fault = {
		.kind = 3, .has_uid = true, .uid = 1000, .session = 7, .kernel = "saxpy"};
	const char *entry = entry_of("pid 5: offender", &fault);
	must_have(entry, "PRIORITY=4\n");
	must_have(entry, "\nMESSAGE=pid 5: offender\n");
	must_have(entry, "\nSYCLD_UID=1000\n");
	must_have(entry, "\nSYCLD_SESSION=7\n");
	must_have(entry, "\nSYCLD_KERNEL=saxpy\n");
	const struct log_fields order = {.kind = 4, .kernel = ""};
	entry = entry_of("all", &order);
	cr_expect(eq(ptr, (void *)(uintptr_t)strstr(entry, "SYCLD_UID"), NULL));
	cr_expect(eq(ptr, (void *)(uintptr_t)strstr(entry, "SYCLD_SESSION"), NULL));
	cr_expect(eq(ptr, (void *)(uintptr_t)strstr(entry, "SYCLD_KERNEL"), NULL));
}

/* The user chooses a kernel's name. */
Test(journal, a_value_adds_no_field_of_its_own)
{
	const struct log_fields fields = {.kind = 3, .kernel = "k\nSYCLD_UID=0\nPRIORITY=0"};
	const char *entry = entry_of("text\n_UID=0", &fields);
	cr_expect(eq(ptr, (void *)(uintptr_t)strstr(entry, "\nSYCLD_UID=0"), NULL), "%s", entry);
	cr_expect(eq(ptr, (void *)(uintptr_t)strstr(entry, "\n_UID=0"), NULL), "%s", entry);
	must_have(entry, "\nSYCLD_KERNEL=k SYCLD_UID=0 PRIORITY=0\n");
}

Test(journal, every_kind_has_its_own_id_and_an_entry_in_the_catalog)
{
	static char catalog[1 << 16];
	char ids[KINDS][33], header[64];
	FILE *file = fopen(CATALOG, "re");
	cr_assert(ne(ptr, file, NULL));
	size_t count = fread(catalog, 1, sizeof(catalog) - 1, file);
	(void)fclose(file);
	cr_assert(gt(sz, count, 0));
	for (int i = 0; i < KINDS; i++) {
		const struct log_fields fields = {.kind = i + 1, .kernel = ""};
		const char *id = strstr(entry_of("text", &fields), "\nMESSAGE_ID=");
		cr_assert(ne(ptr, (void *)(uintptr_t)id, NULL));
		(void)snprintf(ids[i], sizeof(ids[i]), "%.32s", id + strlen("\nMESSAGE_ID="));
		(void)snprintf(header, sizeof(header), "-- %.32s\nSubject: ", ids[i]);
		must_have(catalog, header);
		for (int j = 0; j < i; j++)
			cr_expect(ne(int, strcmp(ids[i], ids[j]), 0));
	}
	const struct log_fields none = {.kind = KINDS + 1, .kernel = ""};
	cr_expect(eq(ptr, (void *)(uintptr_t)strstr(entry_of("text", &none), "MESSAGE_ID"), NULL));
}

Test(journal, a_journal_that_does_not_read_is_not_waited_for)
{
	const struct log_fields fields = {.kind = 1, .kernel = ""};
	CLEANUP(close_fd) int fd = journal_open(path);
	int i = 0;
	while (i < MANY && journal_send(path, &fd, 6, "engine", "text", &fields))
		i++;
	cr_expect(lt(int, i, MANY), "the socket's queue has an end");
	cr_expect(lt(int, journal_open("/no/such/socket"), 0));
}

static void must_receive(const char *line)
{
	char entry[ENTRY_BYTES];
	ssize_t count = recv(reader, entry, sizeof(entry) - 1, MSG_DONTWAIT);
	cr_assert(gt(long, (long)count, 0), "%s did not arrive", line);
	entry[count] = '\0';
	must_have(entry, line);
}

Test(journal, a_journal_that_was_started_again_gets_what_follows)
{
	const struct log_fields fields = {.kind = 1, .kernel = ""};
	CLEANUP(close_fd) int fd = journal_open(path);
	cr_assert(journal_send(path, &fd, 6, "engine", "first", &fields));
	must_receive("\nMESSAGE=first\n");
	close_fd(&reader);
	cr_expect(not(journal_send(path, &fd, 6, "engine", "nobody reads", &fields)));
	(void)unlink(path);
	cr_expect(not(journal_send(path, &fd, 6, "engine", "there is none", &fields)));
	bind_reader();
	cr_assert(journal_send(path, &fd, 6, "engine", "second", &fields));
	must_receive("\nMESSAGE=second\n");
	/* Between two entries. */
	close_fd(&reader);
	(void)unlink(path);
	bind_reader();
	cr_assert(journal_send(path, &fd, 6, "engine", "third", &fields));
	must_receive("\nMESSAGE=third\n");
}
