// What a shop knows of its customer: here from its own server, which signs the token.
let opened;

export const session = {
  /** Signs the customer in, and returns their name. */
  async open() {
    opened = await (await fetch('/session', { method: 'POST' })).json();
    return opened.name;
  },
  /** The token of the customer, asked for with each request. */
  async token() {
    return opened.token;
  },
};
