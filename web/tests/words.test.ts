// The two languages say the same things.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { splitHash } from '../src/state/location';
import en from '../src/i18n/en.json';
import ja from '../src/i18n/ja.json';
import { translate } from '../src/i18n/i18n';

const holes = (text: string) => [...text.matchAll(/\{\w+\}/g)].map((match) => match[0]).sort();
const sources = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? sources(join(folder, entry.name)) : /\.tsx?$/.test(entry.name) ? [readFileSync(join(folder, entry.name), 'utf8')] : []);

describe('words', () => {
  test('both languages have the same keys, in order', () => {
    expect(Object.keys(ja)).toEqual(Object.keys(en));
    expect(Object.keys(en)).toEqual([...Object.keys(en)].sort());
  });
  test('no word is empty and both have the same holes', () => {
    for (const key of Object.keys(en) as (keyof typeof en)[]) {
      expect(en[key].trim(), key).not.toBe('');
      expect(ja[key].trim(), key).not.toBe('');
      expect(holes(ja[key]), key).toEqual(holes(en[key]));
    }
  });
  test('every word is used', () => {
    const text = sources(new URL('../src', import.meta.url).pathname).join('\n');
    const byName = /^(compared|gives|group|knee|limiter|optimiser|part|rule|state|confidence|accuracy|counter|counters|doing|verdict|term|kind|stepless|revise|revised)\./;
    const unused = Object.keys(en).filter((key) => !byName.test(key) && !text.includes(`'${key}'`) && !text.includes(`"${key}"`));
    expect(unused).toEqual([]);
  });
  test('parts of area and energy, and limiters, as the engine names them, have words', () => {
    const named = (path: string, from: string) => {
      const text = readFileSync(new URL(`../../core/cost/price/${path}`, import.meta.url), 'utf8');
      const begin = text.indexOf(from);
      expect(begin, from).toBeGreaterThan(0);
      return [...text.slice(begin, text.indexOf(';', begin)).matchAll(/"(\w+)"/g)].map((match) => match[1]!);
    };
    const area = named('area.h', 'area_blocks = {'), energy = named('energy.cpp', 'energy_part_text(');
    const limiters = named('metrics.cpp', 'resource_text(');
    for (const found of [area, energy, limiters]) expect(found.length).toBeGreaterThan(9);
    const keys = [...area, ...energy].map((name) => `part.${name}`).concat(limiters.map((name) => `limiter.${name}`));
    expect(keys.filter((key) => !(key in en))).toEqual([]);
  });
  test('holes are filled', () => expect(translate('en', 'sweep.number', { id: 3 })).toBe('Sweep 3'));
});

test('an address splits into path and query', () => {
  expect(splitHash('#/sweeps/3?x=area_mm2')).toEqual({ path: '/sweeps/3', search: 'x=area_mm2' });
  expect(splitHash('')).toEqual({ path: '/', search: '' });
});
