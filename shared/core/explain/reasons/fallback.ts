import { money } from '../../model/currency.ts';
import { type Definitions, NONE, type Sentences } from '../parameters.ts';

const nodePool = { type: 'text', what: 'the NodePool' } as const;

/** Returns of nodes that are fallbacks to what is tried first, and why they stay. */
export const FALLBACK = {
  'first-choice-available': {
    meaning:
      'The node is a fallback: it was launched when what is tried first could not be had. Its pods ' +
      'get that now, whatever it costs.',
    remedy: 'Nothing. joiner.dev/return-to-first-choice of the NodePool asks for it.',
    parameters: {
      nodes: { type: 'texts', what: 'what its pods get, such as `spot in NodePool default`' },
      price: { type: 'money', what: 'what an hour of the new nodes costs' },
      was: { type: 'text', what: 'what an hour of the node costs; may be empty' },
    },
  },
  'node-fallback': {
    meaning: 'The node was a fallback. Nodes of the first choice are ready for its pods.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'fallback-too-young': {
    meaning: 'joiner.dev/return-to-first-choice of the NodePool keeps young nodes.',
    remedy: 'Wait, or lower after in joiner.dev/return-to-first-choice.',
    parameters: { nodePool, minutes: { type: 'number', what: 'remaining minutes' } },
  },
  'fallback-not-needed': {
    meaning:
      'The node is a fallback whose pods have room on other nodes. Consolidation decides whether it ' +
      'is deleted: a return only replaces nodes.',
    remedy: 'consolidationPolicy WhenEmptyOrUnderutilized and consolidateAfter let it be deleted.',
    parameters: NONE,
  },
  'move-would-be-undone': {
    meaning:
      'A cheaper node would be a fallback, and its NodePool asks for its return: once the node has ' +
      'left its limits, the pods would get what is tried first again, whatever it costs.',
    remedy: 'Raise the limits, or remove joiner.dev/return-to-first-choice from the NodePool.',
    parameters: {
      nodePool,
      wanted: { type: 'text', what: 'what the pods would return to, such as `spot in NodePool a`' },
    },
  },
  'host-would-return': {
    meaning:
      'A node that would take the pods is a fallback, and its NodePool asks for its return: it would ' +
      'return then, and its pods would be evicted again. Without this node no move pays.',
    remedy: 'Wait until the node has returned, or remove joiner.dev/return-to-first-choice.',
    parameters: { nodePool, node: { type: 'text', what: 'the node that would take the pods' } },
  },
  'return-backed-off': {
    meaning:
      'The last return of a node of the NodePool failed: EC2 refused its replacement, or the ' +
      'replacement did not become ready. The wait is doubled with each failure, up to an hour.',
    remedy: 'Look at the event DisruptionBlocked of the node, and at the quotas of the account.',
    parameters: { nodePool, minutes: { type: 'number', what: 'remaining minutes' } },
  },
  'first-choice-unavailable': {
    meaning:
      'The node is a fallback, and its NodePool asks for its return. Its pods get no node of what is ' +
      'tried before it: it is not available, or the pods do not fit there.',
    remedy: 'Wait. For more choice allow more instance types and zones.',
    parameters: {
      wanted: { type: 'texts', what: 'NodePools and capacity types, the first tried first' },
    },
  },
} as const satisfies Definitions;

export const FALLBACK_SENTENCES: Sentences<typeof FALLBACK> = {
  'first-choice-available': ({ nodes, price, was }) => {
    const before = was === '' ? '' : ` instead of ${was}`;
    const now = money(price.amount, price.currency);
    return `Fallback: its pods get ${nodes.join(', ')} again, for ${now} an hour${before}`;
  },
  'node-fallback': () => 'its pods get what is tried first again',
  'fallback-too-young': ({ nodePool: name, minutes }) =>
    `joiner.dev/return-to-first-choice of NodePool ${name} keeps it for ${minutes} more minutes`,
  'fallback-not-needed': () => 'Its pods have room on other nodes, so it needs no replacement',
  'move-would-be-undone': ({ nodePool: name, wanted }) =>
    `A cheaper node of NodePool ${name} would return to ${wanted} by its joiner.dev/return-to-first-choice`,
  'host-would-return': ({ nodePool: name, node }) =>
    `Node ${node} would take its pods, and then return by joiner.dev/return-to-first-choice of NodePool ${name}`,
  'return-backed-off': ({ nodePool: name, minutes }) =>
    `The last return of a node of NodePool ${name} failed: the next one begins in ${minutes} minutes`,
  'first-choice-unavailable': ({ wanted }) => `Its pods get no node of ${wanted.join(' or ')} now`,
};
