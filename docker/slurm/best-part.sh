#!/bin/bash
# One of several searches of a request, as a task of a Slurm job array; docs/cluster.md says how it is used. Run again,
# after it was killed or requeued, it searches anew, and finds the same where the request says its evaluations.
#SBATCH --job-name=sdip-best-part
#SBATCH --cpus-per-task=2
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=sdip-best-part-%a.log
set -eu
: "${SDIP_SPEC:?the search, as POST /searches takes it}" "${SDIP_OUT:?the folder of all answers}"
: "${SDIP_PARTS:?how many searches there are}" "${SLURM_ARRAY_TASK_ID:?which of them this is}"
answer=$SDIP_OUT/part-$SLURM_ARRAY_TASK_ID.json
# 3: no machine that it found keeps the conditions, which is an answer, too.
"${SDIP:-sdip}" best --spec "$SDIP_SPEC" --part "$SLURM_ARRAY_TASK_ID/$SDIP_PARTS" --json > "$answer.new" || [ $? -eq 3 ]
mv "$answer.new" "$answer"
