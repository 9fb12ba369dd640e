import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { nameOf } from '../../cli/manifests.ts';
import { misspeltNames } from '../../cli/simulate/misspelt-names.ts';
import type { Json } from '../../shared/sim/json.ts';

/** What is noted of the objects; each field's place is the object's name. */
function notes(text: string, isWhole = true): readonly string[] {
  const used = parseAllDocuments(text).map((document) => {
    const object: Json = document.toJS();
    return { object, text: undefined, place: () => nameOf(object) };
  });
  return misspeltNames(used, isWhole);
}

const pool = (annotations: string, requirement = 'kubernetes.io/arch'): string => `
kind: NodePool
metadata: { name: default, annotations: { ${annotations} } }
spec:
  template:
    spec: { requirements: [{ key: ${requirement}, operator: In, values: [amd64] }] }
`;
const pod = (metadata: string, spec: string): string => `
kind: Pod
metadata: { name: a${metadata} }
spec: { ${spec} }
`;
const OWN = 'NodePool/default: metadata.annotations';

it.each<[string, string, string]>([
  [
    'an annotation of Joiner',
    pool('joiner.dev/limit-grup: batch'),
    `${OWN}: nothing reads joiner.dev/limit-grup (did you mean joiner.dev/limit-group?)`,
  ],
  [
    'an annotation of Joiner that is like no other',
    pool('joiner.dev/colour: red'),
    `${OWN}: nothing reads joiner.dev/colour`,
  ],
  [
    'an annotation of Karpenter',
    pod(', annotations: { karpenter.sh/do-not-disrupts: "true" }', 'containers: []'),
    'Pod/a: metadata.annotations: nothing reads karpenter.sh/do-not-disrupts (did you mean karpenter.sh/do-not-disrupt?)',
  ],
  [
    'a consolidation guard',
    pool('joiner.dev/consolidation-guard: savings=0.05'),
    `${OWN}: Annotation joiner.dev/consolidation-guard: "savings=0.05" is invalid; example: saving=0.05,share=0.1,age=1h,horizon=12h`,
  ],
  [
    'a limits guard',
    pool('joiner.dev/limits-guard: cpu'),
    `${OWN}: Annotation joiner.dev/limits-guard: "cpu" is invalid; example: cpu=4,memory=1.2`,
  ],
  [
    'a usage guard',
    pool('joiner.dev/usage-guard: cpu=80'),
    `${OWN}: Annotation joiner.dev/usage-guard: "cpu=80" is invalid; example: cpu=0.8,memory=0.9`,
  ],
  [
    'a pause',
    pool('joiner.dev/pause: lunch from 0 18 * * 1-5 for 14h'),
    `${OWN}: the annotation joiner.dev/pause must be like "launch from 0 18 * * 1-5 for 14h", not "lunch from 0 18 * * 1-5 for 14h"`,
  ],
  [
    'a drain',
    pod(', annotations: { joiner.dev/drain: rolout }', 'containers: []'),
    'Pod/a: metadata.annotations: annotation joiner.dev/drain: "rolout" is invalid; valid: rollout',
  ],
  [
    'a requirement',
    pool('', 'kubernetes.io/arhc'),
    'NodePool/default: spec.template.spec.requirements[0].key: kubernetes.io/arhc is a label of your own here (did you mean kubernetes.io/arch?)',
  ],
  [
    'a selector',
    pod('', 'nodeSelector: { kubernetes.io/so: linux }'),
    'Pod/a: spec.nodeSelector: kubernetes.io/so is a label of your own here (did you mean kubernetes.io/os?)',
  ],
  [
    'a key of affinity',
    pod(
      '',
      'affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: topology.kubernetes.io/zones, operator: Exists }] }] } } }',
    ),
    'Pod/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: topology.kubernetes.io/zones is a label of your own here (did you mean topology.kubernetes.io/zone?)',
  ],
  [
    'a topology key',
    pod('', 'topologySpreadConstraints: [{ topologyKey: topology.kubernetes.io/zoen }]'),
    'Pod/a: spec.topologySpreadConstraints[0].topologyKey: topology.kubernetes.io/zoen is a label of your own here (did you mean topology.kubernetes.io/zone?)',
  ],
  [
    'a resource',
    pod('', 'containers: [{ resources: { requests: { nvida.com/gpu: 1 } } }]'),
    'Pod/a: spec.containers[0].resources.requests: no node has nvida.com/gpu (did you mean nvidia.com/gpu?)',
  ],
  [
    'a limit of a resource',
    pod('', 'containers: [{ resources: { limits: { cpu: 1, nvidia.com/gpus: 1 } } }]'),
    'Pod/a: spec.containers[0].resources.limits: no node has nvidia.com/gpus (did you mean nvidia.com/gpu?)',
  ],
])('%s that is misspelt is noted', (_, text, expected) => {
  expect(notes(text)).toEqual([expected]);
});

