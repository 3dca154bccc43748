/*
 * Names in [shares] that are not in the user database. Most likely they are misspelt, so the
 * intended user has no share. They are no error of the file, because a user may be added later.
 * They are logged at the start and at each reload, and printed by `sycld --check`.
 */
#ifndef SYCLD_SUPERVISOR_SHARE_NAMES_H
#define SYCLD_SUPERVISOR_SHARE_NAMES_H

struct configuration;

/* Looks such names up without waiting, and logs them. */
void share_names_review(const struct configuration *configuration);

#endif
