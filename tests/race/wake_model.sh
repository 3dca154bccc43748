#!/bin/sh
# wake_model.sh holds|fails MODEL FOLDER CC [-Dname[=value]]...
# Searches every order of the model's steps. `holds`: no order may be wrong, and the search must have been whole.
# `fails`: spin must find a wrong order, which shows that the model can see what it is for.
set -eu
expected=$1 model=$2 folder=$3 cc=$4
shift 4
command -v spin >/dev/null || { echo "spin is not installed"; exit 77; }

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
spin -a "$@" "$model"
"$cc" -O1 -w -DSAFETY -o pan pan.c
# Room for a path of a million steps; errors are counted from the text, since pan's exit code is 0 either way.
./pan -m1000000 -w24 | tee result.txt

if grep -q -e 'max search depth too small' -e 'Search not completed' -e 'out of memory' result.txt; then
	[ "$expected" = fails ] || { echo "the search was not whole"; exit 1; }
fi
case $expected in
holds) grep -q 'errors: 0$' result.txt ;;
fails) grep -q '^pan:1: invalid end state' result.txt && grep -q 'errors: 1$' result.txt ;;
*) exit 2 ;;
esac
