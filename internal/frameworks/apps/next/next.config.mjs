import { fileURLToPath } from 'node:url';

const service = process.env.TALKBACK_URL;

export default {
  // The API and the session are the shop's own addresses, for browsers.
  rewrites: async () => ['/graphql', '/session', '/talkback/:path*'].map((source) => ({ source, destination: service + source })),
  turbopack: { root: fileURLToPath(new URL('../..', import.meta.url)) },
  devIndicators: false,
};
