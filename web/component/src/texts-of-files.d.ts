// Files that the build bundles as text.
declare module '*.css' {
  const text: string;
  export default text;
}
declare module '*.graphql' {
  const text: string;
  export default text;
}
