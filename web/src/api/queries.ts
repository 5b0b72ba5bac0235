// One hook for each question the dashboard asks the server.
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { answer, client } from './client';
import { changesOf } from '../form/values';
import type { Cell, Machine, PointPage, ScreeningRequest, SearchItem, SearchRequest, Sweep, ValidationItem } from './types';

const forever = { staleTime: Infinity, gcTime: Infinity };

/** The four tables that never change while a server runs. */
export function useTables() {
  const parameters = useQuery({
    queryKey: ['parameters'],
    queryFn: () => answer(client.GET('/api/v1/parameters')).then((data) => data.parameters),
    ...forever,
  });
  const metrics = useQuery({
    queryKey: ['metrics'],
    queryFn: () => answer(client.GET('/api/v1/metrics')).then((data) => data.metrics),
    ...forever,
  });
  const records = useQuery({
    queryKey: ['fields'],
    queryFn: () => answer(client.GET('/api/v1/fields')).then((data) => data.records),
    ...forever,
  });
  const presets = useQuery({
    queryKey: ['presets'],
    queryFn: () => answer(client.GET('/api/v1/presets')).then((data) => data.presets),
    ...forever,
  });
  return { parameters, metrics, records, presets };
}

export const useBaselines = () =>
  useQuery({
    queryKey: ['baselines'],
    queryFn: () => answer(client.GET('/api/v1/baselines')).then((data) => data.baselines),
    ...forever,
  });

export const useChips = () =>
  useQuery({
    queryKey: ['chips'],
    queryFn: () => answer(client.GET('/api/v1/chips')).then((data) => data.chips),
    ...forever,
  });

export const useModels = () =>
  useQuery({ queryKey: ['models'], queryFn: () => answer(client.GET('/api/v1/models')).then((data) => data.models) });

export const useModel = (name: string) =>
  useQuery({
    queryKey: ['models', name],
    queryFn: () => answer(client.GET('/api/v1/models/{name}', { params: { path: { name } } })),
    enabled: name !== '',
    ...forever,
  });

export const useVersion = () =>
  useQuery({ queryKey: ['version'], queryFn: () => answer(client.GET('/api/v1/version')), ...forever });

export const isLive = (job: { state: Sweep['state'] }) => job.state === 'running' || job.state === 'queued';

/** Something of it changes by itself: points come, or the front of a finished one is validated or measured. */
export const changes = (sweep: Sweep) =>
  isLive(sweep) || sweep.measuring_accuracy || (sweep.validation !== null && isLive(sweep.validation));

export const useSweeps = () =>
  useQuery({
    queryKey: ['sweeps'],
    queryFn: () => answer(client.GET('/api/v1/sweeps')).then((data) => data.sweeps),
    refetchInterval: (query) => (query.state.data?.some(isLive) ? 1000 : 10000),
  });

export const useSweep = (id: number) =>
  useQuery({
    queryKey: ['sweep', id],
    queryFn: () => answer(client.GET('/api/v1/sweeps/{id}', { params: { path: { id } } })),
    refetchInterval: (query) =>
      query.state.data && changes(query.state.data) ? (isLive(query.state.data) ? 500 : 2000) : false,
  });

/** Every stored point, a column each; `formulas` beside the sweep's own; `version` changes when there are more of them. */
export const useColumns = (id: number, fields: string[], formulas: string[], version: number) =>
  useQuery({
    queryKey: ['columns', id, fields.join(','), formulas, version],
    queryFn: () =>
      answer(client.GET('/api/v1/sweeps/{id}/columns', { params: { path: { id }, query: { fields: fields.join(','), metric: formulas } } })),
    placeholderData: keepPreviousData,
    enabled: version > 0 && fields.length > 0,
    staleTime: Infinity,
  });

/** Asks for the volume that the front by the sweep's objectives covers, and how it grew. */
export const useHypervolume = (id: number, version: number) =>
  useQuery({
    queryKey: ['hypervolume', id, version],
    queryFn: () => answer(client.GET('/api/v1/sweeps/{id}/hypervolume', { params: { path: { id } } })),
    placeholderData: keepPreviousData,
    enabled: version > 0,
    staleTime: Infinity,
  });

