import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  blockDrains,
  type CountedWorld,
  countedWorld,
  foreignStorm,
  launchInVain,
  steadyMinute,
} from '../../bench/request-states.ts';
import { findAssets } from '../support/control-plane/assets.ts';

const assets = await findAssets();

/** Of `lifecycle`, in steady state, whatever the number of nodes. */
const AWS_MAX = 4;
const API_MAX = 60;

describe.skipIf(assets.kind === 'absent')('requests a minute on a real control plane', () => {
  let counted: CountedWorld;
  beforeAll(async () => {
    counted = await countedWorld();
  });
  afterAll(() => counted.stop());

  it('are none for messages about instances of others, once the claims were read', async () => {
    await foreignStorm(counted, 10, 60_000);
    counted.take();
    await foreignStorm(counted, 50_000, 60_000);
    expect(counted.take()).toEqual({ aws: 0, api: 0, detail: {} });
  }, 120_000);

  it('are few while 10 nodes do not join', async () => {
    await launchInVain(counted, 100, 110);
    const { aws, api, detail } = await steadyMinute(counted);
    expect(aws, JSON.stringify(detail)).toBeLessThanOrEqual(AWS_MAX);
    expect(api, JSON.stringify(detail)).toBeLessThanOrEqual(API_MAX);
  }, 180_000);

  it('are few while 50 drains are blocked besides', async () => {
    await blockDrains(counted, 0, 50);
    const { aws, api, detail } = await steadyMinute(counted);
    expect(aws, JSON.stringify(detail)).toBeLessThanOrEqual(AWS_MAX);
    expect(api, JSON.stringify(detail)).toBeLessThanOrEqual(API_MAX);
  }, 180_000);
});
