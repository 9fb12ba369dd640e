import { DEPLOYMENT, NODE_CLASS, NODE_OVERLAY, NODE_POOL, POD } from '../manifests.ts';
import { CASES } from './cases.ts';
import { GOOD, POOL_AND_CLASS, type Row, row } from './row.ts';

/** A NodePool and its class, one text of which is another. */
function misspelt(from: string, to: string): Row['files'] {
  const text = POOL_AND_CLASS.replace(from, to);
  if (text === POOL_AND_CLASS) throw new Error(`${from} is in neither manifest`);
  return { 'm/world.yaml': text };
}

const SIMULATE = 'simulate @/m';
const SCENARIO = 'simulate @/good --scenario @/s.yaml';

function scenario(text: string): Row['files'] {
  return { ...GOOD, 's.yaml': `steps:\n  - at: 1m\n    ${text}\n` };
}

/** Of cases with an unknown word: what it was taken for. */
const OF_CASES: readonly Row[] = [
  ['an unknown field', 'pod is not a known field (did you mean pods?); valid:'],
  ['an unknown field of a NodePool', 'sepc is not a known field (did you mean spec?); valid:'],
].flatMap(([what = '', says = '']) =>
  CASES.filter((each) => each.what === what).map((each) => ({ ...each, says: [says] })),
);

