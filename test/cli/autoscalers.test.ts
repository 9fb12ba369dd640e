import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadManifests } from '../../cli/simulate/load.ts';
import { type Json, valueAt } from '../../shared/sim/json.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'joiner-autoscalers-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const deployment = (spec: string, namespace = 'default'): string => `apiVersion: apps/v1
kind: Deployment
metadata: { name: api, namespace: ${namespace} }
spec:
  ${spec}
  selector: { matchLabels: { app: api } }
  template:
    metadata: { labels: { app: api } }
    spec: { containers: [{ name: main, resources: { requests: { cpu: 500m } } }] }
`;

const autoscaler = (spec: string): string => `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: api }
spec: { scaleTargetRef: { kind: Deployment, name: api }, ${spec} }
`;

const scaledObject = (spec: string): string => `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: api }
spec: { scaleTargetRef: { name: api }, ${spec} }
`;

function loaded(...texts: readonly string[]): {
  readonly objects: readonly Json[];
  readonly notes: readonly string[];
} {
  const file = join(folder, 'all.yaml');
  writeFileSync(file, texts.join('---\n'));
  const notes: string[] = [];
  const objects = loadManifests([file], 'us-east-1', new Map(), (line) => notes.push(line));
  return { objects, notes };
}

const replicasOf = ([object]: readonly Json[]) => valueAt(object, 'spec', 'replicas');

describe('autoscalers among manifests', () => {
  it.each([
    ['at least', 'replicas: 5', autoscaler('minReplicas: 8, maxReplicas: 20'), 8],
    ['at least, of one pod unless it says more', '', autoscaler('minReplicas: 3'), 3],
    ['at most', 'replicas: 5', autoscaler('maxReplicas: 2'), 2],
    ['KEDA, at least', 'replicas: 5', scaledObject('minReplicaCount: 6'), 6],
  ])('keep %s', (_, spec, text, replicas) => {
    const { objects, notes } = loaded(deployment(spec), text);
    expect(replicasOf(objects)).toBe(replicas);
    expect(notes.join()).toContain(`${replicas} pods of Deployment/api count, and not`);
    expect(notes.join()).not.toContain('ignored');
  });

  it.each([
    ['within its range', deployment('replicas: 5'), 5],
    ['turned off by 0 replicas', deployment('replicas: 0'), 0],
    ['in another namespace', deployment('replicas: 1', 'other'), 1],
  ])('change nothing: %s', (_, text, replicas) => {
    const { objects, notes } = loaded(text, autoscaler('minReplicas: 2, maxReplicas: 9'));
    expect(replicasOf(objects)).toBe(replicas);
    expect(notes).toEqual([]);
  });
});

describe('what decides nothing by itself', () => {
  const custom = (kind: string, spec: string): string =>
    `apiVersion: example.com/v1\nkind: ${kind}\nmetadata: { name: one }\nspec: ${spec}\n`;

  it('objects of which an operator makes pods are told apart', () => {
    const { notes } = loaded(
      deployment('replicas: 1'),
      custom('Search', '{ nodeSets: [{ name: main, count: 3 }] }'),
      custom('Monitor', '{ endpoints: [{ port: web }] }'),
      'apiVersion: v1\nkind: Service\nmetadata: { name: one }\nspec: {}\n',
    );
    expect(notes).toEqual([
      'operators make pods of these, which are not counted: Search/one (count 3)',
      'ignored kinds: Monitor, Service',
    ]);
  });

  it('a selector by a name of earlier versions is told where it stands', () => {
    const old = deployment('replicas: 1').replace(
      'spec: { containers',
      'spec: { nodeSelector: { karpenter.sh/provisioner-name: a }, containers',
    );
    expect(loaded(old).notes.join()).toMatch(
      /all\.yaml:\d+: Deployment\/api: .*provisioner-name has no meaning in v1: write karpenter/,
    );
  });
});

describe('refused values', () => {
  const refusal = (text: string): string => {
    try {
      loaded(text);
    } catch (error) {
      return String(error);
    }
    return '';
  };

  it.each([
    ['cpu: 500m', 'cpu: 500mi', '500m'],
    ['cpu: 500m', 'memory: 2GB', '2G'],
    ['cpu: 500m', 'memory: 2gi', '2Gi'],
  ])('%s as %s: what was meant is told', (was, is, meant) => {
    const text = deployment('replicas: 1').replace(was, is);
    expect(refusal(text)).toContain(`(did you mean ${meant}?)`);
  });

  it('a label key with a slip of the pen', () => {
    const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: main }
spec:
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: main }
      requirements:
        - { key: karpenter.k8s.aws/instance-categry, operator: In, values: [c] }
`;
    expect(refusal(pool)).toContain('(did you mean karpenter.k8s.aws/instance-category?)');
  });
});
