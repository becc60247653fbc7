// Query plans: those of an answer, and how a query asks for one.
import { Kind, parse, visit } from 'graphql';

// plansIn returns the plans of an answer, each with where it stands, such as "product.comments".
export function plansIn(answer) {
  const found = [];
  collect(answer?.data, '', found);
  return found;
}

function collect(value, where, found) {
  if (value === null || typeof value !== 'object') return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === 'plan' && inner && typeof inner === 'object' && !Array.isArray(value)) found.push({ where, plan: inner });
    else collect(inner, Array.isArray(value) ? `${where}[${key}]` : where ? `${where}.${key}` : key, found);
  }
}

// What the table shows, by the field that holds it; the text is what asks for it.
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

// withPlans returns the query with whole plans asked for in each of its lists of comments, or the query itself where there
// is nothing to ask for. All else stays as it is, comments and layout included.
export function withPlans(query) {
  let inserted = query;
  // From the end, so that what is inserted does not move what is still to come.
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
        if (node.name.value === 'comments' && node.selectionSet) found.push(insertion(query, node.selectionSet));
      },
    });
  } catch {
    return []; // a query that is being written
  }
  return found.filter(Boolean);
}

function insertion(query, list) {
  const plan = fieldsOf(list).find((field) => (field.alias ?? field.name).value === 'plan')?.selectionSet;
  const asked = plan ? fieldsOf(plan).map((field) => field.name.value) : [];
  const wanted = Object.keys(parts).filter((field) => !asked.includes(field)).map((field) => parts[field]);
  if (wanted.length === 0) return null;
  const text = plan ? wanted.join(' ') : `plan { ${wanted.join(' ')} }`;
  const last = (plan ?? list).selections.at(-1);
  const indent = /[ \t]*$/.exec(query.slice(0, last.loc.start).split('\n').at(-1).replace(/\S.*$/, ''))[0];
  return { at: last.loc.end, text: `\n${indent}${text}` };
}

const fieldsOf = ({ selections }) => selections.filter(({ kind }) => kind === Kind.FIELD);
