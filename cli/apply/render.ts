import type { ClaimTerms, Decision, NodeTerms } from '../plan/decision.ts';
import { priceText } from '../price-text.ts';
import { counted } from '../words.ts';
import type { Applied } from './apply.ts';
import { listed } from './differences.ts';
import type { Verdict } from './verdict.ts';

/** Reasons shown of a decision; JSON has them all. */
const REASONS_MAX = 10;

function claimText({ nodePool, chosen }: ClaimTerms): string {
  if (chosen === null) return `a node of NodePool ${nodePool}`;
  const { type, zone, capacityType, pricePerHour } = chosen;
  return `${type} ${capacityType} in ${zone} (${priceText(pricePerHour)}/h)`;
}

function nodesText(nodes: readonly NodeTerms[]): string {
  const names = nodes.map(
    ({ nodeClaim, instanceType }) => `${nodeClaim} (${instanceType ?? 'not launched'})`,
  );
  return listed(names);
}

/** One decision in a line. */
export function decisionText({ reason, claims, nodes, pods, why }: Decision): string {
  const launched = listed(claims.map(claimText));
  if (reason === 'Provisioned') return `launch ${launched} for ${counted(pods.length, 'pod')}`;
  if (nodes.length === 0) return `launch ${launched}: ${why}`;
  const gone = nodesText(nodes);
  const what = claims.length === 0 ? `remove ${gone}` : `replace ${gone} by ${launched}`;
  return why.startsWith(reason) ? `${what}: ${why}` : `${what}: ${reason}, ${why}`;
}

function verdictLines({ decision, outcome, reasons, created }: Verdict): readonly string[] {
  const names = created.length === 0 ? '' : ` → ${listed(created)}`;
  const more = reasons.length - REASONS_MAX;
  return [
    `  ${outcome.padEnd(7)}  ${decisionText(decision)}${names}`,
    ...reasons.slice(0, REASONS_MAX).map((reason) => `           - ${reason}`),
    ...(more > 0 ? [`           - and ${more} more`] : []),
  ];
}

/** What came of a plan, in a sentence. */
export function resultText({ result, refusal, decisions }: Applied): string {
  const many = counted(decisions.length, 'decision');
  const all = decisions.length === 1 ? 'the one decision' : `all ${many}`;
  const of = (outcome: Verdict['outcome']): number =>
    decisions.filter((each) => each.outcome === outcome).length;
  switch (result) {
    case 'refused':
      return `nothing was changed: ${refusal ?? `${of('changed')} of ${many} no longer hold`}`;
    case 'incomplete':
      return `${of('failed')} of ${many} failed`;
    case 'dry-run':
      return `${all} would be carried out (dry run): nothing was changed`;
    case 'applied':
      return of('begun') === 0
        ? `${all} carried out`
        : `${all} carried out or begun: old nodes are deleted when their replacements are ready`;
  }
}

/** All decisions for people, and what came of each. */
export function renderApplied(applied: Applied): string {
  const { decisions, result } = applied;
  if (decisions.length === 0 && result !== 'refused') return 'The plan has no decisions.';
  const lines = decisions.flatMap(verdictLines);
  return [...lines, ...(lines.length === 0 ? [] : ['']), resultText(applied)].join('\n');
}
