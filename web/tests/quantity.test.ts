// Numbers as people read them, and what people type as numbers.
import { describe, expect, test } from 'vitest';
import { cellText, columnText, duration, parseNumber, percent, plain, quantity, tickText } from '../src/format/quantity';

describe('quantity', () => {
  test('uses decimal prefixes for MACs, seconds and joules', () => {
    expect(quantity(401.6e9, 'MAC')).toBe('401.6 GMAC');
    expect(quantity(0.0204, 's')).toBe('20.4 ms');
    expect(quantity(1.5e-12, 'J')).toBe('1.5 pJ');
  });
  test('uses binary prefixes for bytes', () => {
    expect(quantity(8388608, 'B')).toBe('8 MiB');
    expect(quantity(1000, 'B')).toBe('1,000 B');
    expect(quantity(1024, 'B')).toBe('1 KiB');
  });
  test('shows what rounds up to the next prefix in that prefix', () => {
    expect(quantity(999.96e9, 'MAC', 4)).toBe('1 TMAC');
  });
  test('keeps every digit of a whole number without a prefix', () => {
    expect(plain(859520964)).toBe('859,520,964');
    expect(quantity(9999, 'cycles')).toBe('9,999 cycles');
    expect(quantity(332400000, 'cycles')).toBe('332.4 M cycles');
  });
  test('writes units as they are written', () => {
    expect(quantity(584.7, 'mm2')).toBe('584.7 mm²');
    expect(quantity(0.0025815, 'frame/s/mm2')).toBe('0.002582 fps/mm²');
    expect(quantity(2.5, 'frame/s')).toBe('2.5 fps');
  });
  test('shows no decimals behind more digits than are asked for', () => {
    expect(quantity(11403.548784, 'frame/s')).toBe('11,404 fps');
    expect(quantity(1194.76, 'mm2')).toBe('1,195 mm²');
  });
  test('shows a dash where there is no value, and zero where it is zero', () => {
    expect(quantity(null, 's')).toBe('–');
    expect(quantity(NaN, 's')).toBe('–');
    expect(quantity(0, 'B')).toBe('0 B');
    expect(quantity(0, 's')).toBe('0 s');
  });
  test('keeps signs', () => expect(quantity(-2048, 'B')).toBe('-2 KiB'));
  test('does not repeat an unscaled unit under a heading that names it', () => {
    expect(columnText(8, 'lanes')).toBe('8');
    expect(columnText(2048, 'B')).toBe('2 KiB');
    expect(cellText('fp16', '')).toBe('fp16');
    expect(cellText(false, '')).toBe('false');
  });
});

describe('parseNumber', () => {
  test.each([
    ['8 MiB', 8388608], ['2k', 2000], ['1,024', 1024], ['.5', 0.5], ['1e3', 1000], [' 7 ', 7], ['16Ki', 16384],
  ])('%s is %d', (text, value) => expect(parseNumber(text)).toBe(value));
  test.each(['', 'eight', '8 parsecs', '1 2', '--1'])('%j is none', (text) => expect(parseNumber(text)).toBeNull());
});

test('percent and duration are short', () => {
  expect(percent(0.88889)).toBe('88.9 %');
  expect(percent(0)).toBe('0 %');
  expect(percent(2.6e-7)).toBe('<0.001 %');
  expect(duration(200)).toBe('3 min 20 s');
  expect(duration(7500)).toBe('2 h 5 min');
  expect(duration(59.7)).toBe('60 s');
});

test('ticks are short, and different ones read differently', () => {
  const fps = [2e5, 1e6, 1.2e6, 1e9].map((value) => tickText(value, 'frame/s'));
  expect(fps).toEqual(['200,000', '1 M', '1.2 M', '1 G']);
  expect(tickText(4 * 2 ** 20, 'B')).toBe('4 MiB');
  expect(tickText(2e7, 'cycles')).toBe('20 M cycles');
  expect(tickText(500, 'mm2')).toBe('500');
});
