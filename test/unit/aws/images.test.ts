import type { Image as Ec2Image } from '@aws-sdk/client-ec2';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ec2Client, ssmClient } from '../../../shared/aws/access.ts';
import { Ec2Images } from '../../../shared/aws/images.ts';
import type { NodeClass, SelectorTerm } from '../../../shared/core/model/node-class.ts';
import { accessTo, callsOn } from '../../support/aws/adapter.ts';
import { WireCloud } from '../../support/aws/cloud.ts';
import { WireFault } from '../../support/aws/wire/response.ts';

const MINUTE_MS = 60_000;
const FOLDER = '/aws/service/eks/optimized-ami/1.33/amazon-linux-2023';
const STANDARD = `${FOLDER}/x86_64/standard/recommended/image_id`;
const ARM = `${FOLDER}/arm64/standard/recommended/image_id`;
const NVIDIA = `${FOLDER}/x86_64/nvidia/recommended/image_id`;

let cloud: WireCloud;
let images: Ec2Images;
let version: string;

beforeEach(async () => {
  cloud = new WireCloud();
  await cloud.start();
  version = '1.33';
  images = new Ec2Images({
    ec2: ec2Client(accessTo(cloud)),
    ssm: ssmClient(accessTo(cloud)),
    calls: callsOn(cloud),
    cluster: async () => ({ kubernetesVersion: version }),
  });
});

afterEach(async () => {
  await cloud.stop();
});

function classOf(...amiSelectorTerms: readonly SelectorTerm[]): NodeClass {
  return {
    name: 'default',
    uid: 'class-uid',
    generation: 1,
    annotations: {},
    finalizers: [],
    isDeleting: false,
    subnetSelectorTerms: [],
    securityGroupSelectorTerms: [],
    capacityReservationSelectorTerms: [],
    amiSelectorTerms,
    imageFamily: 'AL2023',
    role: 'node',
    instanceProfile: undefined,
    tags: {},
    spec: {},
    status: {
      subnets: [],
      securityGroups: [],
      images: [],
      capacityReservations: [],
      instanceProfile: undefined,
      conditions: [],
    },
  };
}

/** An own x86 image of January; ids are `ami-` and the number eight digits long. */
function anImage(id: number, changes: Partial<Ec2Image> = {}): Ec2Image {
  return {
    ImageId: `ami-${String(id).padStart(8, '0')}`,
    Name: `image-${id}`,
    Architecture: 'x86_64',
    State: 'available',
    OwnerId: cloud.account.id,
    CreationDate: '2025-01-01T00:00:00.000Z',
    ...changes,
  };
}

function publish(parameter: string, image: Ec2Image): void {
  cloud.account.images.push(image);
  cloud.account.parameters.set(parameter, image.ImageId ?? '');
}

async function idsOf(...terms: readonly SelectorTerm[]): Promise<readonly number[]> {
  const found = await images.resolve(classOf(...terms));
  return found.map(({ id }) => Number(id.slice('ami-'.length)));
}

function readsOf(parameter: string): number {
  const inputs = cloud.server.inputsOf('GetParameter');
  return inputs.filter((input) => JSON.stringify(input).includes(`"${parameter}"`)).length;
}

const amazon = { OwnerId: '602401143452', ImageOwnerAlias: 'amazon' };

