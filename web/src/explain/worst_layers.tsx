// The kinds of layers that take most of a frame, each to be opened: slack, formulas with their numbers, both gaps.
import type { Explanation, LayerExplanation } from '../api/types';
import { percent, plain, quantity } from '../format/quantity';
import { useSpeech, wordFor } from '../i18n/i18n';
import { Card, Swatch } from '../ui/basics';
import { NeedBars } from './needs';
import { Terms } from './terms';

export function WorstLayers({ explanation }: { explanation: Explanation }) {
  const { t } = useSpeech();
  return (
    <Card title={t('explain.layers')}>
      <p className="chart-note">{t('explain.layers_note')}</p>
      <ol className="worst-layers">
        {explanation.worst.map((layer, place) => (
          <li key={`${layer.stage}-${layer.index}`}>
            <Layer layer={layer} explanation={explanation} open={place === 0} />
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Layer({ layer, explanation, open }: { layer: LayerExplanation; explanation: Explanation; open: boolean }) {
  const { t } = useSpeech();
  const stage = explanation.stages[layer.stage];
  const count = layer.alike.length;
  return (
    <details open={open}>
      <summary>
        <span className="worst-head">
          <code>{layer.op}</code>
          <span className="clip" title={layer.name}>{layer.name}</span>
          <span className="worst-figures">
            {count > 1 && `${count} × `}{quantity(layer.cycles, 'cycles')}
            {stage && ` · ${t('explain.share', { share: percent((count * layer.cycles) / stage.cycles) })}`}
          </span>
          <span><Swatch name={layer.limiter} /> {wordFor(t, 'limiter', layer.limiter)}</span>
        </span>
      </summary>
      <div className="worst-body">
        <p className="muted">
          {stage?.name} #{layer.index}
          {count > 1 && ` · ${t('explain.alike', { count, list: layer.alike.map((index) => `#${index}`).join(' ') })}`}
        </p>
        <NeedBars needs={layer.needed_cycles} cycles={layer.cycles} />
        <Terms terms={layer.terms} />
        <p>{t('explain.gaps', { cycles: `${plain(layer.cycles - layer.bound_cycles)} cycles`, bytes: quantity(layer.dram_bytes - layer.least_dram_bytes, 'B') })}</p>
      </div>
    </details>
  );
}
