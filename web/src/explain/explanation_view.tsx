// Why a design point takes what it takes: what limits it, its worst layers, its roofline, what each change would do.
import { memo, useState } from 'react';
import { useExplanation, type Design } from '../api/queries';
import type { Explanation, ParameterValue } from '../api/types';
import { useSpeech, type Key } from '../i18n/i18n';
import { Card, ErrorBox, Skeleton, Tabs } from '../ui/basics';
import { Outdated } from '../ui/outdated';
import { Bottleneck } from './bottleneck';
import { LayerRoofline } from './layer_roofline';
import { SingleChanges } from './single_changes';
import { WorstLayers } from './worst_layers';

interface Props {
  design: Design;
  /** The form already says something else than the design. */
  outdated: boolean;
  why: Key;
  onChange: (name: string, value: ParameterValue) => void;
}

export function ExplanationView({ design, outdated, why, onChange }: Props) {
  const explanation = useExplanation(design);
  if (explanation.isError) return <ErrorBox error={explanation.error} />;
  if (explanation.isPending) return <Skeleton height={300} />;
  if (!explanation.data.feasible) return null;
  return (
    <Outdated when={outdated || explanation.isPlaceholderData} why={why}>
      <Parts explanation={explanation.data} design={design} onChange={onChange} />
    </Outdated>
  );
}

type PartsProps = Pick<Props, 'design' | 'onChange'> & { explanation: Explanation };

const Parts = memo(function Parts({ explanation, design, onChange }: PartsProps) {
  const { t } = useSpeech();
  const [view, setView] = useState('layers');
  const items = [
    { id: 'layers', label: t('explain.layers') },
    { id: 'changes', label: t('explain.changes') },
    { id: 'roofline', label: t('explain.roofline') },
  ];
  return (
    <section className="explanation" aria-labelledby="explanation-title">
      <h2 id="explanation-title">{t('explain.title')}</h2>
      <Card><Bottleneck explanation={explanation} /></Card>
      <Tabs label={t('explain.views')} controls="explanation-view" items={items} value={view} onChange={setView} />
      <div id="explanation-view" role="tabpanel" aria-labelledby={`explanation-view-tab-${view}`}>
        {view === 'layers' && <WorstLayers explanation={explanation} />}
        {view === 'changes' && <SingleChanges design={design} onChange={onChange} />}
        {view === 'roofline' && <LayerRoofline explanation={explanation} />}
      </div>
    </section>
  );
});
