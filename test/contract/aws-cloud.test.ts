import { afterEach } from 'vitest';
import { loadCatalog } from '../../shared/catalog/catalog.ts';
import { catalogPort } from '../../shared/catalog/port.ts';
import { SimulatedCompute } from '../../shared/sim/cloud/compute.ts';
import { SimulatedNetwork, SimulatedProfiles } from '../../shared/sim/cloud/network.ts';
import { Timeline } from '../../shared/sim/timeline.ts';
import { adapterOn } from '../support/aws/adapter.ts';
import { WireCloud } from '../support/aws/cloud.ts';
import { poolKey } from '../support/aws/model/account.ts';
import { cloudSuite } from './aws-cloud-suite.ts';

/** The suite's class has no subnets resolved; the simulated catalog wants them by zone. */
async function simulatedCompute(timeline: Timeline): Promise<SimulatedCompute> {
  const catalog = await loadCatalog('us-east-1');
  const port = catalogPort('us-east-1', () => catalog);
  const zones = catalog.zones.map(({ zone, zoneId }) => ({ id: `subnet-${zone}`, zone, zoneId }));
  const everywhere = {
    region: port.region,
    source: port.source,
    instanceTypes: (nodeClass: Parameters<typeof port.instanceTypes>[0]) =>
      port.instanceTypes({ ...nodeClass, status: { ...nodeClass.status, subnets: zones } }),
  };
  return new SimulatedCompute(timeline, everywhere, 1, { launch: () => {}, gone: () => {} });
}

cloudSuite('the simulated cloud', async () => {
  const timeline = new Timeline(0);
  const compute = await simulatedCompute(timeline);
  const { zones } = await loadCatalog('us-east-1');
  return {
    compute,
    network: new SimulatedNetwork('demo', zones, () => 0),
    profiles: new SimulatedProfiles('demo'),
    exhaust: (instanceType, zone, capacityType) =>
      compute.addShortage({ instanceType, zone, capacityType }),
    takeBack: (id) => compute.takeBack(id),
    settle: async () => {
      while (timeline.nextMs() !== undefined) await timeline.advance();
    },
  };
});

let open: WireCloud | undefined;
afterEach(async () => {
  await open?.stop();
  open = undefined;
});

cloudSuite('AWS over the wire', async () => {
  const cloud = new WireCloud();
  open = cloud;
  await cloud.start();
  const { account } = cloud;
  for (const letter of ['a', 'b', 'c']) {
    for (const market of ['spot', 'on-demand']) {
      account.prices.set(poolKey('c7g.large', `us-east-1${letter}`, market), 0.07);
      account.prices.set(poolKey('c7g.4xlarge', `us-east-1${letter}`, market), 0.58);
    }
  }
  const { compute, network, profiles } = adapterOn(cloud);
  return {
    compute,
    network,
    profiles,
    exhaust: (instanceType, zone, capacityType) =>
      account.capacity.set(poolKey(instanceType, zone, capacityType), 0),
    takeBack: (id) => account.takeBack(id),
    settle: async () => {
      for (const instance of account.instances.values()) {
        if (instance.state === 'shutting-down') instance.state = 'terminated';
      }
    },
  };
});
