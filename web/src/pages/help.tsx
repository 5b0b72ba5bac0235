// The words of the dashboard explained, and what its numbers are and are not.
import { useAnalysis, useVersion } from '../api/queries';
import { defaultPreset } from '../form/values';
import { unitName } from '../format/quantity';
import { useSpeech, type Key } from '../i18n/i18n';
import { Card, Swatch } from '../ui/basics';
import { TablesGate, useMachineTables } from '../ui/tables_gate';

const words: [Key, Key][] = [
  ['help.sdip', 'help.sdip_text'], ['help.point', 'help.point_text'], ['help.front', 'help.front_text'], ['help.best', 'help.best_text'],
  ['help.screen', 'help.screen_text'], ['help.revision', 'help.revision_text'],
  ['help.infeasible', 'help.infeasible_text'], ['help.core', 'help.core_text'], ['help.steady', 'help.steady_text'],
  ['help.stall', 'help.stall_text'], ['help.bound', 'help.bound_text'], ['help.roofline', 'help.roofline_text'],
  ['help.psram', 'help.psram_text'], ['help.dsram', 'help.dsram_text'], ['help.stackram', 'help.stackram_text'],
];

const limiters: Key[] = [
  'limiter.compute', 'limiter.dsram_read', 'limiter.dsram_write', 'limiter.stackram_read', 'limiter.stackram_write',
  'limiter.psram_read', 'limiter.overhead', 'limiter.weight_stream', 'limiter.activation_stream', 'limiter.program_stream',
];

export function HelpPage() {
  const { t } = useSpeech();
  const version = useVersion();
  return (
    <div className="page narrow">
      <h1>{t('help.title')}</h1>
      <p className="lead">{t('help.lead')}</p>
      <Card title={t('help.start')}>
        <ol className="steps">
          <li>{t('help.step1')}</li><li>{t('help.step2')}</li><li>{t('help.step3')}</li><li>{t('help.step4')}</li>
        </ol>
        <p className="muted">{t('help.keys')}</p>
      </Card>
      <Card title={t('help.words')}>
        <dl className="glossary">
          {words.map(([word, text]) => <div key={word}><dt>{t(word)}</dt><dd>{t(text)}</dd></div>)}
        </dl>
      </Card>
      <Card title={t('help.limiters')}>
        <p>{t('help.limiters_text')}</p>
        <ul className="legend">
          {limiters.map((key) => <li key={key}><Swatch name={key.slice('limiter.'.length)} /> {t(key)}</li>)}
        </ul>
      </Card>
      <TablesGate>
        <Estimated />
        <MetricList />
      </TablesGate>
      {version.data && <p className="muted">SDIP Explorer {version.data.version} · {t('help.signature')} <code>{version.data.signature}</code></p>}
    </div>
  );
}

/** The engine's own notes on what it estimates, for the machine everybody sees first. */
function Estimated() {
  const { t } = useSpeech();
  const analysis = useAnalysis({ model: 'sd15', preset: defaultPreset, machine: {} }, false);
  return (
    <Card title={t('help.estimated')}>
      <p>{t('help.estimated_text')}</p>
      {analysis.data && analysis.data.notes.length > 0 && <ul className="notes" lang="en">{analysis.data.notes.map((note) => <li key={note}>{note}</li>)}</ul>}
    </Card>
  );
}

function MetricList() {
  const { t, language } = useSpeech();
  const { metrics } = useMachineTables();
  return (
    <Card title={t('help.metrics')}>
      <dl className="glossary">
        {metrics.map((one) => (
          <div key={one.name}>
            <dt><code>{one.name}</code> <span className="muted">{unitName(one.unit)} {one.better === 'higher' ? '↑' : one.better === 'lower' ? '↓' : ''}</span></dt>
            <dd>{one.doc[language]}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
