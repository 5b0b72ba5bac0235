// The axes of a sweep as drafted in the form, and the request they become.
import type { Axis, Machine, Parameter, ParameterValue, SweepRequest } from '../api/types';
import { requestOf } from '../sweep/formulas';
import { linksOf, unlinked } from './links';
import { changesOf, inputText, parseValue, type Fault } from './values';

export interface AxisDraft {
  parameter: string;
  kind: 'values' | 'step' | 'factor';
  /** Texts, for the kind `values`. */
  values: string;
  min: string;
  max: string;
  by: string;
  /** A condition on other parameters: where it does not hold, the machine's own value stands. */
  when?: string;
}

const nameOf = (parameter: Parameter) => parameter.name as Axis['parameter'];

export type AxisResult = { axis: Axis; count: number } | { fault: Fault };

/** A first draft for a parameter: every choice, or some values around the present one. */
export function draftFor(parameter: Parameter, present: ParameterValue): AxisDraft {
  const base = { parameter: parameter.name, kind: 'values' as const, min: '', max: '', by: '2' };
  if (parameter.type === 'flag') return { ...base, values: 'false, true' };
  if (parameter.type === 'choice') {
    return { ...base, values: parameter.choices.join(', ') };
  }
  const around = [0.25, 0.5, 1, 2, 4].map((factor) => Number(present) * factor);
  const fitting = around.filter((value) => 'value' in parseValue(parameter, String(value)));
  const values = [...new Set(fitting.length > 0 ? fitting : [Number(present)])];
  const [low, high] = [values[0] ?? 0, values[values.length - 1] ?? 0];
  return {
    ...base,
    values: values.map((value) => inputText(parameter, value)).join(', '),
    min: inputText(parameter, low),
    max: inputText(parameter, high),
  };
}

function listAxis(draft: AxisDraft, parameter: Parameter): AxisResult {
  const texts = draft.values.split(/[,;\n]+(?!\d{3}\b)/).map((text) => text.trim()).filter((text) => text !== '');
  if (texts.length === 0) return { fault: { key: 'fault.empty_axis', values: {} } };
  const values: ParameterValue[] = [];
  for (const text of texts) {
    const parsed = parseValue(parameter, text);
    if ('fault' in parsed) return parsed;
    if (values.includes(parsed.value)) return { fault: { key: 'fault.twice', values: { value: text } } };
    values.push(parsed.value);
  }
  return { axis: { parameter: nameOf(parameter), values }, count: values.length };
}

/** How many values a range takes, its ends included where they are met. */
export function rangeCount(min: number, max: number, kind: 'step' | 'factor', by: number): number {
  if (kind === 'step') return Math.floor((max - min) / by + 1e-9) + 1;
  return Math.floor(Math.log(max / min) / Math.log(by) + 1e-9) + 1;
}

function rangeAxis(draft: AxisDraft, parameter: Parameter, kind: 'step' | 'factor'): AxisResult {
  const low = parseValue(parameter, draft.min);
  if ('fault' in low) return low;
  const high = parseValue(parameter, draft.max);
  if ('fault' in high) return high;
  const by = parseValue({ ...parameter, type: kind === 'factor' ? 'decimal' : parameter.type, min: null, max: null }, draft.by);
  if ('fault' in by) return by;
  const [min, max, size] = [Number(low.value), Number(high.value), Number(by.value)];
  if (min > max) return { fault: { key: 'fault.order', values: {} } };
  if (kind === 'step' && size <= 0) return { fault: { key: 'fault.step', values: {} } };
  if (kind === 'factor' && (size <= 1 || min <= 0)) return { fault: { key: 'fault.factor', values: {} } };
  const axis: Axis = { parameter: nameOf(parameter), min, max, ...(kind === 'step' ? { step: size } : { factor: size }) };
  return { axis, count: rangeCount(min, max, kind, size) };
}

/** The axis a draft means and how many values it takes, or what is wrong with it. */
export function axisOf(draft: AxisDraft, parameter: Parameter): AxisResult {
  const result = draft.kind === 'values' ? listAxis(draft, parameter) : rangeAxis(draft, parameter, draft.kind);
  const when = draft.when?.trim();
  return 'axis' in result && when ? { ...result, axis: { ...result.axis, when } } : result;
}

export interface SweepDraft {
  name: string;
  model: string;
  preset: string;
  machine: Machine;
  axes: AxisDraft[];
  sampling: NonNullable<SweepRequest['sampling']>;
  seed: number;
  count: number;
  objectives: string[];
  /** Metrics of one's own, a line each. */
  formulas: string;
  /** Rows that follow others, a line each. */
  links: string;
  formats: string;
}

/** The body of POST /sweeps. A parameter on an axis is not also fixed. */
export function sweepRequest(draft: SweepDraft, axes: Axis[]): SweepRequest {
  const said = requestOf(draft.formulas);
  const own = { ...said, metrics: Object.keys(said.metrics).length > 0 ? said.metrics : null };
  const swept = new Set<string>(axes.map((axis) => axis.parameter));
  const machine = Object.fromEntries(Object.entries(draft.machine).filter(([name]) => !swept.has(name)));
  const links = linksOf(draft.links);
  return {
    ...(draft.name.trim() ? { name: draft.name.trim() } : {}),
    model: draft.model,
    preset: draft.preset,
    machine: changesOf(unlinked(machine, links)),
    sampling: draft.sampling,
    seed: draft.seed,
    ...(draft.sampling !== 'grid' ? { count: draft.count } : {}),
    axes,
    ...(links.length > 0 ? { links } : {}),
    ...(own.metrics ? { metrics: own.metrics } : {}),
    objectives: [...draft.objectives, ...own.objectives],
    ...(draft.formats.trim() ? { formats: draft.formats } : {}),
  };
}
