// The names that compiled JSX refers to. esbuild injects them into every script.
export { Fragment, h } from 'preact';
