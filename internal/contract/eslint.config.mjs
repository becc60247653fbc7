import graphql from "@graphql-eslint/eslint-plugin";

// The recommended rules and those of Relay.
const rules = { ...graphql.configs["flat/schema-recommended"].rules, ...graphql.configs["flat/schema-relay"].rules };

// Rules that cannot hold, and why.
const but = {
  // Short descriptions are on one line, longer ones in a block.
  "@graphql-eslint/description-style": "off",
  // Statistics, plans, edges and payloads have no id: they are parts of objects with one.
  "@graphql-eslint/strict-id-in-types": "off",
  // Connections also have nodes. A waiting comment is not a Node itself; it has one.
  "@graphql-eslint/relay-edge-types": ["error", { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false }],
  // The queue and a customer's own comments have only forward pages.
  "@graphql-eslint/relay-arguments": ["error", { includeBoth: false }],
};

export default [
  {
    files: ["**/*.graphqls"],
    plugins: { "@graphql-eslint": graphql },
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema: "schema.graphqls" } } },
    rules: { ...rules, ...but },
  },
];
