// The result of a screening: for each measure the rows by what they do to it, with intervals, and as a table.
import { useState } from 'react';
import type { ScreenedMeasure, ScreenedRow, Screening } from '../api/types';
import { ChartFrame, type PlainTable } from '../chart/chart_frame';
import { IntervalBars, longest, type IntervalBar } from '../chart/interval_bars';
import { plain, quantity } from '../format/quantity';
import { useSpeech, type Key } from '../i18n/i18n';
import { useMachineTables } from '../ui/tables_gate';
import { importanceOf } from './draft';

const firstRows = 12;

export function ScreeningResult({ screening }: { screening: Screening }) {
  const { t } = useSpeech();
  return (
    <div className="column" data-screening>
      <p className="muted" role="status">
        {t('screen.took', { machines: plain(screening.evaluated), rows: screening.axes.length, programs: plain(screening.compiled) })}
        {screening.without_value > 0 && ` ${t('screen.without', { count: plain(screening.without_value) })}`}
      </p>
      {screening.measures.map((measure) => <MeasureBars key={measure.measure} measure={measure} sobol={screening.method === 'sobol'} />)}
    </div>
  );
}

function MeasureBars({ measure, sobol }: { measure: ScreenedMeasure; sobol: boolean }) {
  const { t, language } = useSpeech();
  const tables = useMachineTables();
  const [all, setAll] = useState(false);
  const unit = sobol ? '' : measure.unit;
  const bars = measure.rows.flatMap((row): IntervalBar[] => {
    const found = importanceOf(row);
    if (!found) return [];
    const way = found.sign === undefined || found.sign === 0 ? '' : found.sign > 0 ? ' ↑' : ' ↓';
    const text = `${quantity(Number(found.value.toPrecision(3)), unit, 3)} ± ${quantity(Number(found.error.toPrecision(2)), unit, 2)}${way}`;
    return [{ name: row.parameter, title: tables.parameter(row.parameter)?.doc[language], value: found.value, error: found.error, mark: found.first, text }];
  });
  const title = `${measure.measure}: ${t(sobol ? 'screen.shares' : 'screen.effects')}`;
  return (
    <div className="card"><ChartFrame title={title} note={t(sobol ? 'screen.sobol_note' : 'screen.morris_note')} table={() => tableOf(measure.rows, unit, sobol, t)}>
      {bars.length === 0 && <p className="muted">{t('screen.nothing')}</p>}
      <IntervalBars bars={all ? bars : bars.slice(0, firstRows)} most={longest(bars)} label={title} />
      {bars.length > firstRows && (
        <button type="button" className="quiet" aria-expanded={all} onClick={() => setAll(!all)}>{all ? t('screen.fewer') : t('screen.all', { count: bars.length })}</button>
      )}
    </ChartFrame></div>
  );
}

function tableOf(rows: ScreenedRow[], unit: string, sobol: boolean, t: ReturnType<typeof useSpeech>['t']): PlainTable {
  const columns: [Key, keyof ScreenedRow][] = sobol
    ? [['screen.total', 'total'], ['screen.total_error', 'total_error'], ['screen.first', 'first'], ['screen.first_error', 'first_error']]
    : [['screen.mean_size', 'mean_size'], ['screen.mean', 'mean'], ['screen.deviation', 'deviation'], ['screen.effect_count', 'effects']];
  const cell = (row: ScreenedRow, field: keyof ScreenedRow) => {
    const value = row[field];
    return typeof value === 'number' ? quantity(value, field === 'effects' ? '' : unit) : '–';
  };
  return { head: [t('screen.row'), ...columns.map(([key]) => t(key))], rows: rows.map((row) => [row.parameter, ...columns.map(([, field]) => cell(row, field))]) };
}
