// The mutations and their outcomes.
import { type Comment, operation } from '../answer';
import { latest } from '../desk';
import { ask, type Client, type Problem, problemIn, problemOfError } from '../client';

/** An error about an input. */
export interface UserError {
  readonly code: string;
  readonly message: string;
  readonly path: readonly string[];
}

/** The outcome of a mutation, or of the query for one comment. */
export interface Outcome {
  /** The current comment, or the one that was deleted. */
  readonly comment?: Comment | null;
  /** Errors about the input. If there are any, nothing was written. */
  readonly errors?: readonly UserError[];
  /** Why there is neither a comment nor an error. The change may have been made. */
  readonly problem?: Problem;
}

/** The fragment with the fields of a comment, taken from the page's operation. */
const shown = /fragment.*/.exec(operation)![0];

/** The fields that only the author of a comment can read. */
const state = /status .*?}}/.exec(operation)![0];

export type Change = 'add' | 'edit' | 'delete' | 'voteOn';

/** Returns the mutation of a change. build.mjs lists all kinds. */
export function mutationOf(kind: Change): string {
  const name = `${kind}Comment`;
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  return (
    `mutation ${name}($input:${type}!){value:${name}(input:$input)` +
    `{comment{...Shown ${kind === 'add' || kind === 'edit' ? state : ''}}` +
    `errors:userErrors{code message path}}}${shown}`
  );
}

/** Reads one comment. */
export const commentQuery =
  `query comment($id:ID!){value:comment(id:$id){...Shown ${state}}}${shown}`;

/** Sends a change. Never throws. */
export async function change(client: Client, kind: Change, input: unknown): Promise<Outcome> {
  const { value, problem } = await request<Outcome>(client, mutationOf(kind), { input });
  return value && !problem ? value : { problem: problem ?? problemIn('no value') };
}

/** Reads a comment as its author last submitted it; null if it no longer exists. Never throws. */
export async function current(client: Client, id: string): Promise<Outcome> {
  const { value, problem } = await request<Comment>(client, commentQuery, { id });
  return problem ? { problem } : { comment: value ? latest(value) : null };
}

interface Response<T> {
  readonly value?: T | null;
  readonly problem?: Problem;
}

/** Sends an operation whose only field is "value". Never throws. */
export async function request<T>(
  client: Client,
  query: string,
  variables: unknown,
): Promise<Response<T>> {
  try {
    const { data, errors } = await ask<Response<T>>(client, query, variables, never);
    if (errors[0]) return { problem: problemOfError(errors[0]) };
    return data?.value === undefined ? { problem: problemIn('no value') } : data;
  } catch (error) {
    return { problem: problemIn(error) };
  }
}

/** Writes are never aborted: only the answer says whether the change was made. */
const never = new AbortController().signal;
