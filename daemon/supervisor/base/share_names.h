/*
 * Names in [shares] that are not in the user database. Most likely they are misspelt, so the user
 * that was meant has no share. They are no error of the file, as a user may be made later. They are
 * logged at the start and at each reload, and printed by `sycld --check`.
 */
#ifndef SYCLD_SUPERVISOR_SHARE_NAMES_H
#define SYCLD_SUPERVISOR_SHARE_NAMES_H

struct configuration;

/* Look such names up without waiting, and log them. */
void share_names_review(const struct configuration *configuration);

#endif
