import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createGatewayRuntime } from "@graphql-hive/gateway-runtime";

const gateway = createGatewayRuntime({
  supergraph: () => readFileSync("supergraph.graphql", "utf8"),
  propagateHeaders: {
    fromClientToSubgraphs: ({ request }) => {
      const authorization = request.headers.get("authorization");
      return authorization ? { authorization } : {};
    },
  },
});
createServer(gateway).listen(4000, "127.0.0.1");
