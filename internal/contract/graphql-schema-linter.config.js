// All rules but those about the order of the alphabet: fields and values stand in the order in which they matter.
const { readdirSync } = require("node:fs");
const { join } = require("node:path");

const all = readdirSync(join(__dirname, "node_modules/graphql-schema-linter/lib/rules"))
  .filter((file) => file.endsWith(".js"))
  .map((file) => file.replace(/\.js$/, "").replaceAll("_", "-"));

module.exports = { rules: all.filter((rule) => !rule.endsWith("sorted-alphabetically")) };
