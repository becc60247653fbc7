// The strip below an answer: how it was read from the table and what that cost.
import { pick, useGraphiQL } from '@graphiql/react';
import { useMemo, useState } from 'react';
import { plansIn, withPlans } from './plans.js';

// mostPlans is the most plans to show. Thousands would block the page.
const mostPlans = 50;

export function PlanStrip() {
  const { storage, queryEditor, isFetching } = useGraphiQL(
    pick('storage', 'queryEditor', 'isFetching'),
  );
  const { response, query } = useGraphiQL(({ tabs, activeTabIndex }) =>
    pick('response', 'query')(tabs[activeTabIndex] ?? {}),
  );
  const plans = useMemo(() => read(response), [response]);
  const fuller = useMemo(() => withPlans(query ?? ''), [query]);
  const [open, setOpen] = useState(storage.get('plan') !== 'folded');
  if (!response) {
    return isFetching ? null : (
      <p className="plan-none">No answer yet. Press the run button to get one.</p>
    );
  }
  // Folds by state alone. The "toggle" event fires later, when an answer may already have removed
  // the element.
  const fold = (event) => {
    event.preventDefault();
    setOpen(!open);
    storage.set('plan', open ? 'folded' : '');
  };
  return (
    <details className="plan" open={open}>
      <summary onClick={fold}>
        {'Plan '}
        <span>
          {plans.length === 1 ? cost(plans[0].plan) : `${plans.length || 'none'} in this answer`}
        </span>
      </summary>
      <div className="plan-body">
        {plans.slice(0, mostPlans).map(({ where, plan }) => (
          <Plan key={where} where={plans.length > 1 && where} plan={plan} />
        ))}
        {plans.length > mostPlans && (
          <p className="plan-hint">The other {plans.length - mostPlans} are in the answer alone.</p>
        )}
        <Hint
          asked={plans.length > 0}
          fuller={fuller === query ? null : () => queryEditor.setValue(fuller)}
        />
      </div>
    </details>
  );
}

// read returns the plans in a tab's answer. The answer may be no JSON, after a failure or in a
// restored tab, or be nested too deeply.
function read(response) {
  try {
    return plansIn(JSON.parse(response));
  } catch {
    return [];
  }
}

// Hint says how to request a plan, or more fields of it.
function Hint({ asked, fuller }) {
  if (!fuller) {
    return asked ? null : <p>Only lists of comments have a plan, and this query asks for none.</p>;
  }
  return (
    <p className="plan-hint">
      <span>
        {asked ? (
          'A plan can say more than this query asks for.'
        ) : (
          <>
            {'A list of comments says how it was read, and what that cost: ask for its '}
            <code>plan</code>.
          </>
        )}
      </span>
      <button type="button" onClick={fuller}>
        {asked ? 'Ask for all of it' : 'Add it to the query'}
      </button>
    </p>
  );
}

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const amount = (value, one, many) =>
  typeof value === 'number' ? `${number.format(value)} ${value === 1 ? one : many}` : null;
const listed = (...amounts) => amounts.filter(Boolean).join(', ');

const cost = (plan) => listed(
  amount(plan.readUnits, 'read unit', 'read units'),
  amount(plan.waves, 'wave', 'waves'),
  amount(plan.milliseconds, 'ms', 'ms'),
);

function Plan({ where, plan }) {
  const totals = listed(
    where && cost(plan), // shown in the summary if there is only one plan
    amount(plan.queries, 'call', 'calls'),
    amount(plan.itemsRead, 'scanned', 'scanned'),
    amount(plan.itemsReturned, 'shown', 'shown'),
    amount(plan.lookups, 'fetched by id', 'fetched by id'),
  );
  return (
    <section>
      {where && <h3>{where}</h3>}
      {totals && <p className="plan-totals">{totals}</p>}
      <Table title="Reads" rows={plan.reads} columns={readColumns} />
      <Table title="Candidates" rows={plan.candidates} columns={candidateColumns} />
      <Table title="Not read" rows={plan.skipped} columns={readColumns} />
      <Table title="Page numbers" rows={[plan.position]} columns={positionColumns} />
      {typeof plan.summary === 'string' && <p className="plan-summary">{plan.summary}</p>}
    </section>
  );
}

// The column titles by field.
const readColumns = {
  purpose: 'Purpose',
  index: 'Index',
  partitionKey: 'Partition key',
  sortKeyFrom: 'From',
  sortKeyTo: 'To',
  descending: 'Descending',
  limit: 'Limit',
  residualRatings: 'Residual ratings',
  residualLanguages: 'Residual languages',
  queries: 'Calls',
  itemsRead: 'Scanned',
  itemsKept: 'Returned',
  readUnits: 'Units',
  asOf: 'As of',
};
const candidateColumns = {
  name: 'Way',
  reads: 'Reads',
  estimatedUnits: 'Estimated units',
  price: 'Price',
  chosen: 'Chosen',
};
const positionColumns = {
  by: 'Found by',
  rank: 'Comments before',
  skipped: 'Left out',
  counted: 'Counted by the index',
  calls: 'Calls',
  waves: 'Waves',
  readUnits: 'Units',
};

// Table shows the requested columns. Values with another shape are skipped, because an alias can
// give any field these names.
function Table({ title, rows: given, columns }) {
  const rows = Array.isArray(given)
    ? given.filter((row) => row !== null && typeof row === 'object')
    : [];
  if (rows.length === 0) return null;
  const shown = Object.keys(columns).filter((field) => rows.some((row) => field in row));
  return (
    <table>
      <caption>{title}</caption>
      <thead>
        <tr>{shown.map((field) => <th key={field} scope="col">{columns[field]}</th>)}</tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index} className={row.chosen ? 'chosen' : undefined}>
            {shown.map((field) => (
              <td
                key={field}
                className={
                  field === 'partitionKey'
                    ? 'key'
                    : typeof row[field] === 'number'
                      ? 'number'
                      : undefined
                }
              >
                {cell(row[field])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function cell(value) {
  if (
    value === null ||
    value === undefined ||
    (typeof value === 'object' && !Array.isArray(value))
  ) {
    return '–';
  }
  if (typeof value === 'number') return number.format(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.join(', ') : value;
}
