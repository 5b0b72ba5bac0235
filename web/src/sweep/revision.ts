// A sweep made of another one, as drafted on its page, and the request it becomes.
import type { Parameter, RevisionRequest, Sweep } from '../api/types';
import { axisOf } from '../form/axes';
import { inputText, type Fault } from '../form/values';

export type RevisionKind = RevisionRequest['kind'];
export const revisionKinds: RevisionKind[] = ['clone', 'extend', 'narrow', 'retry'];

export interface RevisionDraft {
  kind: RevisionKind;
  name: string;
  /** For extend and narrow, the axis that changes, and its values more, or alone; '' for none. */
  parameter: string;
  values: string;
  /** For extend, points more of a drawn sample, '' for none. */
  count: string;
  /** For narrow, the constraint, '' for none. */
  constraint: string;
}

export const emptyDraft: RevisionDraft = { kind: 'clone', name: '', parameter: '', values: '', count: '', constraint: '' };

/** Text in the field of values when an axis is chosen: to narrow, those that it has. */
export function valuesOf(sweep: Sweep, kind: RevisionKind, parameter: Parameter | undefined): string {
  const axis = sweep.spec.axes.find((one) => one.parameter === parameter?.name);
  return kind === 'narrow' && axis?.values && parameter ? axis.values.map((one) => inputText(parameter, one)).join(', ') : '';
}

export type RevisionResult = { request: RevisionRequest } | { fault: Fault };

/** Null while nothing is said that would change anything. */
export function revisionRequest(draft: RevisionDraft, parameter: Parameter | undefined): RevisionResult | null {
  const name = draft.name.trim();
  const request: RevisionRequest = { kind: draft.kind, ...(name === '' ? {} : { name }) };
  if (draft.kind === 'clone' || draft.kind === 'retry') return { request };
  let said = false;
  if (parameter && draft.values.trim() !== '') {
    const axis = axisOf({ parameter: parameter.name, kind: 'values', values: draft.values, min: '', max: '', by: '' }, parameter);
    if ('fault' in axis) return axis;
    request.axes = [axis.axis];
    said = true;
  }
  if (draft.kind === 'extend' && draft.count.trim() !== '') {
    const count = Number(draft.count);
    if (!Number.isInteger(count) || count < 1) return { fault: { key: 'fault.whole', values: {} } };
    request.count = count;
    said = true;
  }
  if (draft.kind === 'narrow' && draft.constraint.trim() !== '') {
    request.constraints = [draft.constraint.trim()];
    said = true;
  }
  return said ? { request } : null;
}
