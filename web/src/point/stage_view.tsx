// One stage of a design point: its bounds, where its time goes, its memories over time, its instructions.
import type { Design } from '../api/queries';
import type { Stage } from '../api/types';
import { plain, quantity } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { Card } from '../ui/basics';
import { useMachineTables } from '../ui/tables_gate';
import { InstructionTable } from './instruction_table';
import { MemoryCharts } from './memory_charts';
import { MemoryMap } from './memory_map';
import { StageRoofline } from './stage_roofline';
import { rangeText } from './sums';
import { TimeBreakdown } from './time_breakdown';

export function StageView({ stage, design, frameEnergy }: { stage: Stage; design: Design; frameEnergy: number }) {
  const { t } = useSpeech();
  const program = stage.instructions ?? [];
  return (
    <>
      <Card title={<><code>{stage.name}</code> <span className="muted">{t('stage.passes', { count: plain(stage.passes_per_frame) })}</span></>}>
        <StageFacts stage={stage} />
      </Card>
      {program.length > 0 && (
        <>
          <div className="two-charts">
            <Card><TimeBreakdown program={program} /></Card>
            <Card><StageRoofline stage={stage} /></Card>
          </div>
          <Card><MemoryCharts stage={stage} /></Card>
          <Card><MemoryMap stage={stage} design={design} /></Card>
          <InstructionTable stage={stage} frameEnergy={frameEnergy} />
        </>
      )}
    </>
  );
}

function StageFacts({ stage }: { stage: Stage }) {
  const { t, language } = useSpeech();
  const { stageFields } = useMachineTables();
  const over = (value: number, bound: number) => (bound > 0 ? ` · ${plain(Number((value / bound).toPrecision(3)))}×` : '');
  const moved = stage.dram_weights_bytes + stage.dram_activations_bytes + stage.dram_program_bytes;
  /** How far the schedule is above a bound. */
  const distances: Record<string, string> = {
    bound_cycles: over(stage.steady_cycles, stage.bound_cycles),
    bound_dram_bytes: over(moved, stage.bound_dram_bytes),
  };
  const facts: [string, string][] = [
    ...stageFields.map((one): [string, string] => [one.doc[language], quantity(one.of(stage), one.unit) + (distances[one.name] ?? '')]),
    [t('stage.dram'), quantity(moved, 'B')],
    [t('breakdown.energy'), `${quantity(stage.frame_energy_j.value ?? 0, 'J')} · ${rangeText(stage.frame_energy_j)}`],
    [t('stage.instructions'), plain(stage.instructions?.length ?? 0)],
  ];
  return (
    <dl className="facts">
      {facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}
