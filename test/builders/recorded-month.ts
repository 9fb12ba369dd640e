import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FINAL_STATE, makeRecordFolder, recordingTo } from '../../cli/simulate/recordings.ts';
import { prepareSimulation, runUntil } from '../../cli/simulate/run.ts';
import { loadCatalog } from '../../shared/catalog/catalog.ts';
import type { Json } from '../../shared/sim/json.ts';
import { decodeScenario } from '../../shared/sim/scenario.ts';

const DAY_MS = 86_400_000;
const TYPES = /^(m6i|m7g|c6i|r6i)\.(large|xlarge|2xlarge|4xlarge)$/;

/** A Deployment whose pods request these amounts. */
export function workload(
  name: string,
  replicas: number,
  requests: Json,
  spec: Json = {},
  annotations: Json = {},
): Json {
  const labels = { app: name };
  const containers = [{ name, image: `example.com/${name}`, resources: { requests } }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: { containers, ...spec } },
    },
  };
}

export const NODE_CLASS: Json = {
  apiVersion: 'karpenter.k8s.aws/v1',
  kind: 'EC2NodeClass',
  metadata: { name: 'default' },
  spec: {
    amiSelectorTerms: [{ alias: 'al2023@v20260101' }],
    role: 'KarpenterNodeRole-demo',
    subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
    securityGroupSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
  },
};

/** A NodePool with these requirements: by key the values. */
export function nodePool(
  name: string,
  requirements: Readonly<Record<string, readonly string[]>>,
  more: Json = {},
): Json {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name },
    spec: {
      ...more,
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
          requirements: Object.entries(requirements).map(([key, values]) => ({
            key,
            operator: 'In',
            values,
          })),
        },
      },
      disruption: { consolidateAfter: '5m', budgets: [{ nodes: '50%' }] },
    },
  };
}

/** Each day: more shop pods by day, a batch in the morning, and now and then an interruption. */
export function dailySteps(days: number): readonly Json[] {
  return Array.from({ length: days }, (_, day) => {
    const at = (hour: number): string => `${day * 24 + hour}h`;
    const scale = (name: string, replicas: number) => ({ scale: { name, replicas } });
    const steps = [
      { at: at(1), ...scale('shop', 8 + (day % 5)) },
      { at: at(7), ...scale('batch', 3 + (day % 4)) },
      { at: at(11), ...scale('batch', 0) },
    ];
    const warned = { at: at(15), interrupt: { nodePool: 'default' } };
    const night = { at: at(20), ...scale('shop', 3) };
    return day % 3 === 1 ? [...steps, warned, night] : [...steps, night];
  }).flat();
}

/**
 * A simulation of a time, recorded to a folder as `joiner simulate --record` does. Returns the USD
 * that the simulation itself counted for all instances.
 */
export async function recordedTo(
  folder: string,
  days: number,
  manifests: readonly Json[],
  steps: readonly Json[],
): Promise<number> {
  const whole = await loadCatalog('us-east-1');
  const catalog = { ...whole, types: whole.types.filter(({ name }) => TYPES.test(name)) };
  makeRecordFolder(folder);
  const wrap = recordingTo(folder);
  const decoded = decodeScenario({ steps });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  const scenario = decoded.value;
  const simulation = await prepareSimulation({ catalog, seed: 1, manifests, scenario, wrap });
  const state = await runUntil(simulation, days * DAY_MS);
  const lines = state.decisions.map((each) => `${JSON.stringify(each)}\n`);
  writeFileSync(join(folder, 'decisions.ndjson'), lines.join(''));
  writeFileSync(join(folder, FINAL_STATE), `${JSON.stringify(state)}\n`);
  return state.totals.cost;
}
