import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeCapacityBuffer } from '../../../shared/api/capacity-buffer.ts';
import { crdFiles } from '../../../shared/api/crds/text.ts';
import { decodeEC2NodeClass } from '../../../shared/api/ec2-node-class.ts';
import type { Decoded } from '../../../shared/api/issue.ts';
import { decodeNodeClaim } from '../../../shared/api/node-claim.ts';
import { decodeNodeOverlay } from '../../../shared/api/node-overlay.ts';
import { decodeNodePool } from '../../../shared/api/node-pool.ts';
import { API_ROWS, type ApiRow } from '../../builders/api-objects.ts';

const DECODERS: Readonly<Record<ApiRow['kind'], (object: unknown) => Decoded<unknown>>> = {
  NodePool: decodeNodePool,
  NodeClaim: decodeNodeClaim,
  NodeOverlay: decodeNodeOverlay,
  EC2NodeClass: decodeEC2NodeClass,
  CapacityBuffer: decodeCapacityBuffer,
};

describe('objects of our kinds', () => {
  it('are many', () => expect(API_ROWS.length).toBeGreaterThan(300));

  it.each(API_ROWS.map((row) => [row.title, row] as const))('%s', (_, row) => {
    const decoded = DECODERS[row.kind](row.object);
    const issues = decoded.ok ? undefined : decoded.issues.map((each) => each.message).join('; ');
    if (row.refused === undefined) expect(issues).toBeUndefined();
    else expect(issues).toContain(row.refused);
  });
});

const pool = API_ROWS.find((row) => row.kind === 'NodePool' && row.refused === undefined);
const unknown = { ...pool?.object, spec: { ...(pool?.object['spec'] as object), wieght: 3 } };

describe('unknown fields', () => {
  it('are refused in manifests, with what would be valid', () => {
    const decoded = decodeNodePool(unknown);
    expect(decoded).toEqual({
      ok: false,
      issues: [
        {
          path: 'spec.wieght',
          message: 'is not a known field; valid: template, disruption, limits, weight, replicas',
          unknown: {
            word: 'wieght',
            known: ['template', 'disruption', 'limits', 'weight', 'replicas'],
          },
        },
      ],
    });
  });

  it('are let by where an API server has taken them', () => {
    expect(decodeNodePool(unknown, 'ignore').ok).toBe(true);
  });
});

describe('defaults', () => {
  it('are those of the CRD', () => {
    const decoded = decodeNodePool(pool?.object);
    expect(decoded).toMatchObject({
      ok: true,
      value: {
        weight: 0,
        replicas: undefined,
        template: { expireAfter: 720 * 3_600_000, terminationGracePeriodMs: undefined },
        disruption: {
          consolidateAfter: 0,
          consolidationPolicy: 'WhenEmptyOrUnderutilized',
          budgets: [{ nodes: '10%', schedule: undefined, durationMs: undefined }],
        },
        invalid: undefined,
      },
    });
  });

  it('take a null for an absent field', () => {
    const spec = { ...(pool?.object['spec'] as object), weight: null, disruption: null };
    expect(decodeNodePool({ ...pool?.object, spec })).toEqual(decodeNodePool(pool?.object));
  });
});

const template = { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'a' } };
const twice = { key: 'gpu', effect: 'NoSchedule' };

