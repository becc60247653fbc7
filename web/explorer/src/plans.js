// Finds the plans in an answer, and adds plans to a query.
import { Kind, parse, visit } from 'graphql';

// plansIn returns the plans in an answer with their paths, such as "product.comments".
export function plansIn(answer) {
  const found = [];
  collect(answer?.data, '', found);
  return found;
}

function collect(value, where, found) {
  if (value === null || typeof value !== 'object') return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'plan' && inner && typeof inner === 'object' && !Array.isArray(value)) {
      found.push({ where, plan: inner });
    } else {
      collect(
        inner,
        Array.isArray(value) ? `${where}[${key}]` : where ? `${where}.${key}` : key,
        found,
      );
    }
  }
}

// The fields of a plan that the table shows, and the query text for each.
const parts = {
  summary: 'summary',
  queries: 'queries',
  waves: 'waves',
  itemsRead: 'itemsRead',
  itemsReturned: 'itemsReturned',
  readUnits: 'readUnits',
  milliseconds: 'milliseconds',
  reads: 'reads { purpose index partitionKey itemsRead itemsKept readUnits }',
  candidates: 'candidates { name reads estimatedUnits price chosen }',
  position: 'position { by rank skipped counted calls waves readUnits }',
};

// withPlans adds all fields of the plan to each list of comments in a query. It returns the query
// itself if there is nothing to add. Comments and layout are kept.
export function withPlans(query) {
  let inserted = query;
  // From the end, so that earlier positions stay valid.
  for (const { at, text } of insertions(query).sort((a, b) => b.at - a.at)) {
    inserted = inserted.slice(0, at) + text + inserted.slice(at);
  }
  return inserted;
}

function insertions(query) {
  const found = [];
  try {
    visit(parse(query), {
      Field(node) {
        if (node.name.value === 'comments' && node.selectionSet) {
          found.push(insertion(query, node.selectionSet));
        }
      },
    });
  } catch {
    return []; // an unfinished query
  }
  return found.filter(Boolean);
}

function insertion(query, list) {
  const plan = fieldsOf(list).find(
    (field) => (field.alias ?? field.name).value === 'plan',
  )?.selectionSet;
  const asked = plan ? fieldsOf(plan).map((field) => field.name.value) : [];
  const wanted = Object.keys(parts)
    .filter((field) => !asked.includes(field))
    .map((field) => parts[field]);
  if (wanted.length === 0) return null;
  const text = plan ? wanted.join(' ') : `plan { ${wanted.join(' ')} }`;
  const last = (plan ?? list).selections.at(-1);
  const indent = /[ \t]*$/.exec(
    query.slice(0, last.loc.start).split('\n').at(-1).replace(/\S.*$/, ''),
  )[0];
  return { at: last.loc.end, text: `\n${indent}${text}` };
}

const fieldsOf = ({ selections }) => selections.filter(({ kind }) => kind === Kind.FIELD);
