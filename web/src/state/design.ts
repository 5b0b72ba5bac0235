// A design point in the address: `model`, `preset`, `set`, and `formats` of single layers where a point has them.
import { useMemo } from 'react';
import type { Design } from '../api/queries';
import { changedFrom, defaultPreset, decodeSettings, encodeSettings } from '../form/values';
import { useMachineTables } from '../ui/tables_gate';
import { setQuery, useQueryState } from './location';

export function useDesign(): [Design, (change: Partial<Design>) => void] {
  const tables = useMachineTables();
  const [model] = useQueryState('model', 'sd15');
  const [preset] = useQueryState('preset', defaultPreset);
  const [set] = useQueryState('set', '');
  const [formats] = useQueryState('formats', '');
  const design = useMemo<Design>(
    () => ({
      model, preset, machine: changedFrom(tables.machineOf(preset), decodeSettings(set, tables.parameters)), ...(formats ? { formats } : {}),
    }),
    [model, preset, set, formats, tables],
  );
  const change = (part: Partial<Design>) =>
    setQuery({
      ...(part.model !== undefined ? { model: part.model, formats: null } : {}),
      ...(part.preset !== undefined ? { preset: part.preset } : {}),
      ...(part.machine !== undefined ? { set: encodeSettings(part.machine) || null } : {}),
    });
  return [design, change];
}
