import { z } from 'zod';
import { EXPLAINED } from '../explain/asked.ts';

/** A command that an assistant may run: it reads, and changes nothing. */
export interface Tool {
  readonly title: string;
  /** For the assistant: what the answer is good for. */
  readonly description: string;
  readonly input: z.ZodRawShape;
  /** The words of the command line for checked input; `-o json` is added. */
  readonly words: (input: Readonly<Record<string, unknown>>) => readonly string[];
  /** Options of the server that the command takes. */
  readonly takes: readonly ServerOption[];
}

/** Options of `joiner mcp` that say where its commands read. */
export type ServerOption = 'kubeconfig' | 'context' | 'region' | 'bucket';

// A name that begins with a dash would be read as an option.
const name = z.string().regex(/^[^-]/, 'begins with a letter or a digit');
const names = z.array(name);
const LIVE: readonly ServerOption[] = ['kubeconfig', 'context', 'region', 'bucket'];

function option(flag: string, value: unknown): readonly string[] {
  if (value === undefined) return [];
  const values = Array.isArray(value) ? value : [value];
  return values.length === 0 ? [] : [flag, ...values.map(String)];
}

/** For options that take one value each time. */
function repeated(flag: string, values: unknown): readonly string[] {
  return Array.isArray(values) ? values.flatMap((each) => [flag, String(each)]) : [];
}

const nodepools = names.optional().describe('only these NodePools');

/** By the name of the tool. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  explain: {
    title: 'Explain a pod, workload, node or NodeClaim',
    description:
      'Why a pod, or each pod of a workload, is on its node or still pending, which offering was ' +
      'chosen, its price and the runner-up; or why a node stays, or what is about to remove it.',
    input: {
      kind: z.enum(EXPLAINED),
      name,
      namespace: name.optional().describe("default: that of the kubeconfig's context"),
    },
    words: (input) => [
      ...['explain', String(input['kind']), String(input['name'])],
      ...option('--namespace', input['namespace']),
    ],
    takes: LIVE,
  },
  plan: {
    title: 'Preview launches and disruptions',
    description:
      'What Joiner would launch and disrupt in the cluster now, with reasons and cost. With ' +
      'manifests: the effect of changing NodePools, EC2NodeClasses or NodeOverlays to them.',
    input: { manifests: names.optional().describe('files of changed manifests on this machine') },
    words: (input) => ['plan', ...option('--filename', input['manifests'])],
    takes: LIVE,
  },
  compare: {
    title: "Compare with Karpenter's rules",
    description: "The cost of the cluster's pods under Karpenter's rules and under Joiner.",
    input: {},
    words: () => ['compare'],
    takes: LIVE,
  },
  top: {
    title: 'List nodes',
    description:
      'Nodes with requested CPU and memory, pods, instance type, price and state, and totals per ' +
      'NodePool.',
    input: { nodepools },
    words: (input) => ['top', ...option('--nodepool', input['nodepools'])],
    takes: LIVE,
  },
  budgets: {
    title: 'Show disruption budgets',
    description: 'How many nodes of each NodePool may be disrupted at once, and when.',
    input: {
      next: name.optional().describe('the length of the timetable, such as 12h or 7d'),
    },
    words: (input) => ['budgets', ...option('--next', input['next'])],
    takes: ['kubeconfig', 'context'],
  },
  decisions: {
    title: 'List decisions',
    description:
      'What Joiner has decided and why, newest last, from the records in the bucket of its stack; ' +
      'also what it did not do, with the reason.',
    input: {
      cluster: name.describe('the name of the EKS cluster'),
      since: name.optional().describe('how far back, such as 30m or 6h; default: 1h'),
      pod: name.optional(),
      node: name.optional(),
      nodepool: name.optional(),
    },
    words: (input) => [
      ...['decisions', '--cluster', String(input['cluster'])],
      ...option('--since', input['since']),
      ...option('--pod', input['pod']),
      ...option('--node', input['node']),
      ...option('--nodepool', input['nodepool']),
    ],
    takes: ['region', 'bucket'],
  },
  savings: {
    title: 'What decisions saved',
    description:
      'What launches and consolidation have saved, computed from the records and recordings in the ' +
      "bucket of the cluster's stack, with the method of each figure.",
    input: {
      cluster: name.describe('the name of the EKS cluster'),
      since: name.optional().describe('how far back, such as 24h or 7d; default: 30d'),
    },
    words: (input) => [
      ...['savings', '--cluster', String(input['cluster'])],
      ...option('--since', input['since']),
    ],
    takes: ['region', 'bucket'],
  },
  backtest: {
    title: 'Back-test other settings',
    description:
      'Decides recorded moments again with other settings, other NodePools or the rules of ' +
      'Karpenter, and compares the costs.',
    input: {
      folder: name.describe('a folder of recordings on this machine'),
      settings: z
        .array(z.string().regex(/^\w+=/, 'is NAME=VALUE'))
        .optional()
        .describe('settings instead of the recorded ones, such as nodePrice=0.01'),
      manifests: names.optional().describe('files of NodePools instead of the recorded ones'),
      rules: z.enum(['joiner', 'karpenter']).optional().describe('whose rules; default: joiner'),
    },
    words: (input) => [
      ...['backtest', String(input['folder'])],
      ...repeated('--set', input['settings']),
      ...repeated('--filename', input['manifests']),
      ...option('--rules', input['rules']),
    ],
    takes: [],
  },
  advise: {
    title: 'Advise on cheaper nodes',
    description:
      'Changes that would make the cluster cheaper, each with its amount and how it was computed: ' +
      'requests, limits, architectures, NodePools, what blocks consolidation.',
    input: {},
    words: () => ['advise'],
    takes: LIVE,
  },
  replay: {
    title: 'Replay recorded decisions',
    description:
      'Repeats decisions from recordings and says whether the result is the same, byte for byte.',
    input: { recordings: names.min(1).describe('files of recordings on this machine') },
    words: (input) => ['replay', ...option('', input['recordings']).slice(1)],
    takes: [],
  },
};
