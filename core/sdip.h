// All of SDIP Explorer's core in one include, for programs that use it as a library.
//
//     ONNX bytes -> Graph -> Program -> Report -> metrics -> front
//
// Core is free functions on plain values, and does no input or output. Those that one usually calls, in this order:
//
//   import_onnx(bytes)               reads a model                        core/onnx/import.h
//   rewrite(graph)                   finds what its exporter took apart   core/graph/graph.h
//   compile(workload, machine)       makes the program of each stage      core/program/program.h
//   execute(stage, machine, ...)     computes a program's tensors         core/exec/chip/execute.h
//   step(program, machine, ...)      counts a program's cycles and bytes  core/exec/clock/step.h
//   run_pipeline(application, ...)   runs a stream of frames              core/exec/run/pipeline.h
//   estimate(application, machine)   says what it costs, by formulas      core/cost/price/estimate.h
//   evaluate(application, machine)   the same, the metrics alone          core/cost/price/estimate.h
//   sweep(space, ...)                evaluates many machines              core/explore/sweep.h
//   pareto_front(columns, better)    finds the best of them               core/explore/front.h
//
// How long ResNet-50 takes on the preset `edge`, from the bytes of its ONNX file:
//
//     Graph graph = import_onnx(bytes);
//     rewrite(graph);
//     const Stage network = {Role::network, "resnet50", std::make_shared<const Graph>(graph), {}};
//     const Machine& machine = find_preset("edge")->machine;
//     const Report report = estimate(compile({"resnet50", {network}}, machine), machine);
//     const double seconds = report.outcome.values[Metric::latency_s];
//
// tests/core/study/sdip_test.cpp runs this example. The sources of this repository do not include this header but
// those that they use, so that few are compiled again after a change.
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