describe('an alias', () => {
  const latest = { alias: 'al2023@latest' };

  it('finds the published image of each variant, with the types that it is for', async () => {
    publish(STANDARD, anImage(1, amazon));
    publish(ARM, anImage(2, { ...amazon, Architecture: 'arm64' }));
    publish(NVIDIA, anImage(3, amazon));
    const arch = (value: string) => ({
      key: 'kubernetes.io/arch',
      operator: 'In',
      values: [value],
    });
    const gpu = (operator: string) => ({
      key: 'karpenter.k8s.aws/instance-gpu-count',
      operator,
      values: [],
    });
    const accelerator = {
      key: 'karpenter.k8s.aws/instance-accelerator-count',
      operator: 'DoesNotExist',
      values: [],
    };
    expect(await images.resolve(classOf(latest))).toEqual([
      {
        id: 'ami-00000001',
        name: 'image-1',
        deprecated: false,
        requirements: [arch('amd64'), gpu('DoesNotExist'), accelerator],
      },
      {
        id: 'ami-00000002',
        name: 'image-2',
        deprecated: false,
        requirements: [arch('arm64'), gpu('DoesNotExist'), accelerator],
      },
      {
        id: 'ami-00000003',
        name: 'image-3',
        deprecated: false,
        requirements: [arch('amd64'), gpu('Exists')],
      },
    ]);
  });

  it('follows the version of the cluster, and reads a parameter once a day', async () => {
    publish(STANDARD, anImage(1));
    publish(STANDARD.replace('1.33', '1.34'), anImage(2));
    expect(await idsOf(latest)).toEqual([1]);
    expect(readsOf(STANDARD)).toBe(1);
    cloud.account.nowMs += 23 * 60 * MINUTE_MS;
    expect(await idsOf(latest)).toEqual([1]);
    expect(readsOf(STANDARD)).toBe(1);
    cloud.account.nowMs += 61 * MINUTE_MS;
    expect(await idsOf(latest)).toEqual([1]);
    expect(readsOf(STANDARD)).toBe(2);
    version = '1.34';
    expect(await idsOf(latest)).toEqual([2]);
  });

  it('is read again once its image is deprecated, half an hour after it was read', async () => {
    const DeprecationTime = new Date(cloud.account.nowMs + 10 * MINUTE_MS).toISOString();
    publish(STANDARD, anImage(1, { DeprecationTime }));
    expect(await idsOf(latest)).toEqual([1]);
    cloud.account.images.push(anImage(2));
    cloud.account.parameters.set(STANDARD, 'ami-00000002');
    cloud.account.nowMs += 15 * MINUTE_MS;
    expect((await images.resolve(classOf(latest)))[0]).toMatchObject({
      id: 'ami-00000001',
      deprecated: true,
    });
    cloud.account.nowMs += 16 * MINUTE_MS;
    await idsOf(latest);
    expect(await idsOf(latest)).toEqual([2]);
  });

  it('of a version keeps what it is', async () => {
    const pinned = STANDARD.replace(
      'recommended',
      'amazon-eks-node-al2023-x86_64-standard-1.33-v20250101',
    );
    publish(pinned, anImage(1, { DeprecationTime: '2025-06-01T00:00:00.000Z' }));
    const term = { alias: 'al2023@v20250101' };
    expect(await idsOf(term)).toEqual([1]);
    cloud.account.nowMs += 60 * MINUTE_MS;
    expect(await idsOf(term)).toEqual([1]);
    expect(await idsOf(term)).toEqual([1]);
    expect(readsOf(pinned)).toBe(1);
  });

  it('is found within minutes of its publication in the region', async () => {
    publish(STANDARD, anImage(1));
    expect(await idsOf(latest)).toEqual([1]);
    publish(ARM, anImage(2, { Architecture: 'arm64' }));
    cloud.account.nowMs += MINUTE_MS - 1;
    expect(await idsOf(latest)).toEqual([1]);
    expect(readsOf(ARM)).toBe(1);
    cloud.account.nowMs += 1;
    expect(await idsOf(latest)).toEqual([1, 2]);
  });

  it('that EKS has no images for is refused', async () => {
    await expect(images.resolve(classOf({ alias: 'al2@latest' }))).rejects.toMatchObject({
      kind: 'invalid',
      code: 'UnsupportedImageAlias',
      message: 'spec.amiSelectorTerms: AL2 images end with Kubernetes 1.32, the cluster has 1.33',
    });
  });
});

