import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../functions/runtime/config.ts';

const ENVIRONMENT = {
  CLUSTER_NAME: 'demo',
  AWS_REGION: 'eu-west-1',
  JOINER_ACCOUNT: '123456789012',
  JOINER_FUNCTION: 'provision',
  JOINER_VERSION: '0.1.0',
  JOINER_BUCKET: 'joiner-demo',
  JOINER_EVENT_BUS: 'joiner-demo',
};

describe('the environment of a function', () => {
  it('has defaults for what the stack need not set', () => {
    const config = readConfig(ENVIRONMENT);
    expect(config).toMatchObject({
      cluster: 'demo',
      dnsSuffix: 'amazonaws.com',
      batchIdleMs: 300,
      batchMaxMs: 3000,
      isolatedVpc: false,
      gates: { NodeOverlay: true, NodeRepair: false },
    });
    expect(config.settings).toMatchObject({
      launchesPerMinuteMax: 200,
      envelope: { accountId: '123456789012', region: 'eu-west-1' },
      scheduling: { preferencePolicy: 'Respect', preferenceWorth: { zone: 0.1, other: 0.02 } },
    });
  });

  it.each([
    ['FEATURE_GATES', 'NodeOverlay=false,Unknown=true', { gates: { NodeOverlay: false } }],
    ['BATCH_MAX_DURATION', '30s500ms', { batchMaxMs: 30_500 }],
    ['JOINER_PREFERENCE_WORTH_ZONE', '0.25', {}],
    ['ISOLATED_VPC', 'true', { isolatedVpc: true }],
  ])('%s=%s', (name, value, expected) => {
    expect(readConfig({ ...ENVIRONMENT, [name]: value })).toMatchObject(expected);
  });

  it.each([
    ['CLUSTER_NAME', undefined],
    ['JOINER_ACCOUNT', '12'],
    ['JOINER_FUNCTION', 'unknown'],
    ['FEATURE_GATES', 'NodeOverlay=maybe'],
    ['BATCH_IDLE_DURATION', 'soon'],
    ['BATCH_MAX_DURATION', '1m30s'],
    ['PREFERENCE_POLICY', 'respect'],
    ['JOINER_MAX_LAUNCHES_PER_MINUTE', '-1'],
  ])('%s=%s is refused by name', (name, value) => {
    expect(() => readConfig({ ...ENVIRONMENT, [name]: value })).toThrow(name);
  });
});
