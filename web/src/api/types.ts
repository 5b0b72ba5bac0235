// Short names for the shapes of the REST API.
import type { components } from './schema';

type Schemas = components['schemas'];

export type ParameterValue = number | string | boolean;
/** A machine by parameter name: the form is made from the table, so the names are data here. */
export type Machine = Record<string, ParameterValue>;
export type MetricValues = Record<string, number | null>;
export type Cell = string | number | boolean | null;

export type Problem = Schemas['Problem'];
export type Parameter = Schemas['Parameter'];
export type Metric = Schemas['MetricInfo'];
export type FieldInfo = Schemas['FieldInfo'];
export type Preset = Schemas['Preset'];
export type ModelSummary = Schemas['Model'];
export type ModelFacts = Schemas['ModelFacts'];
export type StageFacts = Schemas['StageFacts'];
export type ModelReport = Schemas['ModelReport'];
export type LayerTree = Schemas['LayerTree'];
export type Analysis = Schemas['Analysis'];
export type Stage = Schemas['StageAnalysis'];
export type MacRoof = Schemas['MacRoof'];
export type Load = Schemas['Load'];
export type Instruction = Schemas['Instruction'];
export type Explanation = Schemas['Explanation'];
export type StageExplanation = Schemas['StageExplanation'];
export type LayerExplanation = Schemas['LayerExplanation'];
export type FilledTerm = Schemas['FilledTerm'];
export type Sensitivities = Schemas['Sensitivities'];
export type SingleChange = Schemas['SingleChange'];
export type MemoryFigures = Schemas['MemoryFigures'];
export type MemoryRectangle = Schemas['MemoryRectangle'];
export type StageMemory = Schemas['StageMemory'];
export type Part = Schemas['Part'];
export type ComparisonRow = Schemas['ComparisonRow'];
export type Loss = Schemas['Loss'];
export type Field = Schemas['Field'];
export type Sweep = Schemas['Sweep'];
export type SweepRequest = Schemas['SweepRequest'];
export type Axis = Schemas['Axis'];
export type Columns = Schemas['PointColumns'];
export type PointPage = Schemas['PointsPage'];
export type Validation = Schemas['Validation'];
export type ValidationItem = Schemas['ValidationItem'];
export type ValidationSummary = Schemas['ValidationSummary'];
export type ValidationResult = Schemas['ValidationResult'];
export type SweepValidation = Schemas['SweepValidation'];
export type StageCounters = Schemas['StageCounters'];
export type ComparedPass = Schemas['ComparedPass'];
export type StageTensors = Schemas['StageTensors'];
export type LayerTensors = Schemas['LayerTensors'];
export type FirstDifference = Schemas['FirstDifference'];
export type FrontPoint = Schemas['FrontPoint'];
export type MachineChanges = Schemas['MachineChanges'];
