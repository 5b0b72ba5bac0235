// How the hypervolume of a sweep's front grew with its points; asked for when somebody wants to see it.
import { useState } from 'react';
import { useHypervolume } from '../api/queries';
import type { Sweep } from '../api/types';
import { TraceChart } from '../best/trace_chart';
import { plain, quantity } from '../format/quantity';
import { useSpeech } from '../i18n/i18n';
import { Card, ErrorBox, Skeleton } from '../ui/basics';

export function Growth({ sweep, version }: { sweep: Sweep; version: number }) {
  const { t } = useSpeech();
  const [open, setOpen] = useState(false);
  return (
    <Card>
      <details className="why" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{t('growth.title')}</summary>
        {open && <GrowthChart sweep={sweep} version={version} />}
      </details>
    </Card>
  );
}

function GrowthChart({ sweep, version }: { sweep: Sweep; version: number }) {
  const { t } = useSpeech();
  const found = useHypervolume(sweep.id, version);
  if (found.isError) return <ErrorBox error={found.error} retry={() => void found.refetch()} />;
  if (!found.data) return <Skeleton height={200} />;
  const { growth, metrics, volume } = found.data;
  const evaluated = growth.at(-1)?.points ?? 0;
  const note = volume === null ? t('growth.too_long') : t('growth.note', { volume: quantity(volume, ''), points: plain(evaluated), metrics: metrics.join(', ') });
  return (
    <TraceChart
      trace={growth.map((mark) => ({ evaluated: mark.points, values: [mark.volume] }))} evaluated={evaluated} metric={t('growth.volume')} unit=""
      words={{ title: t('growth.title'), note, counted: t('growth.points') }}
    />
  );
}
