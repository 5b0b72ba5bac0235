// The contents of each SRAM of a stage over time.
import { useMemoryViews, type Design } from '../api/queries';
import type { MemoryFigures, MemoryRectangle, Stage, StageMemory } from '../api/types';
import { AddressChart } from '../chart/address_chart';
import { ChartFrame } from '../chart/chart_frame';
import { plain, quantity } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { ErrorBox, Skeleton } from '../ui/basics';

const colours: Record<string, string> = {
  DSRAM0: 'dsram_read', DSRAM1: 'dsram_write', STACKRAM: 'stackram_read', unified: 'dsram_read', PSRAM: 'psram_read',
};

export function MemoryMap({ stage, design }: { stage: Stage; design: Design }) {
  const views = useMemoryViews(design);
  if (views.isError) return <ErrorBox error={views.error} retry={() => void views.refetch()} />;
  if (views.isPending) return <Skeleton height={380} />;
  const view = views.data.stages.find((one) => one.name === stage.name);
  return view ? <Maps view={view} cycles={stage.steady_cycles} /> : null;
}

function Maps({ view, cycles }: { view: StageMemory; cycles: number }) {
  const { t } = useSpeech();
  const bytes = (value: number) => quantity(value, 'B');
  const describe = (one: MemoryRectangle) =>
    t('map.describe', {
      name: one.name, bytes: bytes(one.bytes), address: plain(one.address),
      from: view.instructions[one.from] ?? '', to: view.instructions[one.to] ?? '',
    });
  return (
    <ChartFrame
      title={t('map.title')} note={t('map.note')}
      table={() => ({
        head: [t('table.name'), t('map.memory'), t('map.address'), t('map.bytes'), t('map.from'), t('map.to')],
        rows: view.rectangles.map((one) => [one.name, one.memory, plain(one.address), bytes(one.bytes), plain(one.from), plain(one.to)]),
      })}
    >
      {view.memories.map((memory) => (
        <div key={memory.memory}>
          <MemoryHead memory={memory} />
          <AddressChart
            rectangles={view.rectangles.filter((one) => one.memory === memory.memory)} cycles={cycles}
            capacity={memory.capacity_bytes} colour={colours[memory.memory.split(' ')[0] ?? ''] ?? 'other'} describe={describe}
            label={t('map.label', { memory: memory.memory, peak: bytes(memory.peak_bytes), capacity: bytes(memory.capacity_bytes) })}
          />
        </div>
      ))}
    </ChartFrame>
  );
}

function MemoryHead({ memory }: { memory: MemoryFigures }) {
  const { t } = useSpeech();
  const ratio = memory.live_bytes > 0 ? plain(Number((memory.peak_bytes / memory.live_bytes).toPrecision(4))) : '–';
  return (
    <p className="panel-head">
      <strong>{memory.memory}</strong>
      <span>{t('map.figures', { peak: quantity(memory.peak_bytes, 'B'), live: quantity(memory.live_bytes, 'B'), ratio, capacity: quantity(memory.capacity_bytes, 'B') })}</span>
      {memory.crossing_pairs > 0 && <span>{t('map.crossing', { count: memory.crossing_pairs })}</span>}
    </p>
  );
}