const SELECTS = pod('', 'nodeSelector: { karpenter.sh/nodepool: defualt }');

it('a NodePool that is selected and nearly there is noted where all are known', () => {
  const text = `${pool('')}---\n${SELECTS}`;
  expect(notes(text)).toEqual([
    'Pod/a: spec.nodeSelector: there is no NodePool defualt (did you mean default?)',
  ]);
  expect(notes(text, false)).toEqual([]);
});

it('what is right, or of others, is not noted', () => {
  const guards = 'joiner.dev/consolidation-guard: saving=0.05, joiner.dev/pause: ""';
  const others =
    'example.com/team: shop, app.kubernetes.io/name: web, karpenter.sh/do-not-disrupt: 1h';
  const secret = 'volumes: [{ secret: { items: [{ key: kubernetes.io/arhc }] } }]';
  const text = [
    pool(guards, 'example.com/team'),
    pod(`, annotations: { ${others} }`, secret),
    pod('', 'nodeSelector: { example.com/zone: a, karpenter.sh/nodepool: default }'),
  ];
  expect(notes(text.join('---\n'))).toEqual([]);
});

it.each<[string, string, string]>([
  [
    'node affinity',
    pod(
      '',
      'affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: karpenter.sh/nodepool, operator: In, values: [default, defalt] }] }] } } }',
    ),
    'Pod/a: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values',
  ],
  [
    'a NodeOverlay',
    `
kind: NodeOverlay
metadata: { name: a }
spec: { requirements: [{ key: karpenter.sh/nodepool, operator: In, values: [defalt] }] }
`,
    'NodeOverlay/a: spec.requirements[0].values',
  ],
  [
    'a CronJob',
    `
kind: CronJob
metadata: { name: a }
spec: { jobTemplate: { spec: { template: { spec: { nodeSelector: { karpenter.sh/nodepool: defalt } } } } } }
`,
    'CronJob/a: spec.jobTemplate.spec.template.spec.nodeSelector',
  ],
])('a NodePool that is nearly there is noted in %s', (_, text, at) => {
  expect(notes(`${pool('')}---\n${text}`)).toEqual([
    `${at}: there is no NodePool defalt (did you mean default?)`,
  ]);
});

it('annotations that are written as labels are noted', () => {
  const labelled = `
kind: Deployment
metadata: { name: a, labels: { joiner.dev/pause: "", app: a } }
spec: { template: { metadata: { labels: { karpenter.sh/do-not-disrupt: "true" } } } }
`;
  expect(notes(labelled)).toEqual([
    'Deployment/a: metadata.labels: joiner.dev/pause is no label but an annotation',
    'Deployment/a: spec.template.metadata.labels: karpenter.sh/do-not-disrupt is no label but an annotation',
  ]);
});

it('a resource that a NodeOverlay or a node has is not noted', () => {
  const overlay = `
kind: NodeOverlay
metadata: { name: a }
spec: { capacity: { nvidia.com/gpus: 4 } }
`;
  const asks = pod('', 'containers: [{ resources: { requests: { nvidia.com/gpus: 1 } } }]');
  expect(notes(`${overlay}---\n${asks}`)).toEqual([]);
});

it.each([
  ['0 9 * * 8', true],
  ['* * 7', true],
  ['0 9 * * 1-5', false],
])('a budget with the schedule %s is told of: %s', (schedule, isTold) => {
  const budgets = `[{ nodes: '0' }, { nodes: '0', schedule: '${schedule}', duration: 1h }]`;
  const told = notes(`${pool('')}  disruption: { budgets: ${budgets} }\n`);
  const field = 'spec.disruption.budgets[1].schedule';
  const fault = `"${schedule}" is no cron schedule (minute hour day month weekday, Sunday is 0)`;
  const note = `NodePool/default: ${field}: ${fault}: no node of its reasons is ever disrupted`;
  expect(told).toEqual(isTold ? [note] : []);
});
