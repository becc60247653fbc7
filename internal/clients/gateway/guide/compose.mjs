import { writeFileSync } from "node:fs";
import { composeServices } from "@theguild/federation-composition";
import { parse } from "graphql";

async function subgraph(name, url) {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ query: "{ _service { sdl } }" });
  const { data } = await (await fetch(url, { method: "POST", headers, body })).json();
  return { name, url, typeDefs: parse(data._service.sdl) };
}

const { supergraphSdl, errors } = composeServices([
  await subgraph("products", "http://127.0.0.1:4001/graphql"),
  await subgraph("talkback", "http://127.0.0.1:8080/graphql"),
]);
if (errors) throw new AggregateError(errors, "the subgraphs do not compose");
writeFileSync("supergraph.graphql", supergraphSdl);
