// The front of a search for several objectives: a chart of the first two, and each machine as a row.
import { useCallback, useMemo } from 'react';
import type { SearchResult } from '../api/types';
import { FrontChart } from '../chart/front_chart';
import { plain, quantity } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { Card } from '../ui/basics';
import { DataTable, type Column } from '../ui/data_table';
import { useMachineTables } from '../ui/tables_gate';
import { queryOfFound, type Asked } from './answer';
import { Differences } from './next_best';

interface Props {
  result: SearchResult;
  asked: Asked;
  chosen: number;
  onChoose: (at: number) => void;
}

interface Row {
  at: number;
}

export function FoundFront({ result, asked, chosen, onChoose }: Props) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const { best } = result;
  const preset = tables.machineOf(asked.preset);
  const goals = useMemo(() => asked.metrics.map((metric, i) => ({ metric, most: asked.most[i] ?? false })), [asked]);
  const text = (metric: string, i: number) => quantity(best[i]?.objectives[metric], tables.unitOf(metric));
  const hrefOf = useCallback((i: number) => { const one = best[i]; return one ? `#/what-if?${queryOfFound(asked, preset, one)}` : '#/'; }, [best, asked, preset]);
  const namesOf = useCallback((i: number) => [String(i + 1)], []);
  const rows = useMemo<Row[]>(() => best.map((_, at) => ({ at })), [best]);
  const columns = useMemo<Column<Row>[]>(() => [
    { id: 'at', title: t('best.machine_number'), width: 90, numeric: true, value: (row) => row.at + 1, show: (row) => <button type="button" className="quiet" aria-pressed={row.at === chosen} onClick={(event) => { event.stopPropagation(); onChoose(row.at); }}>{row.at + 1}</button> },
    ...asked.metrics.map((metric): Column<Row> => ({
      id: metric, title: metric, width: 130, numeric: true, value: (row) => best[row.at]?.objectives[metric], show: (row) => text(metric, row.at),
    })),
    { id: 'knee', title: t('front.knee_column'), width: 110, hint: t('front.knee_key'), value: (row) => best[row.at]?.knee ?? 'none', show: (row) => { const knee = best[row.at]?.knee ?? 'none'; return knee === 'none' ? '' : t(`knee.${knee}`); } },
    { id: 'differs', title: t('best.differs_before'), width: 420, sortable: false, value: (row) => best[row.at]?.differs.length, show: (row) => { const one = best[row.at]; return one ? <span className="clip"><Differences one={one} /></span> : null; } },
  ], [best, asked, chosen, t, tables]);
  return (
    <Card>
      <FrontChart
        title={t('best.front')} note={t('best.front_found', { found: plain(result.found), shown: plain(best.length) })} points={best} goals={goals}
        head={[t('best.machine_number')]} namesOf={namesOf} hint={t('best.front_hint')} hrefOf={hrefOf} onOpen={onChoose}
      />
      <DataTable label={t('best.front')} columns={columns} rows={rows} onRow={(row) => onChoose(row.at)} marked={(row) => row.at === chosen} height={280} />
    </Card>
  );
}
