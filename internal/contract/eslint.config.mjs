import graphql from "@graphql-eslint/eslint-plugin";

// The recommended rules and those of Relay.
const rules = { ...graphql.configs["flat/schema-recommended"].rules, ...graphql.configs["flat/schema-relay"].rules };

// What cannot hold, and why.
const but = {
  // Short descriptions stand in one line, and longer ones in a block.
  "@graphql-eslint/description-style": "off",
  // Statistics, plans, edges and payloads are parts of what has an id, and have none.
  "@graphql-eslint/strict-id-in-types": "off",
  // Connections have nodes beside edges, and a waiting comment is no Node, but has one.
  "@graphql-eslint/relay-edge-types": ["error", { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false }],
  // The queue and a customer's own comments are paged through forwards only.
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
