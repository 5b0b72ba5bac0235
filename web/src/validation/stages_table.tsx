// The stages of a validation, a row each, with a badge for counters and one for tensors.
import type { ValidationResult } from '../api/types';
import { plain } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { Card } from '../ui/basics';
import { VerdictBadge, verdictOf } from './verdict';

export function StagesTable({ result, current, onStage }: { result: ValidationResult; current: string; onStage: (name: string) => void }) {
  const { t } = useSpeech();
  return (
    <Card title={t('validation.stages')}>
      <div className="plain-table stages-table" tabIndex={0} role="region" aria-label={t('validation.stages')}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('validation.stage')}</th>
              <th scope="col">{t('validation.counters')}</th>
              <th scope="col" className="numeric">{t('validation.instructions')}</th>
              <th scope="col" className="numeric">{t('validation.passes')}</th>
              <th scope="col" className="numeric">{t('validation.tile_operations')}</th>
              <th scope="col" className="numeric">{t('validation.values')}</th>
              <th scope="col" className="numeric">{t('validation.differences')}</th>
              <th scope="col">{t('validation.tensors')}</th>
              <th scope="col" className="numeric">{t('validation.kinds')}</th>
            </tr>
          </thead>
          <tbody>
            {result.stages.map((stage) => {
              const tensors = result.tensors.find((one) => one.stage === stage.name);
              return (
                <tr key={stage.name} className={stage.name === current ? 'marked' : ''}>
                  <th scope="row">
                    <button type="button" className="link" aria-pressed={stage.name === current} onClick={() => onStage(stage.name)}>{stage.name}</button>
                    <span className="muted"> {wordFor(t, 'part', stage.role)}</span>
                  </th>
                  <td><VerdictBadge verdict={verdictOf(stage.differences, stage.values)} /></td>
                  <td className="numeric">{plain(stage.index.length)} / {plain(stage.instructions)}</td>
                  <td className="numeric">{plain(stage.passes.length)}</td>
                  <td className="numeric">{plain(stage.tile_operations)}</td>
                  <td className="numeric">{plain(stage.values)}</td>
                  <td className={`numeric ${stage.differences > 0 ? 'differs' : ''}`}>{plain(stage.differences)}</td>
                  <td>{tensors ? <VerdictBadge verdict={verdictOf(tensors.differences, tensors.compared)} /> : '–'}</td>
                  <td className="numeric">{tensors ? `${plain(tensors.compared)} / ${plain(tensors.classes)}` : '–'}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {result.stages.filter((one) => one.left_out !== '').map((one) => <p key={one.name} className="muted"><code>{one.name}</code>: <span lang="en">{one.left_out}</span></p>)}
    </Card>
  );
}
