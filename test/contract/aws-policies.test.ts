import { afterEach, beforeEach, expect, it } from 'vitest';
import { catalogPolicy } from '../../infra/policies/catalog.ts';
import { interruptPolicy } from '../../infra/policies/interrupt.ts';
import { lifecyclePolicy } from '../../infra/policies/lifecycle.ts';
import { nodeclassPolicy } from '../../infra/policies/nodeclass.ts';
import { provisionPolicy } from '../../infra/policies/provision.ts';
import type { Policy } from '../../infra/policies/statement.ts';
import { ec2Client, pricingClient, ssmClient } from '../../shared/aws/access.ts';
import { CatalogReader } from '../../shared/aws/catalog-reader.ts';
import { eventBridgeClient, WakeBus } from '../../shared/aws/events.ts';
import { Ec2Images } from '../../shared/aws/images.ts';
import { ArcZonalShifts } from '../../shared/aws/zonal-shifts.ts';
import type { FunctionName } from '../../shared/contract.ts';
import { aFleet, aNodeClass } from '../builders/launches.ts';
import { aPolicyScope } from '../builders/policies.ts';
import { accessTo, adapterOn, callsOn } from '../support/aws/adapter.ts';
import { WireCloud } from '../support/aws/cloud.ts';

let cloud: WireCloud;
beforeEach(async () => {
  cloud = new WireCloud();
  await cloud.start();
});
afterEach(() => cloud.stop());

const SCOPE = aPolicyScope();

const DISCOVERY = [{ tags: { 'karpenter.sh/discovery': 'demo' } }];

async function launched(): Promise<string> {
  const { instances } = await adapterOn(cloud).compute.launch(aFleet());
  cloud.server.calls.length = 0;
  return instances[0]?.id ?? '';
}

async function wake(): Promise<void> {
  const eventBridge = eventBridgeClient(accessTo(cloud));
  const bus = new WakeBus({ eventBridge, calls: callsOn(cloud), bus: 'joiner-demo' });
  await bus.wake([{ cluster: 'demo', kind: 'node-joined' }]);
}

async function awayFrom(): Promise<void> {
  const resource = async () => 'arn:aws:eks:us-east-1:111122223333:cluster/demo';
  const parts = { access: accessTo(cloud), calls: callsOn(cloud), dnsSuffix: 'amazonaws.com' };
  await new ArcZonalShifts({ ...parts, resource }).awayFrom();
}

/** What each function does with the adapters, every method that its use case calls. */
const WORK: Readonly<Partial<Record<FunctionName, () => Promise<void>>>> = {
  provision: async () => {
    const { compute, network } = adapterOn(cloud);
    await network.subnets(DISCOVERY);
    await compute.list();
    await compute.launch(aFleet());
    await awayFrom();
  },
  lifecycle: async () => {
    const id = await launched();
    const { compute } = adapterOn(cloud);
    await compute.list();
    await compute.describe([id]);
    await compute.statuses();
    await compute.tag(id, { Name: 'node' });
    await compute.terminate([id]);
  },
  interrupt: async () => {
    const id = await launched();
    await adapterOn(cloud).compute.describe([id]);
    await wake();
  },
  nodeclass: async () => {
    await launched();
    const { compute, network, profiles, calls } = adapterOn(cloud);
    const access = accessTo(cloud);
    const cluster = async () => ({ kubernetesVersion: '1.33' });
    const images = new Ec2Images({
      ec2: ec2Client(access),
      ssm: ssmClient(access),
      calls,
      cluster,
    });
    cloud.account.parameters.set(
      '/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/arm64/standard/recommended/image_id',
      'ami-0000000000000000a',
    );
    await images.resolve(aNodeClass());
    await network.subnets(DISCOVERY);
    await network.securityGroups(DISCOVERY);
    await network.reservations(DISCOVERY);
    await profiles.ensure(aNodeClass());
    await profiles.ensure({ ...aNodeClass(), role: 'other' });
    await profiles.remove(aNodeClass());
    await compute.removeLaunchTemplates('default', 'none');
  },
  catalog: async () => {
    const access = accessTo(cloud);
    const parts = { ec2: ec2Client(access), pricing: pricingClient(access), calls: callsOn(cloud) };
    const region = 'us-east-1';
    cloud.onDemandPrices.push({ instanceType: 'c7g.large', price: 0.0725 });
    await new CatalogReader({ ...parts, region, embedded: undefined, known: new Map() }).read();
  },
};

const POLICIES: readonly (readonly [FunctionName, Policy])[] = [
  ['provision', provisionPolicy],
  ['lifecycle', lifecyclePolicy],
  ['interrupt', interruptPolicy],
  ['nodeclass', nodeclassPolicy],
  ['catalog', catalogPolicy],
];

it.each(POLICIES)('every call of %s is in its policy', async (name, policy) => {
  await WORK[name]?.();
  const made = new Set(cloud.server.calls.map((each) => `${each.service}:${each.operation}`));
  expect(made.size).toBeGreaterThan(1);
  const allowed = new Set(policy(SCOPE).flatMap(({ actions }) => actions));
  expect([...made].filter((action) => !allowed.has(action))).toEqual([]);
});
