// Short names for the shapes of the REST API.
import type { components } from './schema';

type Schemas = components['schemas'];

export type Problem = Schemas['Problem'];
export type Parameter = Schemas['Parameter'];
export type ParameterValue = Schemas['ParameterValue'];
export type Machine = Record<string, ParameterValue>;
export type Metric = Schemas['Metric'];
export type Preset = Schemas['Preset'];
export type ModelSummary = Schemas['ModelSummary'];
export type ModelFacts = Schemas['ModelFacts'];
export type Analysis = Schemas['Analysis'];
export type Stage = Schemas['Stage'];
export type Instruction = Schemas['Instruction'];
export type Part = Schemas['Part'];
export type ComparisonRow = Schemas['ComparisonRow'];
export type Field = Schemas['Field'];
export type Sweep = Schemas['Sweep'];
export type SweepSpec = Schemas['SweepSpec'];
export type Axis = Schemas['Axis'];
export type Cell = Schemas['Cell'];
export type Columns = Schemas['Columns'];
