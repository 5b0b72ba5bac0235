#!/bin/bash
# One part of a sweep, as a task of a Slurm job array; docs/cluster.md says how it is used. Run again, after it was
# killed or requeued, it evaluates what is still missing.
#SBATCH --job-name=sdip-part
#SBATCH --cpus-per-task=2
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=sdip-part-%a.log
set -eu
: "${SDIP_SPEC:?the sweep, as POST /sweeps takes it}" "${SDIP_OUT:?the folder of all parts}"
: "${SDIP_PARTS:?how many parts the sweep has}" "${SLURM_ARRAY_TASK_ID:?which of them this is}"
exec "${SDIP:-sdip}" sweep --spec "$SDIP_SPEC" --part "$SLURM_ARRAY_TASK_ID/$SDIP_PARTS" \
  --data "$SDIP_OUT/part-$SLURM_ARRAY_TASK_ID"
