// The instructions of a stage: cycles, limiting resource, stalls, DRAM bytes, occupancy.
import { useMemo, useState } from 'react';
import type { Instruction, Stage } from '../api/types';
import { percent, quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { Card, Swatch } from '../ui/basics';
import { DataTable, type Column } from '../ui/data_table';
import { useMachineTables } from '../ui/tables_gate';
import { cyclesOf, rangeText } from './sums';

/** `frameEnergy`: J of a whole frame, of which each instruction has a share. */
export function InstructionTable({ stage, frameEnergy }: { stage: Stage; frameEnergy: number }) {
  const { t, language } = useSpeech();
  const { instructionFields } = useMachineTables();
  const [wanted, setWanted] = useState('');
  const program = stage.instructions ?? noInstructions;
  const total = stage.steady_cycles;
  const rows = useMemo(() => {
    const needle = wanted.trim().toLowerCase();
    return needle === '' ? program : program.filter((one) => `${one.name} ${one.op} ${one.limiter}`.toLowerCase().includes(needle));
  }, [program, wanted]);
  const columns = useMemo<Column<Instruction>[]>(() => {
    const cycles = (id: string, title: string, value: (one: Instruction) => number): Column<Instruction> =>
      ({ id, title, unit: t('unit.cycles'), width: 108, numeric: true, value, show: (one) => quantity(value(one), '') });
    /** Every figure that the engine gives, under its own name. */
    const figures = instructionFields.map((field): Column<Instruction> =>
      field.unit === 'cycles'
        ? cycles(field.name, field.doc[language], field.of)
        : { id: field.name, title: field.doc[language], unit: field.unit, width: 120, numeric: true, value: field.of, show: (one) => (field.of(one) === 0 ? '0' : quantity(field.of(one), field.unit, 3)) });
    return [
      { id: 'index', title: '#', width: 56, numeric: true, value: (one) => one.index },
      { id: 'name', title: t('table.name'), width: 250, value: (one) => one.name, show: (one) => <span className="clip" title={`${one.name} → [${one.output_shape.join(', ')}]`}>{one.name}</span> },
      { id: 'op', title: t('table.op'), width: 160, value: (one) => one.op, show: (one) => <code>{one.op}</code> },
      { id: 'shape', title: t('table.shape'), width: 128, value: (one) => one.output_shape.join('×'), show: (one) => one.output_shape.join('×') },
      cycles('cycles', t('table.cycles'), cyclesOf),
      { id: 'share', title: t('table.share'), width: 92, numeric: true, value: cyclesOf, show: (one) => <Share share={total > 0 ? cyclesOf(one) / total : 0} /> },
      { id: 'limiter', title: t('table.limiter'), width: 150, value: (one) => one.limiter, show: (one) => <><Swatch name={one.limiter} /> {wordFor(t, 'limiter', one.limiter)}</> },
      ...figures,
      { id: 'frame_energy', title: t('breakdown.energy'), unit: 'J', width: 120, numeric: true, value: ofFrame, show: (one) => <span title={t('breakdown.range', { range: rangeText(one.frame_energy_j) })}>{quantity(ofFrame(one), 'J', 3)}</span> },
      { id: 'frame_share', title: t('table.frame_share'), width: 92, numeric: true, value: ofFrame, show: (one) => <Share share={frameEnergy > 0 ? ofFrame(one) / frameEnergy : 0} /> },
    ];
  }, [t, language, instructionFields, total, frameEnergy]);
  return (
    <Card
      title={t('layers.title', { count: rows.length })}
      actions={<input type="search" value={wanted} onChange={(event) => setWanted(event.target.value)} placeholder={t('layers.find')} aria-label={t('layers.find')} />}
    >
      <DataTable label={t('layers.title', { count: rows.length })} columns={columns} rows={rows} height={560} />
    </Card>
  );
}

const noInstructions: Instruction[] = [];
const ofFrame = (one: Instruction) => one.frame_energy_j.value ?? 0;

const Share = ({ share }: { share: number }) => (
  <span className="share">
    <span className="share-bar" style={{ width: `${Math.min(100, share * 100 * 4)}%` }} aria-hidden="true" />
    {percent(share, 2)}
  </span>
);
