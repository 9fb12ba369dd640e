import { expect, it } from 'vitest';
import { adapterOn } from '../support/aws/adapter.ts';
import { WireCloud } from '../support/aws/cloud.ts';

it('instances, their checks and their requests are asked for in pages', async () => {
  const cloud = new WireCloud();
  await cloud.start();
  try {
    const { compute } = adapterOn(cloud);
    await compute.list();
    await compute.statuses();
    await compute.spotRequests(['i-0123456789abcdef0']);
    const sizes = cloud.server.calls.map(({ input }) => input['MaxResults']);
    expect(sizes).toEqual([1000, 1000, 1000, 1000, 1000]);
  } finally {
    await cloud.stop();
  }
});
