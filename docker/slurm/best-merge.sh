#!/bin/bash
# The best of the answers of docker/slurm/best-part.sh, when all its tasks have ended well.
#SBATCH --job-name=sdip-best-merge
#SBATCH --cpus-per-task=2
#SBATCH --output=sdip-best-merge.log
set -eu
: "${SDIP_OUT:?the folder of all answers}" "${SDIP_PARTS:?how many searches there are}"
answers=()
for ((k = 1; k <= SDIP_PARTS; ++k)); do answers+=("$SDIP_OUT/part-$k.json"); done
"${SDIP:-sdip}" best --merge "${answers[@]}" --json > "$SDIP_OUT/best.json.new" || [ $? -eq 3 ]
mv "$SDIP_OUT/best.json.new" "$SDIP_OUT/best.json"
