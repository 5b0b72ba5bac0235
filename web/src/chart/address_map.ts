// The contents of one memory as boxes of a chart: time across, address up.
import type { MemoryRectangle } from '../api/types';
import { place, type Scale } from './scale';

export interface Box {
  rectangle: MemoryRectangle;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Sorts by start, then by address: the order in which the arrow keys go through them. */
export const inOrder = (rectangles: MemoryRectangle[]): MemoryRectangle[] =>
  [...rectangles].sort((a, b) => a.start_cycle - b.start_cycle || a.address - b.address);

/**
 * Boxes at least half a pixel wide and high, so that nothing vanishes.
 * Example: 100 cycles on 200 pixels, 10 bytes on 50: 4 bytes at 2 during 10..20 are 20 x 20 at (20, 20).
 */
export function boxesOf(rectangles: MemoryRectangle[], x: Scale, y: Scale): Box[] {
  return rectangles.map((rectangle) => {
    const left = place(x, rectangle.start_cycle);
    const top = place(y, rectangle.address + rectangle.bytes);
    return {
      rectangle, x: left, y: top,
      width: Math.max(0.5, place(x, rectangle.end_cycle) - left),
      height: Math.max(0.5, place(y, rectangle.address) - top),
    };
  });
}

/** The box under a point, the last drawn first. */
export function boxAt(boxes: Box[], x: number, y: number): Box | undefined {
  for (let i = boxes.length - 1; i >= 0; i--) {
    const box = boxes[i] as Box;
    if (x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height) return box;
  }
  return undefined;
}

/** One of six shades by name, so that neighbours differ and a value keeps its shade. */
export function shadeOf(name: string): number {
  let sum = 0;
  for (let i = 0; i < name.length; i++) sum = (sum * 31 + name.charCodeAt(i)) >>> 0;
  return sum % 6;
}

/** The position that a key leads to: arrows one on, Home and End to the ends; undefined for other keys. */
export function moved(key: string, position: number, count: number): number | undefined {
  if (count === 0) return undefined;
  const clamp = (to: number) => Math.min(count - 1, Math.max(0, to));
  if (key === 'ArrowRight' || key === 'ArrowDown') return clamp(position + 1);
  if (key === 'ArrowLeft' || key === 'ArrowUp') return clamp(position - 1);
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  return undefined;
}
