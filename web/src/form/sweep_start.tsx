// The last step of a new sweep: how points are taken, what is sought, how many there are, go.
import type { Metric } from '../api/types';
import { plain, unitName } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { Card, ErrorBox, Segments } from '../ui/basics';
import { requestOf } from '../sweep/formulas';
import { useMachineTables } from '../ui/tables_gate';
import type { SweepDraft } from './axes';
import { LinksField } from './links_field';

interface Props {
  draft: SweepDraft;
  change: (part: Partial<SweepDraft>) => void;
  grid: number;
  ready: boolean;
  pending: boolean;
  error: unknown;
  onStart: () => void;
}

const samplings = [
  { id: 'grid', name: 'new.grid' }, { id: 'random', name: 'new.random' },
  { id: 'latin_hypercube', name: 'new.latin_hypercube' }, { id: 'sobol', name: 'new.sobol' },
] as const;

export function SweepStart({ draft, change, grid, ready, pending, error, onStart }: Props) {
  const { t } = useSpeech();
  const drawn = draft.sampling !== 'grid';
  const points = drawn ? draft.count : grid;
  const possible = ready && draft.objectives.length + requestOf(draft.formulas).objectives.length > 0 && points > 0 && Number.isInteger(points);
  return (
    <Card title={t('new.run')}>
      <label className="stack">
        <span className="label">{t('new.name')}</span>
        <input type="text" maxLength={80} value={draft.name} placeholder={t('new.name_hint')} onChange={(event) => change({ name: event.target.value })} />
      </label>
      <div className="row">
        <Segments
          label={t('new.sampling')} value={draft.sampling} onChange={(id) => change({ sampling: id as SweepDraft['sampling'] })}
          items={samplings.map(({ id, name }) => ({ id, label: t(name) }))}
        />
        {drawn && (
          <>
            <NumberBox label={t('new.count')} value={draft.count} onChange={(count) => change({ count })} />
            <NumberBox label={t('new.seed')} value={draft.seed} onChange={(seed) => change({ seed })} />
          </>
        )}
      </div>
      <label className="stack">
        <span className="label">{t('sweep.formats')}</span>
        <textarea rows={2} maxLength={4096} value={draft.formats} placeholder={t('new.formats_hint')} onChange={(event) => change({ formats: event.target.value })} spellCheck={false} />
      </label>
      <Objectives chosen={draft.objectives} onChange={(objectives) => change({ objectives })} />
      <label className="stack">
        <span className="label">{t('new.formulas')}</span>
        <textarea rows={2} maxLength={8192} value={draft.formulas} placeholder={t('new.formulas_hint')} onChange={(event) => change({ formulas: event.target.value })} spellCheck={false} />
      </label>
      <LinksField value={draft.links} onChange={(links) => change({ links })} />
      {error !== null && error !== undefined && <ErrorBox error={error} />}
      <div className="start-row">
        <p className="big-count" aria-live="polite"><strong>{!drawn && draft.axes.some((axis) => axis.when?.trim()) ? '≤ ' : ''}{plain(points)}</strong> {t('new.points')}</p>
        <button type="button" className="primary large" disabled={!possible || pending} onClick={onStart} data-action="start-sweep">{pending ? t('new.starting') : t('new.start')}</button>
      </div>
      {!ready && <p className="fault">{t('new.not_ready')}</p>}
    </Card>
  );
}

const NumberBox = ({ label, value, onChange }: { label: string; value: number; onChange: (value: number) => void }) => (
  <label className="inline">
    <span>{label}</span>
    <input type="number" min={1} step={1} value={value} onChange={(event) => onChange(event.target.valueAsNumber)} />
  </label>
);

/** Those that stand first; the others are behind a click. */
const usual = ['throughput_fps', 'latency_s', 'energy_j_per_frame', 'power_w', 'area_mm2', 'dram_bytes_per_frame'];

function Objectives({ chosen, onChange }: { chosen: string[]; onChange: (names: string[]) => void }) {
  const { t, language } = useSpeech();
  const { metrics } = useMachineTables();
  const possible = metrics.filter((one) => one.better !== 'neither');
  const boxes = (some: Metric[]) => some.map((one) => (
    <label key={one.name} className="check" title={one.doc[language]}>
      <input type="checkbox" checked={chosen.includes(one.name)} onChange={(event) => onChange(event.target.checked ? [...chosen, one.name] : chosen.filter((name) => name !== one.name))} />
      <span>{one.name}</span>
      <span className="muted">{one.better === 'higher' ? '↑' : '↓'} {unitName(one.unit)}</span>
    </label>
  ));
  return (
    <fieldset className="objectives">
      <legend>{t('new.objectives')}</legend>
      <div className="objective-list">{boxes(possible.filter((one) => usual.includes(one.name)))}</div>
      <details>
        <summary>{t('new.more_objectives')}</summary>
        <div className="objective-list">{boxes(possible.filter((one) => !usual.includes(one.name)))}</div>
      </details>
    </fieldset>
  );
}
