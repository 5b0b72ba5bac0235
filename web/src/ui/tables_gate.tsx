// Waits for the tables that every page needs, so that pages can take them for granted.
import { createContext, useContext, useMemo, type ReactNode } from 'react';
import { useTables } from '../api/queries';
import type { FieldInfo, Instruction, Machine, Metric, Parameter, Preset, Stage } from '../api/types';
import type { components } from '../api/schema';
import { settingsOf } from '../form/values';
import { useSpeech } from '../i18n/i18n';
import { ErrorBox, Skeleton } from './basics';

export interface Tables {
  parameters: Parameter[];
  metrics: Metric[];
  presets: Preset[];
  /** Figures of a stage and of an instruction that are single numbers, in the order of the answer. */
  stageFields: NumberField<Stage>[];
  instructionFields: NumberField<Instruction>[];
  parameter: (name: string) => Parameter | undefined;
  metric: (name: string) => Metric | undefined;
  /** The machine of a preset, the defaults when there is none of that name. */
  machineOf: (preset: string) => Machine;
  /** Of a metric, a parameter, or what a comparison has besides. */
  unitOf: (column: string) => string;
  /** What is said of a field of a record. */
  field: (record: string, name: string) => FieldInfo | undefined;
}

/** Words for a field, and its number in a record; NaN where the record's is none. */
export interface NumberField<T> extends FieldInfo {
  of: (record: T) => number;
}

/** `others`: fields that are texts, lists or objects. */
function numberFields<T>(fields: FieldInfo[], others: string[]): NumberField<T>[] {
  const number = (value: unknown) => (typeof value === 'number' ? value : NaN);
  return fields
    .filter((one) => !others.includes(one.name))
    .map((one) => ({ ...one, of: (record) => number((record as Record<string, unknown>)[one.name]) }));
}

const TablesContext = createContext<Tables | null>(null);

export function TablesGate({ children }: { children: ReactNode }) {
  const { parameters, metrics, records, presets } = useTables();
  const value = useMemo<Tables | null>(() => {
    if (!parameters.data || !metrics.data || !records.data || !presets.data) return null;
    const fields = (record: string) => records.data.find((one) => one.name === record)?.fields ?? [];
    const field = (record: string, name: string) => fields(record).find((one) => one.name === name);
    const byName = new Map(parameters.data.map((one) => [one.name, one]));
    const metricByName = new Map(metrics.data.map((one) => [one.name, one]));
    const defaults = Object.fromEntries(parameters.data.map((one) => [one.name, one.default]));
    const machines = new Map(presets.data.map((one) => [one.name, settingsOf(one.machine)]));
    return {
      parameters: parameters.data,
      metrics: metrics.data,
      presets: presets.data,
      stageFields: numberFields(fields('StageReport'), ['name', 'role', 'mac_roofs', 'energy_parts_j']),
      instructionFields: numberFields(fields('InstructionCost'), ['limiter', 'busy_cycles', 'energy_parts_j']),
      parameter: (name) => byName.get(name),
      metric: (name) => metricByName.get(name),
      machineOf: (preset) => machines.get(preset) ?? defaults,
      unitOf: (column) => metricByName.get(column)?.unit ?? byName.get(column)?.unit ?? field('ComparedValues', column)?.unit ?? '',
      field,
    };
  }, [parameters.data, metrics.data, records.data, presets.data]);
  const failed = [parameters, metrics, records, presets].find((one) => one.isError);
  if (failed) return <ErrorBox error={failed.error} retry={() => void failed.refetch()} />;
  if (!value) return <Skeleton lines={6} />;
  return <TablesContext value={value}>{children}</TablesContext>;
}

/** The same tables with metrics more: formulas of a sweep. */
export function MoreMetrics({ metrics, children }: { metrics: Metric[]; children: ReactNode }) {
  const tables = useMachineTables();
  const value = useMemo<Tables>(() => {
    const more = new Map(metrics.map((one) => [one.name, one]));
    return {
      ...tables,
      metrics: [...tables.metrics, ...metrics],
      metric: (name) => more.get(name) ?? tables.metric(name),
      unitOf: (column) => more.get(column)?.unit ?? tables.unitOf(column),
    };
  }, [tables, metrics]);
  return <TablesContext value={value}>{children}</TablesContext>;
}

type Schemas = components['schemas'];

/** The names that the server has for the fields of a record. */
export function useFieldNames<R extends 'ComparisonRow' | 'MeasuredBeside' | 'Field'>(record: R): (name: keyof Schemas[R] & string) => string {
  const { language } = useSpeech();
  const { field } = useMachineTables();
  return (name) => field(record, name)?.doc[language] ?? name;
}

export function useMachineTables(): Tables {
  const tables = useContext(TablesContext);
  if (!tables) throw new Error('useMachineTables stands outside TablesGate');
  return tables;
}
