// GraphQL over HTTP: one request, one answer, and what can go wrong in words that a view can show.
import type { Answer, Data, GraphQLError } from './answer';

/** Where to ask, and as whom. */
export interface Client {
  readonly service: string;
  /** The token of the person who asks, a customer's or a visitor's, or "". */
  token(): Promise<string>;
  /** Whether the page gave no token of its own for the last request: who asks is a visitor, or may become one. */
  visits(): boolean;
  /** Whether there may be a token, so that who asks may have written something or voted. */
  signedIn(): boolean;
}

/** Why there is no answer. */
export type ProblemKind =
  | 'offline' | 'network' | 'slow' // nothing came back
  | 'busy' | 'limited' | 'unavailable' | 'numbers' | 'much' | 'unauthenticated' | 'forbidden' | 'refused'; // the server said so

export interface Problem {
  readonly kind: ProblemKind;
  /** Seconds after which the server wants to be asked again; 0 if it names none. */
  readonly retryAfter: number;
  /** For the developer of the page, never for readers. */
  readonly detail: string;
}

/** How long an answer may take, and the page's function that returns a token, in milliseconds. failureOf names the seconds. */
const patience = 30_000;

/** Sends an operation. Throws a [Problem], or an AbortError once the signal is aborted. */
export async function ask<D = Data>(client: Client, query: string, variables: unknown, signal: AbortSignal): Promise<Answer<D>> {
  let response: Response;
  let body: Partial<Answer<D>>;
  try {
    response = await send(client, JSON.stringify({ query, variables }), AbortSignal.any([signal, AbortSignal.timeout(patience)]));
    body = Object(await response.json().catch(unlessMalformed)); // what is no GraphQL answer lacks the fields of one
  } catch (error) {
    throw failureOf(error, client.service, signal);
  }
  const errors = body.errors ?? [];
  if (!body.data) throw problemOfStatus(response, errors[0]);
  return { data: body.data, errors };
}

async function send(client: Client, body: string, signal: AbortSignal): Promise<Response> {
  const token = await until(signal, client.token());
  return fetch(client.service, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/graphql-response+json, application/json;q=0.9',
      // What no header can hold, such as the page to sign in, is a token that the service refuses.
      ...(token && { Authorization: `Bearer ${/^[!-~]+$/.exec(token.trim()) ?? '-'}` }),
    },
    body,
    signal,
  });
}

/** What a promise comes to, unless the signal ends the wait for it. */
function until<T>(ends: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    ends.addEventListener('abort', () => reject(ends.reason), { once: true });
    promise.then(resolve, reject);
  });
}

function unlessMalformed(error: unknown): null {
  if (error instanceof SyntaxError) return null;
  throw error;
}

/** What to throw for a request that did not get through. A browser does not say why, nor tell CORS from a lost network. */
function failureOf(error: unknown, endpoint: string, signal: AbortSignal): unknown {
  if (signal.aborted) return error;
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return problem('slow', 'no answer in 30 seconds');
  }
  return navigator.onLine ? problem('network', unreachable(new URL(endpoint))) : problem('offline', 'offline');
}

function unreachable(endpoint: URL): string {
  return `${endpoint.href} cannot be reached${endpoint.origin === location.origin ? '' : `: start it with --cors-origin ${location.origin}, or see connect-src`}`;
}

function problemOfStatus({ status, headers }: Response, error: GraphQLError | undefined): Problem {
  const [seconds] = /^\d+$/.exec(headers.get('Retry-After') ?? '') ?? [0]; // which may be a date
  return problem(kinds[codeOf(error)] ?? kindOfStatus(status), `HTTP ${status}: ${error?.message ?? 'no GraphQL answer'}`, Number(seconds));
}

function kindOfStatus(status: number): ProblemKind {
  if (status === 401) return 'unauthenticated';
  if (status === 429 || status === 503) return 'busy';
  return status >= 500 ? 'unavailable' : 'refused';
}

/** By the code of an error. */
const kinds: Readonly<Record<string, ProblemKind>> = {
  THROTTLED: 'busy', OVERLOADED: 'busy', RATE_LIMITED: 'limited', TOO_COMPLEX: 'much', TOO_COSTLY: 'much',
  UNAVAILABLE: 'unavailable', TIMEOUT: 'unavailable', INTERNAL: 'unavailable', UNAUTHENTICATED: 'unauthenticated', FORBIDDEN: 'forbidden',
};

function codeOf(error: GraphQLError | undefined): string {
  return error?.extensions?.code ?? '';
}

function problem(kind: ProblemKind, detail: string, retryAfter = 0): Problem {
  return { kind, retryAfter, detail };
}

/** The problem of an attempt that threw. */
export function problemIn(error: unknown): Problem {
  return (error as Partial<Problem>).kind ? (error as Problem) : problem('unavailable', String(error));
}

/** The problem of a mutation that was not made, or of which nobody knows. */
export function problemOfError(error: GraphQLError): Problem {
  return problem(kinds[codeOf(error)] ?? 'unavailable', error.message);
}

/** The problem of an answer that lacks its list; null if it has it. `numbered` tells that a page was asked for by number. */
export function problemOf(answer: Answer, numbered: boolean): Problem | null {
  if (answer.data?.product?.list) return null;
  // The error of the product or of its list, else one of the whole operation.
  const error = answer.errors.find(({ path }) => !path || (path[0] === 'product' && (path.length === 1 || path[1] === 'list')));
  const code = codeOf(error);
  // A cursor of another list, a number where numbers are off, or where they are away.
  const isPlace = (numbered && code === 'UNAVAILABLE') || (error?.path?.[1] && /^BAD/.test(code));
  return problem(isPlace ? 'numbers' : kinds[code] ?? 'unavailable', error?.message ?? 'no list');
}
