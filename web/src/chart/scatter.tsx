// A scatter of any number of points: pixels for the crowd, SVG for the axes and the front.
import { useCallback, useEffect, useMemo, useRef, useState, type MouseEvent, type ReactNode } from 'react';
import { useSize } from '../ui/size';
import { Axes } from './axes';
import { FrontMarks } from './front_marks';
import { pointAt, together, type Plot } from './hit';
import type { Dots } from './raster';
import { extent, padded, place, valueAt, type Scale } from './scale';
import { painted } from './scatter_model';

export interface AxisSpec {
  values: Float64Array;
  log: boolean;
  unit: string;
  title: string;
}

interface Props {
  x: AxisSpec;
  y: AxisSpec;
  /** The points that are drawn, the lowest layer first; the last one is coloured. */
  layers: Uint32Array[];
  /** Each point's share of each colour channel; null: shades by how many lie together. */
  channels: Uint8Array[] | null;
  front: number[];
  knees: ReadonlySet<number>;
  lowerX: boolean;
  dark: boolean;
  label: string;
  hrefOf: (i: number) => string;
  nameOf: (i: number) => string;
  /** Describes a point; `others` are those of the front under the same mark. */
  describe: (i: number, others: number[]) => ReactNode;
  onOpen: (i: number) => void;
  zoomHint: string;
  resetLabel: string;
  /** Said in place of axes when no point has a place on them. */
  emptyLabel: string;
}

type Domain = [number, number];
type Box = { x0: number; y0: number; x1: number; y1: number };
const supersample = 2;
const margin = { left: 72, right: 36, top: 28, bottom: 44 };
const leastZoom = 8;

/** The domains of both axes, or null where a point is on neither. */
function domainsOf(x: AxisSpec, y: AxisSpec, order: Uint32Array): [Domain, Domain] | null {
  const ends = [x, y].map((axis) => extent(Float64Array.from(order, (i) => axis.values[i] as number), axis.log));
  return ends[0] && ends[1] ? [padded(ends[0], x.log), padded(ends[1], y.log)] : null;
}

export function Scatter(props: Props) {
  const { x, y, layers, channels, front, dark } = props;
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const height = Math.round(Math.min(500, Math.max(330, width * 0.42)));
  const [zoom, setZoom] = useState<{ x: Domain; y: Domain } | null>(null);
  useEffect(() => setZoom(null), [x.title, y.title, x.log, y.log]);

  const order = useMemo(() => Uint32Array.from(layers.flatMap((layer) => [...layer])), [layers]);
  const whole = useMemo(() => domainsOf(x, y, order), [x, y, order]);
  const plot = useMemo<Plot>(() => ({
    width: Math.max(1, Math.floor(width - margin.left - margin.right)), height: Math.max(1, height - margin.top - margin.bottom),
  }), [width, height]);
  const [scaleX, scaleY] = useMemo<[Scale, Scale]>(() => [
    { log: x.log, domain: zoom?.x ?? whole?.[0] ?? [1, 2], range: [0, plot.width] },
    { log: y.log, domain: zoom?.y ?? whole?.[1] ?? [1, 2], range: [plot.height, 0] },
  ], [x, y, whole, zoom, plot]);
  const dots = useMemo<Dots>(() => ({
    x: Float32Array.from(x.values, (value) => place(scaleX, value)), y: Float32Array.from(y.values, (value) => place(scaleY, value)), order,
  }), [scaleX, scaleY, x.values, y.values, order]);

  const pointer = usePointer(props, dots, plot, (from) => {
    const sorted = (a: number, b: number): Domain => [Math.min(a, b), Math.max(a, b)];
    setZoom({ x: sorted(valueAt(scaleX, from.x0), valueAt(scaleX, from.x1)), y: sorted(valueAt(scaleY, from.y0), valueAt(scaleY, from.y1)) });
  });
  const { target, drag } = pointer;
  const inside = `translate(${margin.left},${margin.top})`;
  const drawn = width > 0 && whole !== null;
  return (
    <div className="scatter" ref={box} style={{ height, cursor: target >= 0 ? 'pointer' : 'crosshair' }} {...pointer.events}>
      {width > 0 && !whole && <p className="scatter-empty" role="status">{props.emptyLabel}</p>}
      {drawn && (
        <svg width={width} height={height} aria-hidden="true">
          <g transform={inside}><Axes x={scaleX} y={scaleY} xUnit={x.unit} yUnit={y.unit} xTitle={x.title} yTitle={y.title} /></g>
        </svg>
      )}
      {drawn && <Crowd dots={dots} layers={layers} channels={channels} plot={plot} count={order.length} dark={dark} />}
      {drawn && (
        <svg width={width} height={height} role="group" aria-label={props.label}>
          <g transform={inside}>
            <FrontMarks
              front={front} knees={props.knees} dots={dots} plot={plot} target={target} lowerX={props.lowerX}
              hrefOf={props.hrefOf} nameOf={props.nameOf} onFocus={pointer.focus}
            />
            {target >= 0 && <Ring x={dots.x[target] as number} y={dots.y[target] as number} href={front.includes(target) ? null : props.hrefOf(target)} />}
            {drag && <rect x={Math.min(drag.x0, drag.x1)} y={Math.min(drag.y0, drag.y1)} width={Math.abs(drag.x1 - drag.x0)} height={Math.abs(drag.y1 - drag.y0)} className="brush" />}
          </g>
        </svg>
      )}
      {zoom && <button type="button" className="zoom-reset" onClick={() => setZoom(null)}>{props.resetLabel}</button>}
      {drawn && target >= 0 && !drag && (
        <Tip x={(dots.x[target] as number) + margin.left} y={(dots.y[target] as number) + margin.top} width={width} height={height}>
          {props.describe(target, together(dots, front, target).filter((i) => i !== target))}
        </Tip>
      )}
      {drawn && <p className="chart-hint">{props.zoomHint}</p>}
    </div>
  );
}

