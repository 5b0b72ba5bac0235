// Formulas of the user's: those of a sweep's own spec and those that the address adds, as metrics of the page.
import type { Metric, Sweep } from '../api/types';
import type { Constraint } from '../chart/scatter_model';

type Better = Metric['better'];

export interface Formula {
  name: string;
  unit: string;
  /** The formula itself; the server reads it. */
  text: string;
  better: Better;
  /** The sweep was started with it: it is not in the address. */
  own: boolean;
}

const prefixOf: Record<Better, string> = { higher: 'max:', lower: 'min:', neither: '' };
const betterOf = (prefix: string | undefined): Better => (prefix === 'max:' ? 'higher' : prefix === 'min:' ? 'lower' : 'neither');

/** `max:per_watt [frame/J]=throughput_fps / power_w`, a line each; a line that is none is a name, which the server refuses. */
export function parseFormulas(lines: string): Formula[] {
  return lines.split('\n').filter((line) => line.trim() !== '').map((line) => {
    const match = /^\s*(max:|min:)?\s*([^=[\]]+?)\s*(?:\[([^\]]*)\])?\s*=(.*)$/.exec(line);
    return { name: match?.[2] ?? line.trim(), unit: (match?.[3] ?? '').trim(), text: (match?.[4] ?? '').trim(), better: betterOf(match?.[1]), own: false };
  });
}

/** As the server takes it in a query. */
export const queryOf = (formula: Formula): string => `${formula.name}${formula.unit ? ` [${formula.unit}]` : ''}=${formula.text}`;

export const encodeFormulas = (formulas: Formula[]): string => formulas.map((one) => prefixOf[one.better] + queryOf(one)).join('\n');

/** The name of an objective without what it says is better. */
export const objectiveName = (objective: string): string => objective.replace(/^(max|min):/, '');

/** Those of a sweep, better as its objectives say, then those of the address. */
export function formulasOf(sweep: Sweep, lines: string): Formula[] {
  const own = Object.entries(sweep.spec.metrics ?? {}).map(([name, said]): Formula => {
    const objective = sweep.objectives.find((one) => objectiveName(one) === name);
    const { formula: text, unit = '' } = typeof said === 'string' ? { formula: said } : said;
    return { name, unit, text, better: betterOf(objective?.slice(0, 4)), own: true };
  });
  const names = new Set(own.map((one) => one.name));
  return [...own, ...parseFormulas(lines).filter((one) => !names.has(one.name))];
}

/** The name by which a sweep's own constraint is asked for, and that of its column: 1 where it holds. */
const constraintColumn = (k: number): string => `own_constraint_${k + 1}`;
export const constraintQueries = (sweep: Sweep): string[] => (sweep.spec.constraints ?? []).map((text, k) => `${constraintColumn(k)}=if(${text}, 1, 0)`);
export const constraintLimits = (sweep: Sweep): Constraint[] => (sweep.spec.constraints ?? []).map((_, k) => ({ metric: constraintColumn(k), most: false, value: 1 }));

export const metricOf = ({ name, unit, text, better }: Formula): Metric => ({ name, unit, better, doc: { en: text, ja: text } });

/** The lines' part of the body of a sweep: formulas, and as objectives those that say what is better. */
export function requestOf(lines: string): { metrics: Record<string, { formula: string; unit: string }>; objectives: string[] } {
  const formulas = parseFormulas(lines);
  return {
    metrics: Object.fromEntries(formulas.map((one) => [one.name, { formula: one.text, unit: one.unit }])),
    objectives: formulas.filter((one) => one.better !== 'neither').map((one) => prefixOf[one.better] + one.name),
  };
}
