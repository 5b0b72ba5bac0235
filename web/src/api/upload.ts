// Uploading a model file with progress: fetch cannot report it, so this one request goes through XMLHttpRequest.
import { ProblemError, refusal } from './client';
import type { ModelFacts, Problem } from './types';

/** The name under which a file is stored: its own, less the extension and what a name may not hold. */
export function modelNameOf(file: string): string {
  const stem = file.replace(/\.onnx$/i, '').replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^-+|-+$/g, '');
  return (stem || 'model').slice(0, 64);
}

/** A value that a file leaves open: the size of a dimension, or the value of an input that a branch, a loop or a shape depends on. */
export interface Open {
  kind: 'dim' | 'input';
  name: string;
  value: string;
}

const placeholder = 'VALUE';

/**
 * Values that a refused upload asks for, with the sizes that the server gives as examples; the value of an input it
 * cannot guess. Example: a problem that says `give: "dim=B=1&input=sr=VALUE"` asks for B, 1, and sr, nothing.
 */
export function askedFor(problem: Problem): Open[] {
  const { give } = problem as { give?: string };
  const open = [...new URLSearchParams(give ?? '')].flatMap(([kind, said]): Open[] => {
    const end = said.lastIndexOf('=');
    if ((kind !== 'dim' && kind !== 'input') || end < 1) return [];
    const value = said.slice(end + 1);
    return [{ kind, name: said.slice(0, end), value: value === placeholder ? '' : value }];
  });
  const unbound = (problem.unbound ?? []).filter((name) => !open.some((one) => one.kind === 'dim' && one.name === name));
  return [...unbound.map((name): Open => ({ kind: 'dim', name, value: '' })), ...open];
}

/** The values said before and those asked for now, each once; what a person wrote stays. */
export const together = (said: Open[], asked: Open[]): Open[] =>
  [...said, ...asked.filter((one) => !said.some((other) => other.kind === one.kind && other.name === one.name))];

export function uploadModel(
  name: string,
  file: Blob,
  said: Open[],
  role: string,
  progress: (share: number) => void,
): Promise<ModelFacts> {
  const query = said.map((one) => `${one.kind}=${encodeURIComponent(`${one.name}=${one.value}`)}`);
  if (role !== 'network') query.push(`role=${encodeURIComponent(role)}`);
  const url = `/api/v1/models/${encodeURIComponent(name)}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.responseType = 'json';
    request.upload.onprogress = (event) => progress(event.lengthComputable ? event.loaded / event.total : 0);
    request.onload = () => {
      if (request.status === 201) resolve(request.response as ModelFacts);
      else reject(new ProblemError(refusal(request.response, request.status)));
    };
    request.onerror = () => reject(new Error('the connection was lost'));
    request.send(file);
  });
}
