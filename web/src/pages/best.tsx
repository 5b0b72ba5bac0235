// Best machine: say what it is to be best in, and let the whole space be searched; earlier searches are listed.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { startSearch, useSearchedRows, useSearches } from '../api/queries';
import type { Machine, SearchItem } from '../api/types';
import { searchRequest, type SearchDraft } from '../best/draft';
import { SearchedRows } from '../best/searched';
import { SearchStart } from '../best/start';
import { MachineForm } from '../form/machine_form';
import { PresetPicker } from '../form/preset_picker';
import { defaultPreset } from '../form/values';
import { quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { MixPicker } from '../models/mix_picker';
import { Card, ErrorBox, Skeleton } from '../ui/basics';
import { TablesGate, useMachineTables } from '../ui/tables_gate';

export const BestPage = () => (
  <TablesGate>
    <Best />
  </TablesGate>
);

const firstDraft: SearchDraft = {
  model: 'sd15', preset: defaultPreset, goals: [{ metric: 'area_mm2', most: false }], conditions: 'throughput_fps >= 1', fixed: {}, links: '',
  by: 'time', seconds: 60, evaluations: 60_000, validateSeconds: 30, seed: 1, optimiser: 'families', islands: 1, sqnr: '', sqnrModel: '',
};

function Best() {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [draft, setDraft] = useState(firstDraft);
  const [faults, setFaults] = useState<string[]>([]);
  const searched = useSearchedRows();
  const rows = useMemo(() => new Set(searched.data?.map((one) => one.parameter) ?? []), [searched.data]);
  const preset = tables.machineOf(draft.preset);
  const change = (part: Partial<SearchDraft>) => setDraft((before) => ({ ...before, ...part }));
  const start = useMutation({
    mutationFn: () => startSearch(searchRequest(draft)),
    onSuccess: async (search) => {
      await queries.invalidateQueries({ queryKey: ['searches'] });
      navigate(`/best/${search.id}`);
    },
  });
  // The form takes out what is set to the preset's value; what was held there stays held.
  const setMachine = (machine: Machine) => change({ fixed: machine });
  const toggle = (name: string) => {
    const { [name]: held, ...rest } = draft.fixed;
    change({ fixed: held === undefined ? { ...rest, [name]: preset[name] ?? tables.parameter(name)?.default ?? 0 } : rest });
  };
  return (
    <div className="page">
      <h1>{t('best.title')}</h1>
      <p className="lead">{t('best.lead')}</p>
      <div className="two-columns">
        <div className="column">
          <Card title={t('new.model')}><MixPicker value={draft.model} onChange={(model) => change({ model })} /></Card>
          <Card title={t('best.fixed')}>
            <p className="muted">{t('best.fixed_note')}</p>
            <PresetPicker value={draft.preset} onChange={(name) => change({ preset: name })} />
            <MachineForm
              parameters={tables.parameters} preset={preset} settings={draft.fixed} onChange={setMachine} onFaults={setFaults} open={['workload']}
              axisFor={(parameter) => rows.has(parameter.name) && (
                <button type="button" className="axis-toggle" aria-pressed={parameter.name in draft.fixed} onClick={() => toggle(parameter.name)}>
                  {t(parameter.name in draft.fixed ? 'best.held' : 'best.hold')}<span className="visually-hidden"> {parameter.name}</span>
                </button>
              )}
            />
            <SearchedRows />
          </Card>
        </div>
        <div className="column sticky">
          <SearchStart draft={draft} change={change} sound={faults.length === 0} pending={start.isPending} error={start.error} onStart={() => start.mutate()} />
          <EarlierSearches />
        </div>
      </div>
    </div>
  );
}

function EarlierSearches() {
  const { t } = useSpeech();
  const list = useSearches();
  if (list.isError) return <ErrorBox error={list.error} retry={() => void list.refetch()} />;
  if (list.isPending) return <Skeleton lines={3} />;
  return (
    <Card title={t('best.earlier', { count: list.data.length })}>
      {list.data.length === 0 && <p className="muted">{t('best.none_yet')}</p>}
      <ul className="validation-list search-list">{list.data.slice(0, 50).map((one) => <li key={one.id}><EarlierSearch item={one} /></li>)}</ul>
    </Card>
  );
}

function EarlierSearch({ item }: { item: SearchItem }) {
  const { t, language } = useSpeech();
  const tables = useMachineTables();
  const when = new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const found = Object.entries(item.summary?.objectives ?? {}).map(([name, value]) => `${name} ${quantity(value, tables.unitOf(name))}`).join(', ');
  return (
    <Link href={`/best/${item.id}`}>
      <span>{t('best.number', { id: item.id })} · <code>{item.model}</code> {item.summary?.keeps_constraints ? found : item.request.objectives.join(', ')}</span>
      <span className={`state state-${item.state}`}>{wordFor(t, 'state', item.state)}</span>
      <span className="muted">{when.format(new Date(item.created))}</span>
    </Link>
  );
}
