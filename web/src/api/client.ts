// The typed client of the REST API, and its one error type.
import createClient from 'openapi-fetch';
import { watchedFetch } from '../state/connection';
import type { paths } from './schema';
import type { Problem } from './types';

export const client = createClient<paths>({ baseUrl: '/', fetch: (request) => watchedFetch(request) });

/** A refusal by the server, or a server that cannot be reached (code `unreachable`). */
export class ProblemError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  const detail = error instanceof Error ? error.message : String(error);
  return { type: 'about:blank', title: 'unreachable', status: 0, code: 'unreachable', where: '', detail };
}

interface Reply<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The server's answer; throws ProblemError when it refused. */
export async function answer<T>(call: Promise<Reply<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  throw new ProblemError(refusal(error, response.status));
}

/** The problem document of a refused request, or one made from its status when the body is none. */
export function refusal(body: unknown, status: number): Problem {
  if (typeof body === 'object' && body !== null && 'code' in body) return body as Problem;
  const detail = `the server answered with status ${status}`;
  return { type: 'about:blank', title: 'unexpected answer', status, code: 'unexpected_answer', where: '', detail };
}
