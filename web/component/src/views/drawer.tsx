import type { Plan } from '../answer';
import { loadedInside } from '../inside';
import { listOf, type Props } from '../view';

/** The drawer "How this was answered": the cost and, once it is opened, each read. */
export function Drawer({ view }: Props) {
  const plan = listOf(view)?.plan;
  if (!plan) return null;
  const inside = view.desk && loadedInside();
  return (
    <details class="plan" part="plan">
      <summary>
        {`${view.texts.say('plan')} `}
        <span class="cost">{costOf(view, plan)}</span>
      </summary>
      {inside && <inside.Overview view={view} plan={plan} />}
      <p class="sentence" lang="en">{plan.summary}</p>
      {inside && <inside.Details view={view} plan={plan} />}
    </details>
  );
}

/**
 * Returns the cost of the page and its number. The plan's totals leave out the page-number index.
 */
function costOf(
  { texts }: Props['view'],
  { readUnits, waves, milliseconds, position }: Plan,
): string {
  const units = readUnits + (position?.readUnits ?? 0);
  return texts.say('plan.cost', {
    units: texts.say(texts.keyFor('plan.units', Number(units.toFixed(2))), {
      n: texts.rounded(units, 2),
    }),
    waves: texts.count('plan.waves', waves + (position?.waves ?? 0)),
    ms: texts.milliseconds(milliseconds),
  });
}
