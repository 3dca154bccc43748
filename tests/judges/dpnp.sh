#!/bin/bash
# dpnp.sh BUILD OUT FOLDER [PART]: dpnp's own tests, both ways, as dpctl.sh runs those of a package. There are 96,000 of them in dpnp 0.20.
# Without PART, those of some whole files are run: creation, copies, sorting, linear equations, functions of elements, USM. PART: a regular
# expression of the tests' names; "." for all.
part=${4:-'^(test_(flat|outer|fill|memory|copy|utils|functional|counting|array_utils|mixins)|tensor/test_tensor_(asarray|copy_utils|diff)|tensor/elementwise/test_(abs|exp|log|sqrt)|third_party/cupy/(sorting_tests/test_(sort|count)|creation_tests/test_ranges|linalg_tests/test_solve))\.py'}
exec "$(dirname "${BASH_SOURCE[0]}")/dpctl.sh" "${1:?BUILD OUT FOLDER}" "${2:?BUILD OUT FOLDER}" "${3:?BUILD OUT FOLDER}" dpnp "$part"
