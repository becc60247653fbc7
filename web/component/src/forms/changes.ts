// The mutations, and what comes of them.
import { type Comment, operation } from '../answer';
import { latest } from '../desk';
import { ask, type Client, type Problem, problemIn, problemOfError } from '../client';

/** What is wrong with an input. */
export interface UserError {
  readonly code: string;
  readonly message: string;
  readonly path: readonly string[];
}

/** What a mutation came to, or the query of one comment. */
export interface Outcome {
  /** The comment as it is now, or was before it was deleted. */
  readonly comment?: Comment | null;
  /** Not empty if nothing was written because of the input. */
  readonly errors?: readonly UserError[];
  /** Why there is neither. The change may have been made. */
  readonly problem?: Problem;
}

/** What a comment shows, as the operation of the page has it. */
const shown = /fragment.*/.exec(operation)![0];

/** What only its writer sees of a comment. */
const state = /status .*?}}/.exec(operation)![0];

export type Change = 'add' | 'edit' | 'delete' | 'voteOn';

/** The mutation that makes a change. build.mjs lists those of all kinds. */
export function mutationOf(kind: Change): string {
  const name = `${kind}Comment`;
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  return `mutation ${name}($input:${type}!){value:${name}(input:$input){comment{...Shown ${kind === 'add' || kind === 'edit' ? state : ''}}errors:userErrors{code message path}}}${shown}`;
}

/** The query of one comment as it is now. */
export const commentQuery = `query comment($id:ID!){value:comment(id:$id){...Shown ${state}}}${shown}`;

/** Makes a change. It never throws. */
export async function change(client: Client, kind: Change, input: unknown): Promise<Outcome> {
  const { value, problem } = await request<Outcome>(client, mutationOf(kind), { input });
  return value && !problem ? value : { problem: problem ?? problemIn('no value') };
}

/** Reads a comment as its writer left it; null if it is not there any more. It never throws. */
export async function current(client: Client, id: string): Promise<Outcome> {
  const { value, problem } = await request<Comment>(client, commentQuery, { id });
  return problem ? { problem } : { comment: value ? latest(value) : null };
}

interface Response<T> {
  readonly value?: T | null;
  readonly problem?: Problem;
}

/** Sends an operation whose only field is "value". It never throws. */
export async function request<T>(client: Client, query: string, variables: unknown): Promise<Response<T>> {
  try {
    const { data, errors } = await ask<Response<T>>(client, query, variables, never);
    if (errors[0]) return { problem: problemOfError(errors[0]) };
    return data?.value === undefined ? { problem: problemIn('no value') } : data;
  } catch (error) {
    return { problem: problemIn(error) };
  }
}

/** A write is not given up: only its answer says whether it happened. */
const never = new AbortController().signal;
