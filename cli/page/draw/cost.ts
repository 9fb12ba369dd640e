import { HOURS_A_MONTH } from '../../../shared/core/duration.ts';
import type { CostRow, PageModel } from '../model/model.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import type { Prices } from './text.ts';

function costRow(
  { label, perHour, note, tone }: CostRow,
  most: number,
  prices: Prices,
  hasMonths: boolean,
): Markup {
  const month = hasMonths ? html`<td class="number">${prices.perMonth(perHour)}</td>` : NOTHING;
  const width = Math.round(((perHour ?? 0) / most) * 10000) / 100;
  return html`<tr><th scope="row">${label}</th><td class="chart"><svg class="cost ${tone}" width="100%" height="16" aria-hidden="true"><rect class="track" width="100%" height="100%"/><rect class="amount" width="${width}%" height="100%"/></svg></td><td class="number">${prices.perHour(perHour)}</td>${month}<td class="note">${note}</td></tr>`;
}

/** What it costs, before and after. */
export function costTable({ costs, verdict, hasMonths = true }: PageModel, prices: Prices): Markup {
  const most = Math.max(1e-9, ...costs.map(({ perHour }) => perHour ?? 0));
  const rows = costs.map((each) => costRow(each, most, prices, hasMonths));
  const month = hasMonths
    ? html`<th scope="col" class="number">A month (${HOURS_A_MONTH} h)</th>`
    : NOTHING;
  const said = verdict === '' ? NOTHING : html`<p class="verdict">${verdict}</p>`;
  return html`${said}<div class="scroll" role="region" tabindex="0" aria-label="Cost in numbers"><table class="costs"><thead><tr><th scope="col">What</th><th scope="col" class="chart">Cost</th><th scope="col" class="number">An hour</th>${month}<th scope="col">Note</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
