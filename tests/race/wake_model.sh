#!/bin/sh
# wake_model.sh holds|fails MODEL FOLDER CC [-Dname[=value]]... searches every order of the model's steps. `holds`: no order may be wrong,
# and the search must have been complete. `fails`: spin must find a wrong order, which shows that the model can detect the fault.
set -eu
expected=$1 model=$2 folder=$3 cc=$4
shift 4
command -v spin >/dev/null || { echo "spin is not installed"; exit 77; }

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
spin -a "$@" "$model"
"$cc" -O1 -w -DSAFETY -o pan pan.c
# There is room for a path of a million steps. Errors are counted in the text, because pan's exit status is 0 either way.
./pan -m1000000 -w24 | tee result.txt

if grep -q -e 'max search depth too small' -e 'Search not completed' -e 'out of memory' result.txt; then
	[ "$expected" = fails ] || { echo "the search was not complete"; exit 1; }
fi
case $expected in
holds) grep -q 'errors: 0$' result.txt ;;
fails) grep -q '^pan:1: invalid end state' result.txt && grep -q 'errors: 1$' result.txt ;;
*) exit 2 ;;
esac
