// A scatter of any number of points: pixels for the crowd, SVG for the axes and the front.
import { useEffect, useMemo, useRef, useState, type PointerEvent, type ReactNode } from 'react';
import { useSize } from '../ui/size';
import { Axes } from './axes';
import { dotRgb } from './palette';
import { density, nearest, opacity, packed, rasterise, type Dots } from './raster';
import { extent, padded, place, valueAt, type Scale } from './scale';
import { FrontMarks } from './front_marks';

export interface AxisSpec {
  values: Float64Array;
  log: boolean;
  unit: string;
  title: string;
}

interface Props {
  x: AxisSpec;
  y: AxisSpec;
  colours: Uint32Array;
  /** Shade by how many points lie together in place of `colours`. */
  byDensity: boolean;
  keep: Uint8Array;
  order: Uint32Array;
  front: number[];
  lowerX: boolean;
  dark: boolean;
  label: string;
  hrefOf: (i: number) => string;
  nameOf: (i: number) => string;
  describe: (i: number) => ReactNode;
  onOpen: (i: number) => void;
  zoomHint: string;
  resetLabel: string;
}

type Domain = [number, number];
const supersample = 2;
const margin = { left: 72, right: 36, top: 28, bottom: 44 };

export function Scatter(props: Props) {
  const { x, y, colours, byDensity, keep, order, dark } = props;
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width } = useSize(box);
  const height = Math.round(Math.min(500, Math.max(330, width * 0.42)));
  const [zoom, setZoom] = useState<{ x: Domain; y: Domain } | null>(null);
  const [hover, setHover] = useState(-1);
  const [drag, setDrag] = useState<{ x0: number; y0: number; x1: number; y1: number } | null>(null);
  useEffect(() => setZoom(null), [x.title, y.title, x.log, y.log]);

  const [scaleX, scaleY] = useMemo<[Scale, Scale]>(() => {
    const of = (axis: AxisSpec, zoomed: Domain | undefined, range: Domain): Scale => ({
      log: axis.log, range, domain: zoomed ?? padded(extent(pick(axis.values, order), axis.log) ?? [1, 2], axis.log),
    });
    return [
      of(x, zoom?.x, [margin.left, Math.max(margin.left + 10, width - margin.right)]),
      of(y, zoom?.y, [height - margin.bottom, margin.top]),
    ];
  }, [x, y, order, zoom, width, height]);

  const dots = useMemo<Dots>(() => {
    const px = new Float32Array(keep.length);
    const py = new Float32Array(keep.length);
    for (let i = 0; i < keep.length; i++) {
      px[i] = place(scaleX, x.values[i] as number) - margin.left;
      py[i] = place(scaleY, y.values[i] as number) - margin.top;
    }
    return { x: px, y: py, colour: colours, order };
  }, [scaleX, scaleY, x.values, y.values, keep, colours, order]);

  const plotWidth = Math.max(1, Math.floor(width - margin.left - margin.right));
  const plotHeight = Math.max(1, height - margin.top - margin.bottom);
  const radius = order.length > 60_000 ? 1 : order.length > 12_000 ? 1.6 : order.length > 2_500 ? 2.2 : 3;

  useEffect(() => {
    const context = canvas.current?.getContext('2d', { willReadFrequently: true });
    if (!context || width === 0) return;
    // Drawn at twice the size and shrunk by the browser: round dots with smooth edges.
    const image = new ImageData(plotWidth * supersample, plotHeight * supersample);
    draw(new Uint32Array(image.data.buffer), scaled(dots, supersample), keep, image.width, image.height, radius * supersample, byDensity, dark);
    context.canvas.width = image.width;
    context.canvas.height = image.height;
    context.putImageData(image, 0, 0);
  }, [dots, keep, plotWidth, plotHeight, radius, byDensity, dark, width]);

  const inPlot = (event: PointerEvent<HTMLElement>): [number, number] => {
    const rect = event.currentTarget.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  };
  const pickAt = (px: number, py: number) => nearest(dots, px - margin.left, py - margin.top, 12, (i) => keep[i] === 1 || order.length < 1e6);
  const release = () => {
    if (!drag) return;
    setDrag(null);
    if (Math.abs(drag.x1 - drag.x0) > 8 && Math.abs(drag.y1 - drag.y0) > 8) {
      const sorted = (a: number, b: number): Domain => [Math.min(a, b), Math.max(a, b)];
      setZoom({
        x: sorted(valueAt(scaleX, drag.x0), valueAt(scaleX, drag.x1)),
        y: sorted(valueAt(scaleY, drag.y0), valueAt(scaleY, drag.y1)),
      });
    } else {
      const i = pickAt(drag.x1, drag.y1);
      if (i >= 0) props.onOpen(i);
    }
  };
  const hx = hover >= 0 ? (dots.x[hover] as number) + margin.left : 0;
  const hy = hover >= 0 ? (dots.y[hover] as number) + margin.top : 0;
  return (
    <div
      className="scatter" ref={box} style={{ height, cursor: hover >= 0 ? 'pointer' : 'crosshair' }}
      onPointerDown={(event) => {
        if (event.button !== 0 || (event.target as Element).closest('a,button')) return;
        const [px, py] = inPlot(event);
        setDrag({ x0: px, y0: py, x1: px, y1: py });
      }}
      onPointerMove={(event) => {
        const [px, py] = inPlot(event);
        if (drag) setDrag({ ...drag, x1: px, y1: py });
        else setHover(pickAt(px, py));
      }}
      onPointerUp={release}
      onPointerLeave={() => { setHover(-1); setDrag(null); }}
    >
      {width > 0 && (
        <svg width={width} height={height} aria-hidden="true">
          <Axes x={scaleX} y={scaleY} xUnit={x.unit} yUnit={y.unit} xTitle={x.title} yTitle={y.title} />
        </svg>
      )}
      <canvas ref={canvas} aria-hidden="true" style={{ left: margin.left, top: margin.top, width: plotWidth, height: plotHeight }} />
      {width > 0 && (
        <svg width={width} height={height} role="group" aria-label={props.label}>
          <FrontMarks
            front={props.front} scaleX={scaleX} scaleY={scaleY} xs={x.values} ys={y.values} lowerX={props.lowerX}
            hrefOf={props.hrefOf} nameOf={props.nameOf} onFocus={setHover}
          />
          {hover >= 0 && <circle cx={hx} cy={hy} r={7} className="hover-ring" />}
          {drag && <rect x={Math.min(drag.x0, drag.x1)} y={Math.min(drag.y0, drag.y1)} width={Math.abs(drag.x1 - drag.x0)} height={Math.abs(drag.y1 - drag.y0)} className="brush" />}
        </svg>
      )}
      {zoom && <button type="button" className="zoom-reset" onClick={() => setZoom(null)}>{props.resetLabel}</button>}
      {hover >= 0 && !drag && (
        <div className="tooltip" style={{ top: Math.max(4, Math.min(hy - 20, height - 200)), ...(hx > width * 0.55 ? { right: width - hx + 16 } : { left: hx + 16 }) }}>
          {props.describe(hover)}
        </div>
      )}
      <p className="chart-hint">{props.zoomHint}</p>
    </div>
  );
}

const pick = (values: Float64Array, order: Uint32Array): Float64Array => Float64Array.from(order, (i) => values[i] as number);

const scaled = (dots: Dots, ratio: number): Dots => ({ ...dots, x: dots.x.map((value) => value * ratio), y: dots.y.map((value) => value * ratio) });

function draw(out: Uint32Array, dots: Dots, keep: Uint8Array, width: number, height: number, radius: number, byDensity: boolean, dark: boolean): void {
  if (!byDensity) {
    out.set(rasterise(dots, width, height, radius));
    return;
  }
  out.set(rasterise({ ...dots, order: dots.order.filter((i) => !keep[i]) }, width, height, radius));
  const { count, most } = density({ ...dots, order: dots.order.filter((i) => keep[i] === 1) }, width, height, radius);
  const [r, g, b] = dotRgb(dark);
  for (let i = 0; i < out.length; i++) {
    if (count[i]) out[i] = packed(r, g, b, opacity(count[i] as number, most));
  }
}
