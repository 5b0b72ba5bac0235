#!/bin/bash
# Joins the parts of a sweep when all tasks of docker/slurm/part.sh have ended well.
#SBATCH --job-name=sdip-merge
#SBATCH --output=sdip-merge.log
set -eu
: "${SDIP_OUT:?the folder of all parts}" "${SDIP_PARTS:?how many parts the sweep has}"
parts=()
for ((k = 1; k <= SDIP_PARTS; ++k)); do parts+=("$SDIP_OUT/part-$k"); done
exec "${SDIP:-sdip}" merge "$SDIP_OUT/whole" "${parts[@]}"