describe('what only shows at run time', () => {
  it.each([
    ['duplicate taint key and effect gpu:NoSchedule', { taints: [twice], startupTaints: [twice] }],
    [
      'none of cheap is a value of karpenter.sh/capacity-type',
      { requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['cheap'] }] },
    ],
    [
      'its name has more than 63 characters',
      { requirements: [{ key: `example.com/${'x'.repeat(64)}`, operator: 'Exists' }] },
    ],
    ['is not a label value', { requirements: [{ key: 'a', operator: 'In', values: ['a b'] }] }],
    [
      'the requirements on team contradict each other',
      {
        requirements: [
          { key: 'team', operator: 'In', values: ['a', 'b'] },
          { key: 'team', operator: 'NotIn', values: ['b', 'a'] },
        ],
      },
    ],
    [
      'nodeClassRef.name has more than 63 characters',
      { nodeClassRef: { ...template.nodeClassRef, name: 'c'.repeat(64) } },
    ],
  ])('%s makes a NodePool invalid', (message, fields) => {
    const spec = { template: { spec: { requirements: [], ...template, ...fields } } };
    const decoded = decodeNodePool({ metadata: { name: 'a' }, spec });
    expect(decoded.ok && decoded.value.invalid).toContain(message);
  });

  it.each([
    [63, undefined],
    [64, 'metadata.name has more than 63 characters, which no label value has'],
  ])('makes a NodePool invalid or not: a name of %s characters', (length, invalid) => {
    const spec = { template: { spec: { requirements: [], ...template } } };
    const decoded = decodeNodePool({ metadata: { name: 'p'.repeat(length) }, spec });
    expect(decoded.ok && decoded.value.invalid).toBe(invalid);
  });

  it('makes a NodePool invalid: a label of its template with too long a name', () => {
    const metadata = { labels: { ['x'.repeat(64)]: 'a' } };
    const spec = { template: { metadata, spec: { requirements: [], ...template } } };
    const decoded = decodeNodePool({ metadata: { name: 'a' }, spec });
    expect(decoded.ok && decoded.value.invalid).toContain('more than 63 characters');
  });

  it.each([
    ['Example.com/a', undefined],
    ['a b', 'annotation key "a b" is not a qualified name'],
    ['x'.repeat(64), `annotation key "${'x'.repeat(64)}": its name has more than 63 characters`],
  ])('makes a NodePool invalid or not: the annotation %s of its template', (key, invalid) => {
    const metadata = { annotations: { [key]: 'a' } };
    const spec = { template: { metadata, spec: { requirements: [], ...template } } };
    const decoded = decodeNodePool({ metadata: { name: 'a' }, spec });
    expect(decoded.ok && decoded.value.invalid).toBe(invalid);
  });

  it.each([
    ['In', ['b']],
    ['NotIn', ['a']],
    ['DoesNotExist', []],
  ])(
    'makes a NodePool invalid: a label that its requirements refuse, %s %j',
    (operator, values) => {
      const requirements = [{ key: 'example.com/team', operator, values }];
      const metadata = { labels: { 'example.com/team': 'a' } };
      const spec = { template: { metadata, spec: { ...template, requirements } } };
      const decoded = decodeNodePool({ metadata: { name: 'a' }, spec });
      expect(decoded.ok && decoded.value.invalid).toBe(
        "the requirements do not allow the template's label example.com/team=a",
      );
    },
  );

  it('makes a NodeOverlay invalid: a label key with too long a name', () => {
    const spec = { requirements: [{ key: 'x'.repeat(64), operator: 'Exists' }] };
    const decoded = decodeNodeOverlay({ metadata: { name: 'a' }, spec });
    expect(decoded.ok && decoded.value.invalid).toContain('more than 63 characters');
  });

  it('leaves a CapacityBuffer with what is not supported, which it names', () => {
    const scalableRef = { apiGroup: 'argoproj.io', kind: 'Rollout', name: 'web' };
    const spec = { scalableRef, percentage: 10 };
    const decoded = decodeCapacityBuffer({ metadata: { name: 'a', namespace: 'b' }, spec });
    expect(decoded.ok && decoded.value.target).toMatchObject({
      kind: 'Unsupported',
      message: expect.stringContaining('Rollout.argoproj.io is not supported'),
    });
  });

  it('makes a NodeOverlay invalid', () => {
    const spec = { requirements: [], capacity: { 'vpc.amazonaws.com/efa': '1' } };
    const decoded = decodeNodeOverlay({ metadata: { name: 'a' }, spec });
    expect(decoded.ok && decoded.value.invalid).toContain('vpc.amazonaws.com/efa is restricted');
  });
});

describe('the checked-in CRDs', () => {
  const folder = new URL('../../../infra/crds/', import.meta.url);

  it('are those of the schemas: run npm run generate', () => {
    expect(readdirSync(folder).sort()).toEqual([...crdFiles().keys()].sort());
    for (const [name, text] of crdFiles()) {
      expect(readFileSync(new URL(name, folder), 'utf8'), name).toBe(text);
    }
  });
});
