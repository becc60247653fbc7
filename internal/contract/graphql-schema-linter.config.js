// All rules except those about alphabetical order: fields and values are ordered by their
// importance.
const { readdirSync } = require("node:fs");
const { join } = require("node:path");

const all = readdirSync(join(__dirname, "node_modules/graphql-schema-linter/lib/rules"))
  .filter((file) => file.endsWith(".js"))
  .map((file) => file.replace(/\.js$/, "").replaceAll("_", "-"));

module.exports = { rules: all.filter((rule) => !rule.endsWith("sorted-alphabetically")) };
