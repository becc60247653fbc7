// A visitor without an account, who votes by a token that the service gives to everyone.
import { request } from './changes';
import { keep, kept } from './drafts';
import type { Client, Problem } from '../client';

const placeOf = (service: string): string => `talkback visitor ${service}`;

/** The token that this browser keeps for a service, "" if there is none or it has expired. */
export function visitorToken(service: string): string {
  const { token, expiresAt } = kept(placeOf(service), { token: '', expiresAt: '' });
  return Date.parse(expiresAt) > Date.now() ? token : '';
}

/** Forgets the token, which the service refuses. False if there is none to forget. */
export function forgetVisitor(service: string): boolean {
  const token = visitorToken(service);
  keep(placeOf(service), null);
  return token !== visitorToken(service);
}

const asking = new Map<string, Promise<Problem | undefined>>();

/** Asks for a token and keeps it. Two votes at once are of one visitor. */
export function becomeVisitor(client: Client): Promise<Problem | undefined> {
  const { service } = client;
  const asked = asking.get(service) ?? ask(client).finally(() => asking.delete(service));
  asking.set(service, asked);
  return asked;
}

/** The mutation that makes a token. */
export const visitorMutation = 'mutation visitor{value:createVisitorToken{token expiresAt}}';

async function ask(client: Client): Promise<Problem | undefined> {
  const { value, problem } = await request<object>(client, visitorMutation, {});
  if (value) keep(placeOf(client.service), value);
  return problem;
}
