// SDIP Explorer's core in seven verbs. Read this first.
//
//     ONNX bytes -> Graph -> Program -> Report -> metrics -> front
//
//   import_onnx(bytes)              what the model is                      core/onnx/import.h
//   rewrite(graph)                  what its exporter meant                core/graph/graph.h
//   compile(workload, machine)      what SDIP runs                         core/program/program.h
//   execute(stage, machine, ...)    what it computes                       core/exec/chip/execute.h
//   run_pipeline(application, ...)  what a stream of frames takes, run     core/exec/run/pipeline.h; one program:
//   step.h estimate(application, machine)  what it costs, and evaluate(...), the metrics alone
//   core/cost/price/estimate.h sweep(space, ...)               which machine is best core/explore/sweep.h
//
// All are free functions on plain values. Core does no I/O: bytes in, values out.
#pragma once

#include "core/cost/price/estimate.h"
#include "core/exec/chip/execute.h"
#include "core/exec/clock/step.h"
#include "core/exec/run/pipeline.h"
#include "core/explore/front.h"
#include "core/explore/sweep.h"
#include "core/graph/graph.h"
#include "core/machine/machine.h"
#include "core/onnx/import.h"
#include "core/program/program.h"
#include "core/workload/workload.h"
