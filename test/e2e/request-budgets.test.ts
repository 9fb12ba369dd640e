import { setTimeout as sleep } from 'node:timers/promises';
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
/** Of one run, the Lease's included. */
const IDLE_API_MAX = 24;
const ONE_RUN_MS = 20_300;

describe.skipIf(assets.kind === 'absent')('requests a minute on a real control plane', () => {
  let counted: CountedWorld;
  beforeAll(async () => {
    counted = await countedWorld();
  });
  afterAll(() => counted.stop());

  it.each(['provision', 'lifecycle', 'disrupt'] as const)(
    'are those of one run while nothing happens: %s',
    async (name) => {
      await counted.run(name, {}, ONE_RUN_MS);
      counted.take();
      await counted.run(name, {}, ONE_RUN_MS);
      const { aws, api, detail } = counted.take();
      expect(aws, JSON.stringify(detail)).toBeLessThanOrEqual(AWS_MAX);
      expect(api, JSON.stringify(detail)).toBeLessThanOrEqual(IDLE_API_MAX);
    },
    60_000,
  );

  it('are renewals of the Lease while watch hears nothing', async () => {
    const watching = counted.run('watch', {}, 45_000);
    await sleep(8_000);
    counted.take();
    await sleep(15_000);
    const { aws, api, detail } = counted.take();
    await watching;
    expect(aws * 4, JSON.stringify(detail)).toBe(0);
    expect(api * 4, JSON.stringify(detail)).toBeLessThanOrEqual(16);
  });

  it('are none for messages about instances of others, once the claims were read', async () => {
    await foreignStorm(counted, 10, 60_000);
    counted.take();
    await foreignStorm(counted, 50_000, 60_000);
    expect(counted.take()).toEqual({ aws: 0, api: 0, detail: {} });
  });

  it('are few while 10 nodes do not join', async () => {
    await launchInVain(counted, 100, 110);
    const { aws, api, detail } = await steadyMinute(counted);
    expect(aws, JSON.stringify(detail)).toBeLessThanOrEqual(AWS_MAX);
    expect(api, JSON.stringify(detail)).toBeLessThanOrEqual(API_MAX);
  });

  it('are few while 50 drains are blocked besides', async () => {
    await blockDrains(counted, 0, 50);
    const { aws, api, detail } = await steadyMinute(counted);
    expect(aws, JSON.stringify(detail)).toBeLessThanOrEqual(AWS_MAX);
    expect(api, JSON.stringify(detail)).toBeLessThanOrEqual(API_MAX);
  });
});
