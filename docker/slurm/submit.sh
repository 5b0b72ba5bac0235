#!/bin/bash
# submit.sh SPEC OUT PARTS [TASKS]: a job array that evaluates a sweep in parts, and a job that joins them. TASKS, as
# 3,7-9, submits these parts again; those that are whole end at once. SDIP_WORK names other scripts: submit-best.sh.
set -eu
[ $# -ge 3 ] || { echo "usage: $0 SPEC OUT PARTS [TASKS]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
SDIP_SPEC=$(realpath "$1") SDIP_OUT=$(realpath "$2") SDIP_PARTS=$3
export SDIP_SPEC SDIP_OUT SDIP_PARTS
cd "$SDIP_OUT"
array=$(sbatch --parsable --array="${4:-1-$SDIP_PARTS}" "$here/${SDIP_WORK:-}part.sh")
sbatch --dependency="afterok:${array%%;*}" "$here/${SDIP_WORK:-}merge.sh"
