import { NODE_OVERLAY } from '../manifests.ts';
import { GOOD, type Row, row } from './row.ts';

const SCENARIO = 'simulate @/good --scenario @/s.yaml';
export const OPTIONS: readonly Row[] = [
  row(
    'a duration that is none',
    GOOD,
    'simulate @/good --duration soon',
    '--duration soon: expected a time',
  ),
  row(
    'no duration at all',
    GOOD,
    'simulate @/good --duration 0s',
    '--duration 0s: expected a time of at most 366d',
  ),
  row(
    'a duration of years',
    GOOD,
    'simulate @/good --duration 800d',
    '--duration 800d: expected a time of at most 366d',
  ),
  row('a seed that is none', GOOD, 'simulate @/good --seed x', '--seed x: expected a whole number'),
  row(
    'a variable without a value',
    GOOD,
    'simulate @/good --var NAME',
    '--var NAME: expected NAME=VALUE',
  ),
  row(
    'no region',
    GOOD,
    'simulate @/good --region mars-1',
    '--region mars-1: expected the name of a region; known: af-south-1, ',
  ),
  row(
    'a misspelt region',
    GOOD,
    'simulate @/good --region us-east1',
    '--region us-east1: expected the name of a region (did you mean us-east-1?); known: ',
  ),
  row(
    'a region without a catalog',
    GOOD,
    'simulate @/good --region eu-north-1',
    'no prices of eu-north-1 are embedded (eu-west-1, us-east-1, us-west-2 are)',
    'joiner catalog --region eu-north-1 -o FILE',
  ),
  row(
    'no catalog file',
    GOOD,
    'simulate @/good --catalog @/absent.json.gz',
    'absent.json.gz: no such file',
  ),
  row('an unknown output', GOOD, 'simulate @/good -o xml', '--output xml: expected', 'text, json'),
  row(
    'an unknown pause',
    {},
    'pause everything',
    'error: <scope> everything: expected one of all, launch, disrupt, terminate',
  ),
  row('an unknown option', GOOD, 'simulate @/good --fast', "unknown option '--fast'"),
  row('an unknown command', {}, 'simulat', "unknown command 'simulat'"),
  row('no scenario file', GOOD, SCENARIO, '@/s.yaml'),
  row('a scenario that is no YAML', { ...GOOD, 's.yaml': 'steps: [' }, SCENARIO, '@/s.yaml:1:'),
  row(
    'an unknown step',
    { ...GOOD, 's.yaml': 'steps: [{at: 1m, explode: true}]' },
    SCENARIO,
    '@/s.yaml:1: steps[0]',
    'explode',
  ),
  row(
    'a time that is none',
    { ...GOOD, 's.yaml': 'steps: [{at: noon, interrupt: {}}]' },
    SCENARIO,
    '@/s.yaml:1: steps[0].at must be a time',
  ),
  row(
    'a price of an unknown type',
    {
      ...GOOD,
      's.yaml':
        'steps:\n  - {at: 1m, price: {instanceType: nope.large, capacityType: spot, price: 1}}\n',
    },
    SCENARIO,
    '@/s.yaml:2: steps[0].price.instanceType no instance type "nope.large"; families of us-east-1 are',
  ),
  row(
    'a price of an unknown size',
    {
      ...GOOD,
      's.yaml':
        'steps:\n  - {at: 1m, price: {instanceType: m6i.huge, capacityType: spot, price: 1}}\n',
    },
    SCENARIO,
    'steps[0].price.instanceType no instance type "m6i.huge"; m6i has m6i.12xlarge, m6i.16xlarge',
  ),
  row(
    'a zone that is not there',
    { ...GOOD, 's.yaml': 'steps:\n  - {at: 1m, unavailable: {zone: us-east-9z}}\n' },
    SCENARIO,
    '@/s.yaml:2: steps[0].unavailable.zone no zone "us-east-9z" in us-east-1 (did you mean us-east-1a?); valid: us-east-1a, us-east-1b',
  ),
  row(
    'an on-demand price of one zone',
    {
      ...GOOD,
      's.yaml':
        'steps:\n  - {at: 1m, price: {instanceType: m6i.large, capacityType: on-demand, zone: us-east-1a, price: 1}}\n',
    },
    SCENARIO,
    'steps[0].price.zone is for spot prices only',
  ),
  row(
    'a type where it is not offered',
    {
      ...GOOD,
      's.yaml':
        'steps:\n  - {at: 1m, unavailable: {instanceType: p4de.24xlarge, zone: us-east-1a}}\n',
    },
    SCENARIO,
    'steps[0].unavailable.zone p4de.24xlarge is not offered in us-east-1a; it is in us-east-1b',
  ),
  row(
    'a price of nothing',
    {
      ...GOOD,
      's.yaml':
        'steps:\n  - {at: 1m, price: {instanceType: m5.large, capacityType: spot, price: 0}}\n',
    },
    SCENARIO,
    '@/s.yaml:2: steps[0].price.price must be greater than 0, not 0',
  ),
  row(
    'a step after the end',
    { ...GOOD, 's.yaml': 'steps:\n  - {at: 60m, interrupt: {}}\n' },
    SCENARIO,
    '@/s.yaml:2: steps[0].at is 60m after the start, but the run ends after 30m; give a longer --duration',
  ),
  row(
    'a step that does nothing',
    { ...GOOD, 's.yaml': 'steps: [{at: 1m}]' },
    SCENARIO,
    'a step needs something to do',
  ),
  row(
    'a price below 0',
    {
      ...GOOD,
      's.yaml':
        'steps: [{at: 1m, price: {instanceType: m6i.large, capacityType: spot, price: -1}}]',
    },
    SCENARIO,
    'steps[0].price.price',
  ),
  row(
    'a manifest of a scenario that is not there',
    { ...GOOD, 's.yaml': 'steps: [{at: 1m, apply: [none.yaml]}]' },
    SCENARIO,
    '@/none.yaml: no such file or folder',
  ),
  row(
    'a bad object in a scenario',
    {
      ...GOOD,
      's.yaml': 'steps: [{at: 1m, apply: [a.yaml]}]',
      'a.yaml': NODE_OVERLAY.replace('weight: 10', 'weight: 0'),
    },
    SCENARIO,
    '@/a.yaml:6: NodeOverlay/dearer: spec.weight must be at least 1, not 0',
  ),
  row(
    'an unknown output of the CRDs',
    {},
    'crds -o xml',
    '--output xml: expected one of yaml, json, name',
  ),
  ...['Foo=true', 'true', '', 'NodeOverlay=true,', 'constructor=true'].map((gates) =>
    row(
      `--set featureGates=${gates}`,
      {},
      `backtest @ --set featureGates=${gates}`,
      '--set featureGates "',
      'is no feature gate; valid: ReservedCapacity, ',
    ),
  ),
  row(
    'a feature gate of a back-test that is neither on nor off',
    {},
    'backtest @ --set featureGates=NodeOverlay=yes',
    '--set featureGates NodeOverlay must be true or false, as in NodeOverlay=true',
  ),
  row(
    'a file as the folder of savings',
    GOOD,
    'savings --dir @/good/world.yaml',
    '@/good/world.yaml: is a file, not a folder; expected a folder of simulate --record',
  ),
  row(
    'a file as the folder of a recorded run',
    GOOD,
    'simulate @/good --record @/good/world.yaml',
    '@/good/world.yaml: is a file, not a folder; expected a folder to record in',
  ),
  row(
    'a file as the folder of a back-test',
    GOOD,
    'backtest @/good/world.yaml',
    '@/good/world.yaml: is a file, not a folder; expected a folder of simulate --record',
  ),
  row(
    'a folder as a recording',
    GOOD,
    'replay @/good',
    '@/good: is a folder; expected a recording: recordings are in the bucket below snapshots/',
  ),
];
