// The load before processing: an FPGA configured, memories filled, in bytes, cycles and seconds.
import type { Load } from '../api/types';
import { quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { Card } from '../ui/basics';

export function LoadTable({ load }: { load: Load }) {
  const { t } = useSpeech();
  const part = load.configuration;
  const range = part && `${quantity(part.seconds.least, 's', 3)} – ${quantity(part.seconds.most, 's', 3)}`;
  return (
    <Card title={`${t('load.title')} · ${quantity(load.seconds, 's')}`}>
      <p className="chart-note">{t('load.note')}</p>
      <div className="plain-table" tabIndex={0} role="region" aria-label={t('load.title')}>
        <table>
          <thead><tr><th scope="col">{t('table.part')}</th><th scope="col">{t('load.bytes')}</th><th scope="col">{t('table.cycles')}</th><th scope="col">{t('load.time')}</th></tr></thead>
          <tbody>
            {part && <tr><th scope="row">{t('load.configuration')}</th><td>{quantity(part.bytes.value, 'B')}</td><td>–</td><td>{quantity(part.seconds.value, 's')} ({range})</td></tr>}
            {load.parts.map((one) => (
              <tr key={one.memory}>
                <th scope="row">{wordFor(t, 'part', one.memory)}</th><td>{quantity(one.bytes, 'B')}</td><td>{quantity(one.cycles, '')}</td><td>{quantity(one.seconds, 's')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {load.kept_bytes > 0 && <p className="chart-note">{t('load.kept', { bytes: quantity(load.kept_bytes, 'B') })}</p>}
    </Card>
  );
}
