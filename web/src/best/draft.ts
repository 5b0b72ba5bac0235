// The goal of a search as a person puts it together, and as a request says it.
import type { Machine, SearchRequest } from '../api/types';
import { linksOf, unlinked } from '../form/links';
import { changesOf } from '../form/values';
import { isMix } from '../models/mix';

export interface Goal {
  metric: string;
  most: boolean; // else least
}

export interface SearchDraft {
  model: string;
  preset: string;
  goals: Goal[];
  /** A condition on each line. */
  conditions: string;
  /** Values that are not searched; one that is the preset's is held there. */
  fixed: Machine;
  /** Rows that follow others, a line each. */
  links: string;
  by: 'time' | 'evaluations';
  seconds: number;
  evaluations: number;
  validateSeconds: number;
  seed: number;
  optimiser: Optimiser;
  islands: number;
  /** Least signal to noise in dB, and the model that is measured; '' for none, and for the model itself. */
  sqnr: string;
  sqnrModel: string;
}

export type Optimiser = NonNullable<SearchRequest['optimiser']>;
export const optimisers: readonly Optimiser[] = ['families', 'nsga2', 'moead', 'nspso', 'local'];

/** Those of pagmo, which know fronts alone. */
export const needsTwoGoals = (optimiser: Optimiser): boolean => optimiser !== 'families' && optimiser !== 'local';

export const most = { islands: 64, goals: 8, conditions: 32, seconds: 86_400, evaluations: 1_000_000_000, validateSeconds: 3600 };

export const conditionsOf = (text: string): string[] => text.split('\n').map((one) => one.trim()).filter((one) => one !== '');

const within = (value: number, least: number, greatest: number) => Number.isInteger(value) && value >= least && value <= greatest;

/** Whether a request can be made of it; what conditions mean the server says. */
export const isReady = (draft: SearchDraft): boolean =>
  draft.model !== '' && isMix(draft.model)
  && within(draft.goals.length, 1, most.goals)
  && new Set(draft.goals.map((one) => one.metric)).size === draft.goals.length
  && conditionsOf(draft.conditions).length <= most.conditions
  && (draft.by === 'time' ? within(draft.seconds, 1, most.seconds) : within(draft.evaluations, 1, most.evaluations))
  && within(draft.validateSeconds, 0, most.validateSeconds)
  && within(draft.islands, 1, most.islands)
  && (!needsTwoGoals(draft.optimiser) || draft.goals.length > 1)
  && within(draft.seed, 0, Number.MAX_SAFE_INTEGER)
  && (draft.sqnr.trim() === '' || Number.isFinite(Number(draft.sqnr)));

export const goalText = (goal: Goal): string => `${goal.most ? 'max' : 'min'}:${goal.metric}`;

export function searchRequest(draft: SearchDraft): SearchRequest {
  const links = linksOf(draft.links);
  return {
    model: draft.model,
    preset: draft.preset,
    fixed: changesOf(unlinked(draft.fixed, links)),
    ...(links.length > 0 ? { links } : {}),
    objectives: draft.goals.map(goalText),
    constraints: conditionsOf(draft.conditions),
    ...(draft.by === 'time' ? { seconds: draft.seconds } : { evaluations: draft.evaluations }),
    validate_seconds: draft.validateSeconds,
    seed: draft.seed,
    optimiser: draft.optimiser,
    islands: draft.islands,
    ...(draft.sqnr.trim() === '' ? {} : { sqnr_db: Number(draft.sqnr), ...(draft.sqnrModel.trim() === '' ? {} : { sqnr_model: draft.sqnrModel.trim() }) }),
  };
}

/** "min:area_mm2" as a goal; of a metric alone its own direction. */
export function goalOf(text: string, betterOf: (metric: string) => string | undefined): Goal {
  const match = /^(min|max):(.*)$/.exec(text);
  return match ? { metric: match[2] as string, most: match[1] === 'max' } : { metric: text, most: betterOf(text) === 'higher' };
}
