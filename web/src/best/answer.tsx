// The answer of a search: the machine, its worth, what binds it, what more would buy, who came next, the verdict.
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { FoundMachine, Machine, SearchResult } from '../api/types';
import { changedFrom, defaultPreset, encodeSettings, settingsOf } from '../form/values';
import { headed, plain, quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { mixOf } from '../models/mix';
import { AllMetrics } from '../point/all_metrics';
import { MachineTable } from '../point/machine_table';
import { Tiles } from '../point/tiles';
import { Card, Swatch } from '../ui/basics';
import { MoreMetrics, useMachineTables } from '../ui/tables_gate';
import { FirstDifferenceBox, VerdictBadge, verdictIn } from '../validation/verdict';
import { goalOf } from './draft';
import { FoundFront } from './found_front';
import { NextBest } from './next_best';
import { BetterSteps, BoughtSteps } from './steps';

export interface Asked {
  model: string;
  preset: string;
  metrics: string[]; // the objectives, in their order
  most: boolean[];
}

export function Answer({ model, result }: { model: string; result: SearchResult }) {
  const tables = useMachineTables();
  const formulas = useMemo(() => Object.entries(result.request.metrics ?? {}).map(([name, said]) => ({
    name, unit: typeof said === 'string' ? '' : said.unit ?? '', better: 'neither' as const, doc: { en: text(said), ja: text(said) },
  })), [result.request.metrics]);
  const asked = useMemo<Asked>(() => {
    const goals = result.request.objectives.map((one) => goalOf(one, (metric) => tables.metric(metric)?.better));
    return { model, preset: result.request.preset ?? defaultPreset, metrics: goals.map((one) => one.metric), most: goals.map((one) => one.most) };
  }, [model, result, tables]);
  return <MoreMetrics metrics={formulas}><Found result={result} asked={asked} /></MoreMetrics>;
}

const text = (said: string | { formula: string }) => (typeof said === 'string' ? said : said.formula);

/** The address of a machine that was found, for the pages of design points: of a mix with its first workload. */
export const queryOfFound = (asked: Asked, preset: Machine, found: FoundMachine, model = mixOf(asked.model)[0]?.model ?? ''): string =>
  new URLSearchParams({ model, preset: asked.preset, set: encodeSettings(changedFrom(preset, settingsOf(found.settings))) }).toString();

function Found({ result, asked }: { result: SearchResult; asked: Asked }) {
  const { t } = useSpeech();
  const [chosen, setChosen] = useState(0);
  const one = result.best[chosen] ?? result.best[0];
  if (!one) return <Card><p role="status">{t('best.nothing')}</p></Card>;
  const front = asked.metrics.length > 1 && one.keeps_constraints;
  return (
    <>
      {!one.keeps_constraints && (
        <div className="warn-box" role="status">
          <strong>{t('best.no_machine')}</strong>
          {one.reason !== '' && <p lang="en">{one.reason}</p>}
          {one.broken.length > 0 && <p>{t('best.breaks')} {one.broken.map((condition) => <code key={condition}>{condition} </code>)}</p>}
        </div>
      )}
      {front && <FoundFront result={result} asked={asked} chosen={chosen} onChoose={setChosen} />}
      <TheMachine result={result} asked={asked} one={one} first={chosen === 0} />
      {chosen === 0 && (
        <>
          {result.around && <Binding result={result} />}
          {result.around && !front && <BetterSteps result={result} asked={asked} />}
          {result.around && <BoughtSteps result={result} />}
        </>
      )}
      {!front && result.best.length > 1 && <NextBest result={result} asked={asked} />}
      <details className="card">
        <summary>{t('point.metrics')}</summary>
        <AllMetrics metrics={one.metrics} />
      </details>
    </>
  );
}

function TheMachine({ result, asked, one, first }: { result: SearchResult; asked: Asked; one: FoundMachine; first: boolean }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const preset = tables.machineOf(asked.preset);
  const query = queryOfFound(asked, preset, one);
  const fixed = Object.keys(result.request.fixed ?? {});
  const { validation } = result;
  return (
    <Card
      title={t(!one.keeps_constraints ? 'best.nearest' : first && asked.metrics.length === 1 ? 'best.the_best' : 'best.machine')}
      actions={<><Link className="button primary" href={`/what-if?${query}`}>{t('best.open')}</Link><Link className="button" href={`/compare?${query}`}>{t('nav.compare')}</Link></>}
    >
      <p className="best-objectives" data-objectives>
        {asked.metrics.map((metric) => (
          <span key={metric}><code>{metric}</code> <strong>{quantity(one.objectives[metric], tables.unitOf(metric))}</strong></span>
        ))}
        {first && validation && <span>{t('best.validated')} <VerdictBadge verdict={verdictIn(validation)} /> <span className="muted">{t('best.compared', { compared: plain(validation.coverage.instructions_compared), instructions: plain(validation.coverage.instructions), differences: plain(validation.coverage.differences) })}</span></span>}
        {first && !validation && <span className="muted">{t('best.not_validated')}</span>}
      </p>
      {first && validation?.first_difference && <FirstDifferenceBox first={validation.first_difference} />}
      <Tiles metrics={one.metrics} />
      {first && result.workloads.length > 1 && <Workloads result={result} query={(model) => queryOfFound(asked, preset, one, model)} />}
      {first && result.ranges.length > 0 && (
        <p className="chart-note">
          {t('best.ranges')} {result.ranges.map((range) => `${range.metric} ${quantity(range.least, tables.unitOf(range.metric))} – ${quantity(range.most, tables.unitOf(range.metric))}`).join('; ')}
        </p>
      )}
      {first && result.accuracy && (
        <p className="chart-note" data-accuracy>
          {t(result.accuracy.weights === 'random' ? 'best.measured_random' : 'best.measured', { sets: plain(result.accuracy.sets.length), model: result.accuracy.model })}
          {result.accuracy.sqnr_db !== null && <> {t('best.own_sqnr')} <strong>{quantity(result.accuracy.sqnr_db, 'dB')}</strong></>}
        </p>
      )}
      <h3>{t('best.rows_of_it')}</h3>
      <MachineTable machine={{ ...preset, ...settingsOf(one.settings) }} preset={asked.preset} />
      {fixed.length > 0 && <p className="chart-note">{t('best.were_fixed')} {fixed.map((name) => <code key={name}>{name} </code>)}</p>}
    </Card>
  );
}

/** The metrics of a machine of several workloads for each of them. */
function Workloads({ result, query }: { result: SearchResult; query: (model: string) => string }) {
  const { t } = useSpeech();
  const tables = useMachineTables();
  const shown = ['throughput_fps', 'latency_s', 'energy_j_per_frame', 'power_w', 'utilization'] as const;
  return (
    <div className="plain-table" tabIndex={0} role="region" aria-label={t('mix.workloads')}>
      <table>
        <thead><tr><th scope="col">{t('mix.workload')}</th><th scope="col">{t('mix.weight')}</th>{shown.map((name) => <th key={name} scope="col">{headed(name, tables.unitOf(name))}</th>)}</tr></thead>
        <tbody>
          {result.workloads.map(({ model, weight, metrics }) => (
            <tr key={model} data-workload={model}>
              <th scope="row"><Link href={`/what-if?${query(model)}`}>{model}</Link></th>
              <td>{plain(weight)}</td>
              {shown.map((name) => <td key={name}>{quantity(metrics[name], '')}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Shows what sets its pace, and the conditions that single steps to something better would break. */
function Binding({ result }: { result: SearchResult }) {
  const { t } = useSpeech();
  const { around } = result;
  const conditions = [...new Set(result.beyond.flatMap((step) => step.broken))];
  if (!around) return null;
  return (
    <Card title={t('best.binds')}>
      <p>{t('best.pace')} <code>{around.pace}</code>, <Swatch name={around.limiter} /> {wordFor(t, 'limiter', around.limiter)}</p>
      {conditions.length > 0 && <p>{t('best.binding_conditions')} {conditions.map((one) => <span key={one} className="chip">{one}</span>)}</p>}
    </Card>
  );
}