/** The front of all points of these sweeps; by their own objectives where none are said. `version` changes when there are more points. */
export const useJointFront = (sweeps: number[], objectives: string[], version: number) =>
  useQuery({
    queryKey: ['fronts', sweeps, objectives, version],
    queryFn: () => answer(client.GET('/api/v1/fronts', { params: { query: { sweeps: sweeps.join(','), ...(objectives.length > 0 ? { metrics: objectives.join(',') } : {}) } } })),
    placeholderData: keepPreviousData,
    enabled: sweeps.length > 0,
  });

export const usePoints = (id: number, sort: string, feasible: boolean, formulas: string[], version: number) =>
  useInfiniteQuery({
    queryKey: ['points', id, sort, feasible, formulas, version],
    queryFn: ({ pageParam }) =>
      answer(
        client.GET('/api/v1/sweeps/{id}/points', {
          params: {
            path: { id },
            query: {
              limit: 500,
              metric: formulas,
              ...(sort ? { sort } : {}),
              ...(feasible ? { feasible } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
            },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });

const mostInfeasible = 100_000;

/** Numbers and reasons of a sweep's infeasible points, the first 100,000 of them, and how many there are. */
export const useInfeasible = (id: number, version: number) =>
  useQuery({
    queryKey: ['infeasible', id, version],
    queryFn: async ({ signal }) => {
      const rows: Cell[][] = [];
      let total = 0;
      for (let cursor: string | null = ''; cursor !== null && rows.length < mostInfeasible;) {
        const query: { limit: number; feasible: boolean; fields: string; cursor?: string } = { limit: 10_000, feasible: false, fields: 'throughput_fps', ...(cursor ? { cursor } : {}) };
        const page: PointPage = await answer(client.GET('/api/v1/sweeps/{id}/points', { params: { path: { id }, query }, signal }));
        const reason = page.columns.indexOf('reason');
        rows.push(...page.rows.map((row): Cell[] => [row[0] ?? null, row[reason] ?? null]));
        total = page.total;
        cursor = page.next;
      }
      return { rows, total };
    },
    placeholderData: keepPreviousData,
    staleTime: Infinity,
  });

export const usePoint = (id: number, index: number) =>
  useQuery({
    queryKey: ['point', id, index],
    queryFn: () => answer(client.GET('/api/v1/sweeps/{id}/points/{index}', { params: { path: { id, index } } })),
    staleTime: Infinity,
  });

/** The points of a sweep whose analyses are kept. */
export const useKeptPoints = (id: number) =>
  useQuery({
    queryKey: ['kept', id],
    queryFn: () => answer(client.GET('/api/v1/sweeps/{id}/kept-points', { params: { path: { id } } })).then((data) => data.points),
  });

const analysisPath = (id: number, index: number) => ({ params: { path: { id, index } } });

export const keepPoint = (id: number, index: number) => answer(client.POST('/api/v1/sweeps/{id}/points/{index}/analysis', analysisPath(id, index)));

export const letGoOfPoint = (id: number, index: number) => answer(client.DELETE('/api/v1/sweeps/{id}/points/{index}/analysis', analysisPath(id, index)));

/** The analyses of a point that was kept at that time; null of one that is not. */
export const useKeptAnalyses = (id: number, index: number, created: string | null) =>
  useQuery({
    queryKey: ['kept-analyses', id, index, created],
    queryFn: () => answer(client.GET('/api/v1/sweeps/{id}/points/{index}/analysis', analysisPath(id, index))).then((data) => data.analyses),
    enabled: created !== null,
    staleTime: Infinity,
  });

export interface Design {
  model: string;
  preset: string;
  machine: Machine;
  formats?: string; // rules for single layers
}

const requestOf = (design: Design | null) => {
  const { model, preset, machine, formats } = design as Design;
  return { model, preset, machine: changesOf(machine), ...(formats ? { formats } : {}) };
};

export const useAnalysis = (design: Design | null, instructions: boolean) =>
  useQuery({
    queryKey: ['analysis', design, instructions],
    queryFn: ({ signal }) => answer(client.POST('/api/v1/analyses', { body: { ...requestOf(design), instructions }, signal })),
    enabled: design !== null && design.model !== '',
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });

export const useExplanation = (design: Design) =>
  useQuery({
    queryKey: ['explanation', design],
    queryFn: ({ signal }) => answer(client.POST('/api/v1/explanations', { body: requestOf(design), signal })),
    enabled: design.model !== '',
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });

/** Every single change of a machine: takes seconds, so it is asked for only where it is looked at. */
export const useSensitivities = (design: Design) =>
  useQuery({
    queryKey: ['sensitivities', design],
    queryFn: ({ signal }) => answer(client.POST('/api/v1/sensitivities', { body: requestOf(design), signal })),
    enabled: design.model !== '',
    staleTime: 600_000,
  });

export const useMemoryViews = (design: Design) =>
  useQuery({
    queryKey: ['memory-views', design],
    queryFn: ({ signal }) => answer(client.POST('/api/v1/memory-views', { body: requestOf(design), signal })),
    staleTime: 60_000,
  });

/** Presets that stand beside a machine: those that SDIP's drawings and sweeps gave, but for an unchanged one itself. */
const besideOf = (design: Design | null) =>
  ['balanced', 'stream', 'essay', 'edge'].filter((name) => name !== design?.preset || Object.keys(design.machine).length > 0);

/** `node`: a process that all machines are drawn in; empty: each in its own. */
export const useComparison = (design: Design | null, baselines: string[], node: string) =>
  useQuery({
    queryKey: ['comparison', design, baselines, node],
    queryFn: () => answer(client.POST('/api/v1/comparisons', { body: { ...requestOf(design), baselines, presets: besideOf(design), ...(node === '' ? {} : { node }) } })),
    enabled: design !== null && design.model !== '' && baselines.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });

export interface ValidationWish {
  layers: string[];
  tensors: boolean;
  seconds: number;
}

export const startValidation = (design: Design, wish: ValidationWish) =>
  answer(client.POST('/api/v1/validations', { body: { ...requestOf(design), ...wish } }));

export const useValidations = () =>
  useQuery({
    queryKey: ['validations'],
    queryFn: () => answer(client.GET('/api/v1/validations')).then((data) => data.validations),
    refetchInterval: (query) => (query.state.data?.some((one: ValidationItem) => isLive(one)) ? 1000 : 10000),
  });

export const useValidation = (id: number) =>
  useQuery({
    queryKey: ['validation', id],
    queryFn: () => answer(client.GET('/api/v1/validations/{id}', { params: { path: { id } } })),
    refetchInterval: (query) => (query.state.data && isLive(query.state.data) ? 500 : false),
  });

export const useFrontValidation = (sweep: number) =>
  useQuery({
    queryKey: ['front-validation', sweep],
    queryFn: () => answer(client.GET('/api/v1/sweeps/{id}/validation', { params: { path: { id: sweep } } })),
    refetchInterval: (query) => (query.state.data && isLive(query.state.data) ? 1000 : false),
  });

export const useSearchedRows = () =>
  useQuery({
    queryKey: ['searched-rows'],
    queryFn: () => answer(client.GET('/api/v1/searched-rows')).then((data) => data.rows),
    ...forever,
  });

export const startScreening = (body: ScreeningRequest) => answer(client.POST('/api/v1/screenings', { body }));

export const startSearch = (body: SearchRequest) => answer(client.POST('/api/v1/searches', { body }));

export const useSearches = () =>
  useQuery({
    queryKey: ['searches'],
    queryFn: () => answer(client.GET('/api/v1/searches')).then((data) => data.searches),
    refetchInterval: (query) => (query.state.data?.some((one: SearchItem) => isLive(one)) ? 1000 : 10000),
  });

export const useSearch = (id: number) =>
  useQuery({
    queryKey: ['search', id],
    queryFn: () => answer(client.GET('/api/v1/searches/{id}', { params: { path: { id } } })),
    refetchInterval: (query) => (query.state.data && isLive(query.state.data) ? 500 : false),
  });
