// Waits for the tables that every page needs, so that pages can take them for granted.
import { createContext, useContext, useMemo, type ReactNode } from 'react';
import { useTables } from '../api/queries';
import type { Machine, Metric, Parameter, Preset } from '../api/types';
import { settingsOf } from '../form/values';
import { ErrorBox, Skeleton } from './basics';

export interface Tables {
  parameters: Parameter[];
  metrics: Metric[];
  presets: Preset[];
  parameter: (name: string) => Parameter | undefined;
  metric: (name: string) => Metric | undefined;
  /** The machine of a preset, the defaults when there is none of that name. */
  machineOf: (preset: string) => Machine;
  unitOf: (column: string) => string;
}

const TablesContext = createContext<Tables | null>(null);

export function TablesGate({ children }: { children: ReactNode }) {
  const { parameters, metrics, presets } = useTables();
  const value = useMemo<Tables | null>(() => {
    if (!parameters.data || !metrics.data || !presets.data) return null;
    const byName = new Map(parameters.data.map((one) => [one.name, one]));
    const metricByName = new Map(metrics.data.map((one) => [one.name, one]));
    const defaults = Object.fromEntries(parameters.data.map((one) => [one.name, one.default]));
    const machines = new Map(presets.data.map((one) => [one.name, settingsOf(one.machine)]));
    return {
      parameters: parameters.data,
      metrics: metrics.data,
      presets: presets.data,
      parameter: (name) => byName.get(name),
      metric: (name) => metricByName.get(name),
      machineOf: (preset) => machines.get(preset) ?? defaults,
      unitOf: (column) => metricByName.get(column)?.unit ?? byName.get(column)?.unit ?? '',
    };
  }, [parameters.data, metrics.data, presets.data]);
  const failed = [parameters, metrics, presets].find((one) => one.isError);
  if (failed) return <ErrorBox error={failed.error} retry={() => void failed.refetch()} />;
  if (!value) return <Skeleton lines={6} />;
  return <TablesContext value={value}>{children}</TablesContext>;
}

export function useMachineTables(): Tables {
  const tables = useContext(TablesContext);
  if (!tables) throw new Error('useMachineTables stands outside TablesGate');
  return tables;
}
