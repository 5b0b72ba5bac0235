// A machine of one's choice against the rooflines of others, and all of its details.
import { Link } from 'wouter';
import { PresetPicker } from '../form/preset_picker';
import { encodeSettings } from '../form/values';
import { useSpeech } from '../i18n/i18n';
import { ModelPicker } from '../models/model_picker';
import { AnalysisView } from '../point/analysis_view';
import { useDesign } from '../state/design';
import { setQuery, useQueryState } from '../state/location';
import { Card } from '../ui/basics';
import { TablesGate } from '../ui/tables_gate';
import { useEffect } from 'react';

export const ComparePage = () => (
  <TablesGate>
    <Compare />
  </TablesGate>
);

function Compare() {
  const { t } = useSpeech();
  const [design, change] = useDesign();
  const [tab] = useQueryState('tab', '');
  // This page opens on its comparison; the other views of the same analysis are one click away.
  useEffect(() => {
    if (tab === '') setQuery({ tab: 'compare' });
  }, [tab]);
  const changes = Object.keys(design.machine).length;
  const query = new URLSearchParams({ model: design.model, preset: design.preset, set: encodeSettings(design.machine) }).toString();
  return (
    <div className="page">
      <div className="page-title">
        <h1>{t('compare.page')}</h1>
        <div className="card-actions"><Link className="button" href={`/what-if?${query}`}>{t('point.vary')}</Link></div>
      </div>
      <Card>
        <div className="pickers">
          <ModelPicker value={design.model} onChange={(model) => change({ model })} upload={false} />
          <div>
            <PresetPicker value={design.preset} onChange={(preset) => change({ preset })} />
            {changes > 0 && <p className="muted">{t('what_if.changes', { count: changes, preset: design.preset })}: <code>{encodeSettings(design.machine).replaceAll(',', ' ')}</code></p>}
          </div>
        </div>
      </Card>
      <AnalysisView design={design} />
    </div>
  );
}