/** The target of the pointer and the keys: one point, which the tooltip names and a click opens, and the box that is drawn to zoom. */
function usePointer({ front, onOpen }: Props, dots: Dots, plot: Plot, zoomTo: (box: Box) => void) {
  const [meant, setMeant] = useState<{ i: number; dots: Dots } | null>(null);
  const [drag, setDrag] = useState<Box | null>(null);
  const zoomed = useRef(false);
  // With other dots (new points, another zoom) the number would be another point's.
  const target = meant?.dots === dots ? meant.i : -1;
  const mean = (i: number) => { if (i !== target) setMeant(i < 0 ? null : { i, dots }); };
  const focus = useCallback((i: number) => setMeant(i < 0 ? null : { i, dots }), [dots]);
  // Whole pixels: moves come with fractions, clicks without, and both mean the same place.
  const at = (event: MouseEvent<HTMLElement>): [number, number] => {
    const rect = event.currentTarget.getBoundingClientRect();
    return [Math.floor(event.clientX) - rect.left - margin.left, Math.floor(event.clientY) - rect.top - margin.top];
  };
  const pick = (event: MouseEvent<HTMLElement>) => pointAt(dots, front, plot, ...at(event), target);
  const isButton = (event: MouseEvent) => (event.target as Element).closest('button') !== null;
  const events = {
    onPointerDown: (event: MouseEvent<HTMLElement>) => {
      zoomed.current = false;
      if (event.button !== 0 || isButton(event)) return;
      mean(pick(event));
      const [px, py] = at(event);
      setDrag({ x0: px, y0: py, x1: px, y1: py });
    },
    onPointerMove: (event: MouseEvent<HTMLElement>) => {
      const [px, py] = at(event);
      if (drag) setDrag({ ...drag, x1: px, y1: py });
      else mean(pick(event));
    },
    onPointerUp: () => {
      if (!drag) return;
      setDrag(null);
      zoomed.current = Math.abs(drag.x1 - drag.x0) > leastZoom && Math.abs(drag.y1 - drag.y0) > leastZoom;
      if (zoomed.current) zoomTo(drag);
    },
    onPointerLeave: () => { mean(-1); setDrag(null); },
    onDragStart: (event: MouseEvent<HTMLElement>) => event.preventDefault(),
    onClick: (event: MouseEvent<HTMLElement>) => {
      // Enter on a mark, or a click for another tab: the link under it is the target's own.
      if (isButton(event) || event.detail === 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      // Opens the point that the tooltip names since the button went down.
      if (target >= 0 && !zoomed.current) onOpen(target);
    },
  };
  return { target, drag: drag && Math.hypot(drag.x1 - drag.x0, drag.y1 - drag.y0) > 3 ? drag : null, focus, events };
}

interface CrowdProps {
  dots: Dots;
  layers: Uint32Array[];
  channels: Uint8Array[] | null;
  plot: Plot;
  count: number;
  dark: boolean;
}

/** All points as pixels, at twice the size and shrunk by the browser: round dots with smooth edges. */
function Crowd({ dots, layers, channels, plot, count, dark }: CrowdProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const radius = count > 60_000 ? 1 : count > 12_000 ? 1.6 : count > 2_500 ? 2.2 : 3;
  useEffect(() => {
    const context = canvas.current?.getContext('2d', { willReadFrequently: true });
    if (!context) return;
    const image = new ImageData(plot.width * supersample, plot.height * supersample);
    const large = { ...dots, x: dots.x.map((value) => value * supersample), y: dots.y.map((value) => value * supersample) };
    new Uint32Array(image.data.buffer).set(painted(large, layers, channels, image.width, image.height, radius * supersample, dark));
    context.canvas.width = image.width;
    context.canvas.height = image.height;
    context.putImageData(image, 0, 0);
  }, [dots, layers, channels, plot, radius, dark]);
  return <canvas ref={canvas} aria-hidden="true" style={{ left: margin.left, top: margin.top, width: plot.width, height: plot.height }} />;
}

/** A ring around the target, and of one that has no mark a link under the pointer. */
function Ring({ x, y, href }: { x: number; y: number; href: string | null }) {
  return (
    <>
      {href !== null && <a href={href} tabIndex={-1} aria-hidden="true" className="hover-link"><circle cx={x} cy={y} r={14} /></a>}
      <circle cx={x} cy={y} r={7} className="hover-ring" />
    </>
  );
}

function Tip({ x, y, width, height, children }: { x: number; y: number; width: number; height: number; children: ReactNode }) {
  return (
    <div className="tooltip" style={{ top: Math.max(4, Math.min(y - 20, height - 200)), ...(x > width * 0.55 ? { right: width - x + 16 } : { left: x + 16 }) }}>
      {children}
    </div>
  );
}