describe('terms', () => {
  beforeEach(() => {
    cloud.account.images.push(
      anImage(1, { Tags: [{ Key: 'team', Value: 'blue' }] }),
      anImage(2, { CreationDate: '2025-03-01T00:00:00.000Z', Name: 'blue-2' }),
      anImage(3, { Architecture: 'arm64', Name: 'blue-3' }),
      anImage(4, {
        OwnerId: '999999999999',
        Name: 'blue-4',
        CreationDate: '2025-09-01T00:00:00.000Z',
      }),
      anImage(5, { Name: 'blue-5', CreationDate: '2025-08-01T00:00:00.000Z', State: 'pending' }),
      anImage(6, { Architecture: 'i386', Name: 'blue-6' }),
      anImage(7, { ...amazon, Name: 'green', Tags: [{ Key: 'team', Value: 'red' }] }),
    );
  });

  it.each<readonly [string, readonly SelectorTerm[], readonly number[]]>([
    ['an id', [{ id: 'ami-00000004' }], [4]],
    ['an unknown id', [{ id: 'ami-0000000f' }], []],
    ['ids of one architecture: the newest', [{ id: 'ami-00000001' }, { id: 'ami-00000002' }], [2]],
    ['a name: own and Amazon’s, usable ones', [{ name: 'blue-*' }], [2, 3]],
    ['a name of an owner', [{ name: 'blue-*', owner: '999999999999' }], [4]],
    ['tags', [{ tags: { team: 'blue' } }], [1]],
    ['a tag of any value: of equal age the first name', [{ tags: { team: '*' } }], [7]],
    ['tags and an owner', [{ tags: { team: '*' }, owner: 'amazon' }], [7]],
    ['either of two', [{ tags: { team: 'blue' } }, { id: 'ami-00000003' }], [3, 1]],
    ['nothing', [{ name: 'violet' }], []],
    ['no tags: none, as of subnets', [{ tags: {} }], []],
    ['an owner without tags', [{ tags: {}, owner: 'amazon' }], []],
  ])('%s', async (_, terms, expected) => {
    expect(await idsOf(...terms)).toEqual(expected);
  });

  it('page after page', async () => {
    cloud.account.pageSize = 2;
    expect(await idsOf({ name: 'blue-*' })).toEqual([2, 3]);
    expect(cloud.server.callsOf('DescribeImages').length).toBeGreaterThan(1);
  });

  it('prefer an old image to a deprecated one, and take that when there is no other', async () => {
    const DeprecationTime = '2025-06-01T00:00:00.000Z';
    const newest = { CreationDate: '2025-05-01T00:00:00.000Z', DeprecationTime };
    cloud.account.images.push(anImage(8, { ...newest, Name: 'blue-8' }));
    expect(await idsOf({ name: 'blue-*' })).toEqual([2, 3]);
    const [only] = await images.resolve(classOf({ name: 'blue-8' }));
    expect(only).toMatchObject({ id: 'ami-00000008', deprecated: true });
  });

  it('are asked again after a minute', async () => {
    const term = { tags: { team: 'blue' } };
    expect(await idsOf(term)).toEqual([1]);
    cloud.account.images.push(
      anImage(9, {
        CreationDate: '2025-10-01T00:00:00.000Z',
        Tags: [{ Key: 'team', Value: 'blue' }],
      }),
    );
    cloud.account.nowMs += MINUTE_MS - 1;
    expect(await idsOf(term)).toEqual([1]);
    cloud.account.nowMs += 1;
    expect(await idsOf(term)).toEqual([9]);
  });
});

describe('a parameter of the class', () => {
  const term = { ssmParameter: '/images/ours' };

  it('is read every five minutes', async () => {
    publish('/images/ours', anImage(1));
    expect(await idsOf(term)).toEqual([1]);
    publish('/images/ours', anImage(2));
    cloud.account.nowMs += 5 * MINUTE_MS - 1;
    expect(await idsOf(term)).toEqual([1]);
    cloud.account.nowMs += 1;
    expect(await idsOf(term)).toEqual([2]);
  });

  it('that is not there finds nothing', async () => {
    expect(await idsOf(term)).toEqual([]);
  });

  it('that holds no image is a fault', async () => {
    cloud.account.parameters.set('/images/ours', 'latest');
    await expect(images.resolve(classOf(term))).rejects.toMatchObject({
      kind: 'invalid',
      code: 'InvalidImageParameter',
      message: expect.stringMatching(/^spec\.amiSelectorTerms: .*\/images\/ours/),
    });
  });

  it('that may not be read is a fault, and is tried again the next time', async () => {
    publish('/images/ours', anImage(1));
    cloud.server.fail('ssm', 'GetParameter', new WireFault('AccessDeniedException', 'no', 400));
    await expect(images.resolve(classOf(term))).rejects.toMatchObject({ kind: 'unauthorised' });
    cloud.server.heal();
    expect(await idsOf(term)).toEqual([1]);
  });
});
