// Lists changes between two schemas that break clients of the first, and fails if there are any.
//
//	node changes.mjs RELEASED NOW

import { readFileSync } from "node:fs";
import { CriticalityLevel, diff } from "@graphql-inspector/core";
import { buildSchema } from "graphql";

const [released, now] = process.argv.slice(2).map((name) => buildSchema(readFileSync(name, "utf8")));
const breaking = (await diff(released, now)).filter((change) => change.criticality.level === CriticalityLevel.Breaking);
for (const change of breaking) {
  console.error(`${change.path}: ${change.message}`);
}
process.exitCode = breaking.length > 0 ? 1 : 0;
