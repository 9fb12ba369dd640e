import { HOURS_A_MONTH } from '../../shared/core/duration.ts';
import type { Currency } from '../../shared/core/model/currency.ts';
import type { Kind } from '../compare/comparison.ts';
import { aligned, amountText } from '../ledger/render.ts';
import { counted } from '../words.ts';
import {
  type Advice,
  type Basis,
  EVALUATED_MAX,
  isForWaiting,
  type Side,
  USD_PER_MONTH_MIN,
} from './advice.ts';
import type { AdviceFound } from './advise.ts';
import { FAR_BEYOND, HEADROOM } from './requests.ts';

/** How each figure is made; the document has the same. */
export const METHOD = [
  'offerings that a shortage bars at this moment are planned as available, on both sides',
  'prices are list prices, a month has 730 hours, and each advice is evaluated alone: amounts of several do not add up',
  "planned anew: the pods of Joiner's dynamic NodePools are planned on none of their nodes, with and without the change; the difference is reached as nodes are replaced",
  'consolidated: the cluster after all pending pods were planned and every consolidation that pays back was made, with and without the change; disruption budgets and consolidateAfter only delay it',
  `a saving is at least ${USD_PER_MONTH_MIN} a month, leaves the same pods without a node, and its plan uses what the change allows`,
  'pods that wait: new nodes for pending pods, with and without the change; more pods get nodes, and the amount is what these cost, no saving',
  `requests: proposed is ${HEADROOM} times the most that one pod of the workload used; a request of ${FAR_BEYOND} times that or more is far beyond usage`,
  `of workloads, and of objects that block consolidation, the ${EVALUATED_MAX} largest are evaluated`,
] as const;

const BASIS_TEXTS: Readonly<Record<Basis, string>> = {
  'planned-anew': 'planned anew',
  consolidated: 'consolidated',
  'pending-pods': 'new nodes for pending pods',
};

function typesText(kinds: readonly Kind[]): string {
  const SHOWN = 3;
  const shown = kinds
    .slice(0, SHOWN)
    .map(
      ({ count, instanceType, capacityType }) =>
        `${count.toLocaleString('en')} × ${instanceType} ${capacityType}`,
    );
  return `${shown.join(', ')}${kinds.length > SHOWN ? ', …' : ''}`;
}

function sideText({ nodes, usdPerHour, podsUnplaced, instanceTypes }: Side, currency: Currency) {
  const left = podsUnplaced > 0 ? `, ${counted(podsUnplaced, 'pod')} without a node` : '';
  const types = nodes > 0 ? ` (${typesText(instanceTypes)})` : '';
  const price = amountText(usdPerHour * HOURS_A_MONTH, currency);
  return `${counted(nodes, 'node')}${types}, ${price} a month${left}`;
}

function details(advice: Advice, place: number, currency: Currency): readonly string[] {
  const { object, change, basis, before, after, evidence } = advice;
  return [
    '',
    `${place}. ${object}`,
    `   ${change}`,
    ...evidence.map((each) => `   - ${each}`),
    `   ${BASIS_TEXTS[basis]}:`,
    `   - as it is:        ${sideText(before, currency)}`,
    `   - with the change: ${sideText(after, currency)}`,
  ];
}

/** Advice as people read it. */
export function adviceText(found: AdviceFound, subject: string, currency: Currency): string {
  const { now, anew, advice } = found;
  const rowsOf = (isListed: (each: Advice) => boolean, sign: 1 | -1) =>
    advice.flatMap((each, at) => {
      if (!isListed(each)) return [];
      const amount = amountText(sign * each.usdPerMonth, currency);
      return [[String(at + 1), amount, each.kind, each.object]];
    });
  const savings = rowsOf((each) => !isForWaiting(each), 1);
  const list =
    savings.length === 0
      ? ['No savings: none of the changes that are evaluated saves anything.']
      : aligned([['', 'SAVED A MONTH', 'ABOUT', 'OBJECT'], ...savings]);
  const waiting = rowsOf(isForWaiting, -1);
  const lines = [
    subject,
    `now: ${sideText(now, currency)}`,
    `planned anew: ${sideText(anew, currency)}`,
    '',
    ...list,
    ...(waiting.length === 0 ? [] : ['', 'Pods that wait:']),
    ...(waiting.length === 0 ? [] : aligned([['', 'COST A MONTH', 'ABOUT', 'OBJECT'], ...waiting])),
    ...advice.flatMap((each, at) => details(each, at + 1, currency)),
    '',
    'How the figures are made:',
    ...METHOD.map((each) => `- ${each}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
