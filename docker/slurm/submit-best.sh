#!/bin/bash
# submit-best.sh SPEC OUT PARTS [TASKS]: a job array of so many searches of a request, and a job that makes their answers
# one. TASKS, as 3,7-9, submits these again.
set -eu
SDIP_WORK=best- exec "$(dirname "$0")/submit.sh" "$@"
