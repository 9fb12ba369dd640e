import { Duration } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { type Config, readConfig } from '../../functions/runtime/config.ts';
import type { JoinerProps } from '../../infra/constructs/joiner-props.ts';
import { settingOf } from '../../shared/contract/settings.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../shared/core/model/snapshot.ts';
import { resources, synthesise } from './synthesis.ts';

const ENV = { account: '111122223333', region: 'eu-west-1' };

/** The variables of all functions as the functions read them when they start. */
function configs(props: Omit<JoinerProps, 'cluster'>): readonly Config[] {
  const stack = synthesise({ cluster: 'demo', ...props }, { env: ENV });
  return [...resources(stack, 'AWS::Lambda::Function').values()].flatMap((properties) => {
    const { Variables: given } = Object(properties['Environment']);
    if (given === undefined) return [];
    const texts = Object.entries<unknown>(given).map(
      ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
    );
    return [readConfig({ AWS_REGION: ENV.region, ...Object.fromEntries(texts) })];
  });
}

type Row = readonly [Omit<JoinerProps, 'cluster'>, (config: Config) => unknown, unknown];

/** The ends of what the check of the props takes. */
const ROWS: readonly Row[] = [
  [{}, (config) => config.cluster, 'demo'],
  [{ batchIdleDuration: Duration.millis(0) }, (config) => config.batchIdleMs, 0],
  [{ batchMaxDuration: Duration.minutes(1) }, (config) => config.batchMaxMs, 60_000],
  [{ vmMemoryOverhead: 0 }, (config) => config.memoryOverhead, 0],
  [{ vmMemoryOverhead: 1e-9 }, (config) => config.memoryOverhead, 1e-9],
  [{ vmMemoryOverhead: 0.9 }, (config) => config.memoryOverhead, 0.9],
  [{ preferenceWorthZone: 1e-7 }, (config) => worth(config).zone, 1e-7],
  [{ preferenceWorthZone: 10 }, (config) => worth(config).zone, 10],
  [{ preferenceWorthOther: 2.5e-7 }, (config) => worth(config).other, 2.5e-7],
  [{ preferenceWorthOther: -0 }, (config) => worth(config).other, 0],
  [{ nodePrice: 0 }, (config) => config.settings.scheduling.nodePrice, 0],
  [{ effort: 'thorough' }, (config) => config.settings.scheduling.effort, 'thorough'],
  [{}, (config) => config.settings.scheduling.nodePrice, DEFAULT_SCHEDULING_SETTINGS.nodePrice],
  [{ consolidationHorizon: Duration.days(30) }, (config) => moves(config).horizonMs, 2_592_000_000],
  [{ consolidationHorizon: Duration.millis(0) }, (config) => moves(config).horizonMs, 0],
  [{ evictionPrice: 0.01 }, (config) => moves(config).evictionPrice, 0.01],
  [{ featureGates: { SpotToSpotConsolidation: true } }, (config) => moves(config).spotToSpot, true],
  [{ limitGroups: 'all nodes=7' }, (config) => config.settings.limitGroups[0]?.caps['nodes'], 7],
  [{ reservedEnis: 100 }, (config) => config.reservedEnis, 100],
  [{ maxLaunchesPerMinute: 10_000 }, (config) => config.settings.launchesPerMinuteMax, 10_000],
  [{ maxTerminationsPerMinute: 1 }, (config) => config.settings.terminationsPerMinuteMax, 1],
  [{ isolatedVpc: true }, (config) => config.isolatedVpc, true],
  [{ featureGates: { NodeRepair: true } }, (config) => config.gates.NodeRepair, true],
  [{ featureGates: {} }, (config) => config.gates.NodeOverlay, true],
  [
    { preferencePolicy: 'Ignore' },
    (config) => config.settings.scheduling.preferencePolicy,
    'Ignore',
  ],
  [
    { minValuesPolicy: 'BestEffort' },
    (config) => config.settings.scheduling.minValuesPolicy,
    'BestEffort',
  ],
  [{ bucket: 'shared-memory' }, (config) => config.bucket, 'shared-memory'],
];

function moves(config: Config): Config['settings']['consolidation'] {
  return config.settings.consolidation;
}

function worth(config: Config): Config['settings']['scheduling']['preferenceWorth'] {
  return config.settings.scheduling.preferenceWorth;
}

describe('what synthesis accepts, the functions can start with', () => {
  it.each(ROWS)('%j', (props, read, expected) => {
    const found = configs(props).map(read);
    expect(found.length).toBeGreaterThan(5);
    expect(new Set(found)).toEqual(new Set([expected]));
  });
});

it.each([
  ['of the stack', { env: { ...ENV, region: 'cn-north-1' } }],
  ['of the prop where the stack has none', {}],
])('prices are in yuan in a region of China, by that %s', (_, given) => {
  const stack = synthesise({ cluster: 'demo', region: 'cn-north-1' }, given);
  for (const properties of resources(stack, 'AWS::Lambda::Function').values()) {
    const { Variables } = Object(properties['Environment']);
    expect(Number(Variables[settingOf('nodePrice').variable])).toBeCloseTo(0.021, 6);
    expect(Number(Variables[settingOf('evictionPrice').variable])).toBeCloseTo(0.14, 6);
  }
});