/** Misspelt words that are suggested. */
export const MEANT: readonly Row[] = [
  row(
    'a command after help',
    {},
    'help simulte',
    "unknown command 'simulte' (did you mean simulate?)",
  ),
  row('a command', {}, 'sovle', "unknown command 'sovle' (did you mean solve?)"),
  row('an option', {}, 'crds --hlep', "unknown option '--hlep' (did you mean --help?)"),
  row(
    'an option before the command',
    {},
    '--context prod plan',
    '--context: options come after the command, such as joiner plan --context',
  ),
  row(
    'a scenario',
    { ...GOOD, 'night.yaml': 'steps: []' },
    'simulate @/good --scenario @/nigth.yaml',
    'nigth.yaml: cannot be read: no such file (did you mean ',
  ),
  row('a format', {}, 'compare -o jsn', 'expected one of table, json, yaml (did you mean json?)'),
  row('a scope', {}, 'pause lanch', 'terminate (did you mean launch?)'),
  row('a shell', {}, 'completion bsh', '(did you mean bash?)'),
  row('a step', {}, 'adopt --until resum', 'finish (did you mean resume?)'),
  row(
    'a required option',
    {},
    'catalog --regon=eu-west-1',
    "'--region <region>' not specified (did you mean --region by --regon?)",
  ),
  row('a kind', {}, 'explain pdo web', 'job or cronjob (did you mean pod?)'),
  row('a schema', {}, 'schema decison', 'of that name (did you mean decision?)'),
  row(
    'a setting of decisions',
    {},
    'backtest @ --set nodePrce=1',
    '--set nodePrce: not a setting of recorded decisions (did you mean nodePrice?); valid:',
  ),
  ...OF_CASES,
  row(
    'a field of an EC2NodeClass',
    misspelt('role:', 'rolle:'),
    SIMULATE,
    'spec.rolle is not a known field (did you mean role?); valid: ',
  ),
  row(
    'a field of a NodePool',
    misspelt('nodeClassRef', 'nodeClasRef'),
    SIMULATE,
    'spec.template.spec.nodeClasRef is not a known field (did you mean nodeClassRef?); valid: ',
  ),
  row(
    'a field at the top',
    misspelt('\nspec:', '\nspce:'),
    SIMULATE,
    'spce is not a known field (did you mean spec?); valid: ',
  ),
  row(
    'an operator',
    misspelt('operator: In', 'operator: Inn'),
    SIMULATE,
    'operator must be one of In, NotIn,',
    'not "Inn" (did you mean In?)',
  ),
  row(
    'an operator in lower case',
    misspelt('operator: In', 'operator: in'),
    SIMULATE,
    'not "in" (did you mean In?)',
  ),
  row(
    'a policy',
    misspelt('WhenEmpty', 'whenemptyorunderutilized'),
    SIMULATE,
    '(did you mean WhenEmptyOrUnderutilized?)',
  ),
  row(
    'a kind of our groups',
    misspelt('kind: NodePool', 'kind: Nodepool'),
    SIMULATE,
    '"Nodepool" is no kind of karpenter.sh (did you mean NodePool?); valid: NodePool, NodeClaim',
  ),
  row(
    'a kind of Kubernetes',
    { 'm/pod.yaml': POD.replace('kind: Pod', 'kind: Pdo') },
    SIMULATE,
    'kind "Pdo" is no kind of v1 (did you mean Pod?)',
  ),
  row(
    'a workload',
    { 'm/web.yaml': DEPLOYMENT.replace('kind: Deployment', 'kind: Deploymnet') },
    SIMULATE,
    'kind "Deploymnet" is no kind of apps/v1 (did you mean Deployment?)',
  ),
  row(
    'an apiVersion',
    misspelt('apiVersion: karpenter.sh/v1', 'apiVersion: karpetner.sh/v1'),
    SIMULATE,
    'apiVersion "karpetner.sh/v1" has no kind NodePool (did you mean karpenter.sh/v1?)',
  ),
  row(
    'an apiVersion without its version',
    misspelt('apiVersion: karpenter.sh/v1', 'apiVersion: karpenter.sh'),
    SIMULATE,
    'apiVersion "karpenter.sh" has no kind NodePool (did you mean karpenter.sh/v1?)',
  ),
  row(
    'an apiVersion of another group',
    { 'm/web.yaml': DEPLOYMENT.replace('apiVersion: apps/v1', 'apiVersion: v1') },
    SIMULATE,
    'apiVersion "v1" has no kind Deployment (did you mean apps/v1?)',
  ),
  row(
    'an EC2NodeClass that is referred to',
    { 'm/world.yaml': `${NODE_POOL.replace('name: default', 'name: defualt')}---\n${NODE_CLASS}` },
    SIMULATE,
    'no EC2NodeClass is named "defualt" (did you mean default?); there are: default',
  ),
  row(
    'a key of a scenario',
    scenario('scael: {name: web, replicas: 3}'),
    SCENARIO,
    'steps[0].scael is not a known field (did you mean scale?); valid: ',
  ),
  row(
    'a zone of a scenario',
    scenario('unavailable: {zone: us-east-1g}'),
    SCENARIO,
    'no zone "us-east-1g" in us-east-1 (did you mean us-east-1',
  ),
  row(
    'an instance type of a scenario',
    scenario('unavailable: {instanceType: m5.lagre}'),
    SCENARIO,
    'no instance type "m5.lagre" (did you mean m5.large?); ',
  ),
  row(
    'a setting of a file',
    { ...GOOD, 'set.yaml': 'nodeprice: 1\n' },
    'simulate @/good --settings @/set.yaml',
    'nodeprice is not a setting (did you mean nodePrice?); valid: ',
  ),
  row(
    'a value of a setting',
    { ...GOOD, 'set.yaml': 'preferencePolicy: Ignor\n' },
    'simulate @/good --settings @/set.yaml',
    '"Ignor" (did you mean Ignore?)',
  ),
  row(
    'a feature gate',
    {},
    'plan --feature-gates SpotToSpotConsolidaton=true',
    'is no feature gate (did you mean SpotToSpotConsolidation?); valid: ',
  ),
  row(
    'a feature gate of a back-test',
    {},
    'backtest @ --set featureGates=NodeOverlay=true,SpotToSpotConsolidaton=true',
    '--set featureGates "SpotToSpotConsolidaton" is no feature gate (did you mean ' +
      'SpotToSpotConsolidation?); valid: ReservedCapacity, ',
  ),
  row(
    'a region',
    GOOD,
    'simulate @/good --region eu-wst-1',
    '--region eu-wst-1: AWS has no such region (did you mean eu-west-1?)',
  ),
  row(
    'a context',
    {
      config: JSON.stringify({
        contexts: [{ name: 'prod', context: { cluster: 'c', user: 'u' } }],
        clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
        users: [{ name: 'u', user: {} }],
      }),
    },
    'top --kubeconfig @/config --context prdo',
    "no cluster for context 'prdo' (did you mean prod?)",
  ),
  row(
    'a NodePool',
    GOOD,
    'diagnose -f @/good --nodepool genral',
    '--nodepool genral: there is none of this name (did you mean general?); there are: general',
  ),
  row(
    'an overlay',
    { 'good/world.yaml': `${POOL_AND_CLASS}---\n${NODE_OVERLAY}` },
    'diagnose -f @/good --overlay dearr',
    '--overlay dearr: there is none of this name (did you mean dearer?); there are: dearer',
  ),
  ...[
    'compare @/m',
    'diagnose -f @/m',
    'explain pod/web -f @/m',
    'doctor --cluster demo --region eu-west-1 -f @/m',
    'convert @/m',
  ].map((line) =>
    row(
      'a NodePool of each command that reads manifests',
      misspelt('operator: In', 'operator: Inn'),
      line,
      'NodePool/general: spec.template.spec.requirements[0].operator must be one of In,',
      'not "Inn" (did you mean In?)',
    ),
  ),
];
