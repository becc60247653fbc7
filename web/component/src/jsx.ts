// What esbuild makes of JSX, in every script.
export { Fragment, h } from 'preact';
