// Which published chips the chart of known chips compares.
import { expect, test } from 'vitest';
import type { Chip } from '../src/api/types';
import { comparedChips } from '../src/chart/known_chips';

const chip = (id: string, use: Chip['use'], published?: number, bound = false): Chip => {
  const figure = { value: 10, least: 5, most: 20, ...(published === undefined ? {} : { published, bound, published_as: 'die', predicted_over_published: 10 / published }) };
  return { id, name: id, use, node_nm: 7, area_mm2: figure, power_w: figure, clock_mhz: { limit: 1000 }, area_parts_mm2: {}, power_parts_w: {}, figures: [] };
};

test('chips with a published figure are compared, those that constants were fitted on last', () => {
  const chips = [chip('fitted', 'fit', 8), chip('unpublished', 'predict'), chip('bounded', 'predict', 12, true), chip('predicted', 'predict', 9)];
  expect(comparedChips(chips, 'area_mm2').map((one) => one.id)).toEqual(['predicted', 'fitted']);
});
