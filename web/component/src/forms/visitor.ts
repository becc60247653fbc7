// A visitor without an account, who votes by a token that the service gives to everyone.
import { request } from './changes';
import { keep, kept } from './drafts';
import type { Client, Problem } from '../client';

const placeOf = (endpoint: string): string => `talkback visitor ${endpoint}`;

/** The token that this browser keeps for a service, "" if there is none or it has expired. */
export function visitorToken(endpoint: string): string {
  const { token, expiresAt } = kept(placeOf(endpoint), { token: '', expiresAt: '' });
  return Date.parse(expiresAt) > Date.now() ? token : '';
}

let asking: Promise<Problem | undefined> | undefined;

/** Asks for a token and keeps it. Two votes at once are of one visitor. */
export function becomeVisitor(client: Client): Promise<Problem | undefined> {
  return (asking ??= ask(client).finally(() => (asking = undefined)));
}

async function ask(client: Client): Promise<Problem | undefined> {
  const { value, problem } = await request<object>(client, 'mutation visitor{value:createVisitorToken{token expiresAt}}', {});
  if (value) keep(placeOf(client.endpoint), value);
  return problem;
}
