// GraphQL over HTTP: sends a request, returns its answer, and turns failures into problems that a
// view can describe.
import type { Answer, Data, GraphQLError } from './answer';

/** The service, and the identity of the person who uses it. */
export interface Client {
  readonly service: string;
  /** Returns the token of the customer or visitor, or "". */
  token(): Promise<string>;
  /**
   * Reports whether the last request had no token from the page. The person then is a visitor, or
   * can become one.
   */
  visits(): boolean;
  /**
   * Reports whether there may be a token, so that the person may have comments or votes of their
   * own.
   */
  signedIn(): boolean;
}

/** Why there is no answer. */
export type ProblemKind =
  | 'offline' | 'network' | 'slow' // no answer arrived
  // The server gave the reason:
  | 'busy' | 'limited' | 'unavailable' | 'numbers' | 'much' | 'unauthenticated' | 'forbidden'
  | 'refused';

export interface Problem {
  readonly kind: ProblemKind;
  /** Seconds to wait before a retry, as the server asks; 0 if it does not say. */
  readonly retryAfter: number;
  /** For the developer of the page; never shown to readers. */
  readonly detail: string;
}

/**
 * The time limit for the page's token function and the answer together, in milliseconds. failureOf
 * repeats it in seconds.
 */
const patience = 30_000;

/** Sends an operation. Throws a [Problem], or an AbortError once the signal is aborted. */
export async function ask<D = Data>(
  client: Client,
  query: string,
  variables: unknown,
  signal: AbortSignal,
): Promise<Answer<D>> {
  let response: Response;
  let body: Partial<Answer<D>>;
  try {
    response = await send(
      client,
      JSON.stringify({ query, variables }),
      AbortSignal.any([signal, AbortSignal.timeout(patience)]),
    );
    // A body that is no GraphQL answer has no data, so it is reported below.
    body = Object(await response.json().catch(unlessMalformed));
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
      // A token that no header can hold, such as the HTML of a sign-in page, becomes "-", which the
      // service refuses.
      ...(token && { Authorization: `Bearer ${/^[!-~]+$/.exec(token.trim()) ?? '-'}` }),
    },
    body,
    signal,
  });
}

/** Waits for a promise until the signal aborts. */
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

/**
 * Returns the error to throw for a request without an answer. A browser reports a lost network and
 * a refusal by CORS alike.
 */
function failureOf(error: unknown, endpoint: string, signal: AbortSignal): unknown {
  if (signal.aborted) return error;
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return problem('slow', 'no answer in 30 seconds');
  }
  return navigator.onLine
    ? problem('network', unreachable(new URL(endpoint)))
    : problem('offline', 'offline');
}

function unreachable(endpoint: URL): string {
  return `${endpoint.href} cannot be reached${
    endpoint.origin === location.origin
      ? ''
      : `: start it with --cors-origin ${location.origin}, or see connect-src`
  }`;
}

function problemOfStatus({ status, headers }: Response, error: GraphQLError | undefined): Problem {
  // The header may be a date instead.
  const [seconds] = /^\d+$/.exec(headers.get('Retry-After') ?? '') ?? [0];
  return problem(
    kinds[codeOf(error)] ?? kindOfStatus(status),
    `HTTP ${status}: ${error?.message ?? 'no GraphQL answer'}`,
    Number(seconds),
  );
}

function kindOfStatus(status: number): ProblemKind {
  if (status === 401) return 'unauthenticated';
  if (status === 429 || status === 503) return 'busy';
  return status >= 500 ? 'unavailable' : 'refused';
}

/** The kinds of problems by error code. */
const kinds: Readonly<Record<string, ProblemKind>> = {
  THROTTLED: 'busy',
  OVERLOADED: 'busy',
  RATE_LIMITED: 'limited',
  TOO_COMPLEX: 'much',
  TOO_COSTLY: 'much',
  UNAVAILABLE: 'unavailable',
  TIMEOUT: 'unavailable',
  INTERNAL: 'unavailable',
  UNAUTHENTICATED: 'unauthenticated',
  FORBIDDEN: 'forbidden',
};

function codeOf(error: GraphQLError | undefined): string {
  return error?.extensions?.code ?? '';
}

function problem(kind: ProblemKind, detail: string, retryAfter = 0): Problem {
  return { kind, retryAfter, detail };
}

/** Returns the problem for an error that was thrown. */
export function problemIn(error: unknown): Problem {
  return (error as Partial<Problem>).kind
    ? (error as Problem)
    : problem('unavailable', String(error));
}

/** Returns the problem for a mutation that failed, or whose outcome is unknown. */
export function problemOfError(error: GraphQLError): Problem {
  return problem(kinds[codeOf(error)] ?? 'unavailable', error.message);
}

/**
 * Returns the problem of an answer without its list, or null. `numbered` says whether the request
 * named a page number.
 */
export function problemOf(answer: Answer, numbered: boolean): Problem | null {
  if (answer.data?.product?.list) return null;
  // An error of the product or its list, or of the whole operation.
  const error = answer.errors.find(
    ({ path }) => !path || (path[0] === 'product' && (path.length === 1 || path[1] === 'list')),
  );
  const code = codeOf(error);
  // The cursor belongs to another list, or page numbers are turned off or unavailable.
  const isPlace = (numbered && code === 'UNAVAILABLE') || (error?.path?.[1] && /^BAD/.test(code));
  return problem(isPlace ? 'numbers' : kinds[code] ?? 'unavailable', error?.message ?? 'no list');
}
