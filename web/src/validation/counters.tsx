// The counters of one stage and pass: totals, then every instruction, both numbers beside each other.
import { useMemo, useState } from 'react';
import type { StageCounters, ValidationResult } from '../api/types';
import { plain, quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { Card, Segments } from '../ui/basics';
import { DataTable, type Column } from '../ui/data_table';
import { groupOf, groups, instructionRows, totalsOf, tracedPasses, type Group, type InstructionRow } from './rows';
import { signed, VerdictBadge } from './verdict';

export function StageCountersView({ result, stage }: { result: ValidationResult; stage: StageCounters }) {
  const { t } = useSpeech();
  const traced = tracedPasses(stage);
  const [chosen, choose] = useState<number | null>(null);
  const pass = stage.passes.find((one) => one.number === chosen) ?? traced[traced.length - 1];
  if (!pass) return null;
  const nameOf = (number: number) =>
    number === 0 ? t('validation.cold') : number === stage.simulated_passes - 1 && stage.repeats ? t('validation.steady', { number }) : t('validation.pass_number', { number });
  return (
    <>
      <Card
        title={t('validation.totals', { stage: stage.name })}
        actions={<Segments label={t('validation.which_pass')} value={String(pass.number)} onChange={(id) => choose(Number(id))} items={traced.map((one) => ({ id: String(one.number), label: nameOf(one.number) }))} />}
      >
        <Totals result={result} stage={stage} number={pass.number} />
      </Card>
      <Instructions result={result} stage={stage} number={pass.number} />
    </>
  );
}

function Totals({ result, stage, number }: { result: ValidationResult; stage: StageCounters; number: number }) {
  const { t } = useSpeech();
  const pass = stage.passes.find((one) => one.number === number);
  const rows = pass ? totalsOf(result, stage, pass) : [];
  return (
    <div className="plain-table totals-table" tabIndex={0} role="region" aria-label={t('validation.totals', { stage: stage.name })}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t('validation.counter')}</th>
            <th scope="col" className="numeric">{t('validation.estimated')}</th>
            <th scope="col" className="numeric">{t('validation.executed')}</th>
            <th scope="col" className="numeric">{t('validation.difference')}</th>
            <th scope="col">{t('validation.about')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const differs = row.executed !== null && row.executed !== row.estimated;
            return (
              <tr key={row.name} className={differs ? 'row-differs' : ''}>
                <th scope="row">{wordFor(t, 'counter', row.name)}</th>
                <td className="numeric">{plain(row.estimated)}</td>
                <td className="numeric">{row.executed === null ? <span className="muted">{t('validation.not_counted')}</span> : plain(row.executed)}</td>
                <td className={`numeric ${differs ? 'differs' : 'muted'}`}>{row.executed === null ? '–' : signed(row.executed - row.estimated)}</td>
                <td className="muted">{row.unit === 'B' || row.unit === 'cycles' ? quantity(row.estimated, row.unit) : ''}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Instructions({ result, stage, number }: { result: ValidationResult; stage: StageCounters; number: number }) {
  const { t } = useSpeech();
  const [group, setGroup] = useState<Group>('time');
  const [wanted, setWanted] = useState('');
  const [onlyDifferent, setOnlyDifferent] = useState(false);
  const all = useMemo(() => {
    const pass = stage.passes.find((one) => one.number === number);
    return pass ? instructionRows(stage, pass) : [];
  }, [stage, number]);
  const rows = useMemo(() => {
    const needle = wanted.trim().toLowerCase();
    return all.filter((row) => (!onlyDifferent || row.differences > 0) && (needle === '' || `${row.layer} ${row.op}`.toLowerCase().includes(needle)));
  }, [all, wanted, onlyDifferent]);
  const columns = useMemo<Column<InstructionRow>[]>(() => [
    { id: 'index', title: '#', width: 56, numeric: true, value: (row) => row.index },
    { id: 'layer', title: t('table.name'), width: 230, value: (row) => row.layer, show: (row) => <span className="clip" title={row.layer}>{row.layer}</span> },
    { id: 'op', title: t('table.op'), width: 120, value: (row) => row.op, show: (row) => <code>{row.op}</code> },
    { id: 'verdict', title: t('validation.verdict'), width: 96, value: (row) => row.differences, show: (row) => <VerdictBadge verdict={row.differences > 0 ? 'differs' : 'pass'} /> },
    ...result.counters.flatMap((counter, r): Column<InstructionRow>[] => {
      if (groupOf(counter.name) !== group) return [];
      const side = (id: 'estimated' | 'executed'): Column<InstructionRow> => ({
        id: `${counter.name}-${id}`, title: `${wordFor(t, 'counter', counter.name)} · ${t(id === 'estimated' ? 'validation.estimate_short' : 'validation.executor_short')}`,
        width: 124, numeric: true, value: (row) => row[id][r],
        show: (row) => <span className={row.estimated[r] === row.executed[r] ? '' : 'differs'}>{plain(row[id][r] ?? 0)}</span>,
      });
      return [side('estimated'), side('executed')];
    }),
  ], [t, group, result.counters]);
  const title = t('layers.title', { count: rows.length });
  return (
    <Card
      title={title}
      actions={
        <>
          <Segments label={t('validation.which_counters')} value={group} onChange={(id) => setGroup(id as Group)} items={groups.map((one) => ({ id: one, label: wordFor(t, 'counters', one) }))} />
          {stage.differences > 0 && <label className="check"><input type="checkbox" checked={onlyDifferent} onChange={(event) => setOnlyDifferent(event.target.checked)} /><span>{t('validation.only_different')}</span></label>}
          <input type="search" value={wanted} onChange={(event) => setWanted(event.target.value)} placeholder={t('layers.find')} aria-label={t('layers.find')} />
        </>
      }
    >
      <DataTable label={title} columns={columns} rows={rows} marked={(row) => row.differences > 0} height={480} />
    </Card>
  );
}
