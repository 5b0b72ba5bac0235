// Uploading a model file with progress: fetch cannot report it, so this one request goes through XMLHttpRequest.
import { ProblemError, refusal } from './client';
import type { ModelFacts } from './types';

/** The name under which a file is stored: its own, less the extension and what a name may not hold. */
export function modelNameOf(file: string): string {
  const stem = file.replace(/\.onnx$/i, '').replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^-+|-+$/g, '');
  return (stem || 'model').slice(0, 64);
}

export function uploadModel(
  name: string,
  file: Blob,
  dims: Record<string, string>,
  role: string,
  progress: (share: number) => void,
): Promise<ModelFacts> {
  const query = Object.entries(dims).map(([dim, value]) => `dim=${encodeURIComponent(`${dim}=${value}`)}`);
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
