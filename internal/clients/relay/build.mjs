// Makes __generated__: the compiler's artifacts, and the component with its GraphQL replaced by them.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import babel from "@babel/core";
import compiler from "relay-compiler";

rmSync("__generated__", { recursive: true, force: true });
mkdirSync("__generated__");
writeFileSync("__generated__/persisted.json", "{}"); // the compiler adds the texts to it, by their ids
// The compiler reads a schema only if its file has this extension.
copyFileSync("../../../schema.graphqls", "schema.graphql");
execFileSync(compiler, ["relay.config.json", "--output", "quiet-with-errors"], { stdio: "inherit" });

// Compiled as if it were beside the artifacts, where it is written to.
const { code } = babel.transformSync(readFileSync("Comments.js", "utf8"), {
  filename: "__generated__/Comments.js",
  configFile: false,
  plugins: [["relay", { artifactDirectory: "__generated__", eagerEsModules: false }]],
});
writeFileSync("__generated__/Comments.js", code);
